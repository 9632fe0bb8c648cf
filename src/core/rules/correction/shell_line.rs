//! A line of a shell, as calls: a pipe is two of them with a file between, a redirection a
//! parameter.

use serde_json::Value;

use super::CorrectedLine;
use crate::plan::CommandContext;
use crate::text;
use fileshed_types::ZoneName;
use fileshed_types::{Call, Hint, Repeat};

/// Commands that read the file that comes last, as they read a pipe without one.
const READERS: &str = "grep egrep fgrep rg head tail sort uniq wc cut sed awk jq nl tac rev cat fold md5sum sha256sum";

/// What follows a command.
#[derive(Clone, Copy, PartialEq)]
enum Connector {
    End,
    Pipe,
    Next,
}

/// One command of the line.
struct Step {
    words: Vec<String>,
    output: Option<String>,
    merged: bool,
    then: Connector,
}

/// The calls for a line that holds shell syntax; nothing where there is none, or where it cannot
/// be said in calls.
pub(super) fn hint(
    words: &[String],
    given: &CorrectedLine,
    context: &CommandContext<'_>,
) -> Option<Hint> {
    words.iter().find(|word| text::operator(word).is_some())?;
    let mut steps = entered(steps(words)?)?;
    let keeps = steps.iter().any(|step| step.output.is_some())
        || steps.iter().any(|step| step.then == Connector::Pipe);
    let is_plain = context.file_being_edited.is_none() && !context.stdout_file;
    if (keeps || steps.len() > 1) && !is_plain || (keeps && context.zone == ZoneName::Uploads) {
        return None;
    }
    let mut file = None;
    for (index, step) in steps.iter_mut().enumerate() {
        if let Some(file) = file.take() {
            let command = step.words.first()?;
            if !READERS.split(' ').any(|reader| reader == command) {
                return None;
            }
            step.words.push(file);
        }
        if step.then == Connector::Pipe {
            let name = format!("step-{}.tmp", index + 1);
            file = Some(name.clone());
            step.output = Some(name);
        }
    }
    let mut steps = steps.into_iter();
    let first = steps.next()?;
    let mut hint = Hint::new("no shell runs here: ").again(repeat(first, given, context)?);
    for step in steps {
        hint = hint.or("then ").call(call(step, given, context)?);
    }
    Some(hint)
}

/// The steps without a `cd` in front: the one command after it gets the directory in its path.
fn entered(mut steps: Vec<Step>) -> Option<Vec<Step>> {
    let is_first = |step: &Step| step.words.first().is_some_and(|word| word == "cd");
    if !steps.first().is_some_and(is_first) {
        return Some(steps);
    }
    let cd = steps.remove(0);
    let ([_, directory], [step]) = (cd.words.as_slice(), steps.as_mut_slice()) else {
        return None;
    };
    if cd.then != Connector::Next || step.output.is_some() || directory.starts_with(['-', '~', '/'])
    {
        return None;
    }
    let directory = directory.trim_end_matches('/');
    let command = step.words.first()?.as_str();
    let is_option = |word: &String| word.starts_with('-');
    if ["ls", "tree", "du"].contains(&command) && step.words.iter().skip(1).all(is_option) {
        step.words.push(directory.to_owned());
    } else if ["cat", "wc", "file", "stat"].contains(&command) {
        for word in step
            .words
            .iter_mut()
            .skip(1)
            .filter(|word| !is_option(word))
        {
            *word = format!("{directory}/{word}");
        }
    } else {
        return None;
    }
    Some(steps)
}

/// The commands of the words, with where their output goes.
fn steps(words: &[String]) -> Option<Vec<Step>> {
    let empty = || Step {
        words: Vec::new(),
        output: None,
        merged: false,
        then: Connector::End,
    };
    let mut steps = Vec::new();
    let mut step = empty();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            "|" | "|&" | "&&" | ";" => {
                step.merged |= word == "|&";
                step.then = if word.starts_with('|') {
                    Connector::Pipe
                } else {
                    Connector::Next
                };
                steps.push(std::mem::replace(&mut step, empty()));
            }
            ">" | "1>" | ">|" => step.output = Some(words.next()?.clone()),
            "2>&1" => step.merged = true,
            "2>/dev/null" => {}
            "2>" if words.clone().next().is_some_and(|file| file == "/dev/null") => {
                words.next();
            }
            "<" => step.words.push(words.next()?.clone()),
            "&" if words.clone().next().is_none() => {}
            word if text::operator(word).is_some() => {
                let target = word.strip_prefix('>').filter(|name| !name.starts_with('>'));
                step.output = Some(target?.to_owned());
            }
            word => step.words.push(word.to_owned()),
        }
    }
    steps.push(step);
    let last = steps.last_mut()?;
    if last.words.is_empty() {
        steps.pop();
        steps.last_mut()?.then = Connector::End;
    }
    let is_whole = |step: &Step| !step.words.is_empty();
    steps.iter().all(is_whole).then_some(steps)
}

/// A step as a line that passes.
fn passing(
    step: &Step,
    given: &CorrectedLine,
    context: &CommandContext<'_>,
) -> Option<CorrectedLine> {
    let (command, args) = step.words.split_first()?;
    let line = CorrectedLine {
        command: command.clone(),
        args: args.to_vec(),
        zone: given.zone,
    };
    line.checked(context).is_ok().then_some(line)
}

fn repeat(step: Step, given: &CorrectedLine, context: &CommandContext<'_>) -> Option<Repeat> {
    let line = passing(&step, given, context)?;
    let mut repeat = Repeat::default();
    if line.command != given.command {
        repeat = repeat.and("cmd", line.command.as_str());
    }
    repeat = repeat.and("args", Value::from(line.args));
    if let Some(output) = step.output {
        repeat = repeat.and("stdout_file", output);
    }
    if step.merged {
        repeat = repeat.and("redirect_stderr_to_stdout", true);
    }
    Some(repeat)
}

fn call(step: Step, given: &CorrectedLine, context: &CommandContext<'_>) -> Option<Call> {
    let line = passing(&step, given, context)?;
    let mut call = text::call(context, &line.command, &line.args);
    if let Some(output) = step.output {
        call = call.with("stdout_file", output);
    }
    if step.merged {
        call = call.with("redirect_stderr_to_stdout", true);
    }
    Some(call)
}
