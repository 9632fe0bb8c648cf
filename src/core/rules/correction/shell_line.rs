//! A line of a shell, as calls: a pipe is two of them with a file between, a redirection a
//! parameter.

use serde_json::Value;

use super::CorrectedLine;
use crate::plan::CommandContext;
use crate::text;
use fileshed_types::ZoneName;
use fileshed_types::{Hint, Repeat};

/// Commands that read the file that comes last, as they read a pipe without one.
const READERS: &str = "grep egrep fgrep rg head tail sort uniq wc cut sed awk jq nl tac rev cat fold md5sum sha256sum";

/// One command of the line.
#[derive(Default)]
struct ShellStep {
    words: Vec<String>,
    output: Option<String>,
    is_merged: bool,
    /// `true` if the next command reads its output.
    pipes: bool,
}

/// Returns the calls for a line that holds shell syntax. `None` if it has none, or cannot be said in
/// calls.
pub(super) fn hint(
    words: &[String],
    given: &CorrectedLine,
    context: &CommandContext<'_>,
) -> Option<Hint> {
    words.iter().find(|word| text::operator(word).is_some())?;
    let steps = entered(steps(words)?)?;
    let keeps = steps.iter().any(|step| step.output.is_some() || step.pipes);
    let is_plain = context.file_being_edited.is_none() && !context.stdout_file;
    if (keeps || steps.len() > 1) && !is_plain || (keeps && context.zone == ZoneName::Uploads) {
        return None;
    }
    let (mut hint, mut file) = (None, None);
    for (number, mut step) in (1..).zip(steps) {
        if let Some(file) = file.take() {
            let command = step.words.first()?;
            READERS.split(' ').find(|reader| reader == command)?;
            step.words.push(file);
        }
        if step.pipes {
            file = Some(format!("step-{number}.tmp"));
            step.output.clone_from(&file);
        }
        let mut words = step.words.into_iter();
        let line = CorrectedLine {
            command: words.next()?,
            args: words.collect(),
            zone: given.zone,
        };
        line.checked(context).ok()?;
        let output = step.output.map(|file| ("stdout_file", Value::from(file)));
        let merged = step
            .is_merged
            .then(|| ("redirect_stderr_to_stdout", true.into()));
        let parameters = output.into_iter().chain(merged);
        hint = Some(match hint {
            None => {
                let is_other = line.command != given.command;
                let command = is_other.then(|| ("cmd", line.command.into()));
                let parameters = command
                    .into_iter()
                    .chain([("args", line.args.into())])
                    .chain(parameters);
                let repeat = parameters.fold(Repeat::default(), |repeat, (name, value)| {
                    repeat.and(name, value)
                });
                Hint::new("no shell runs here: ").again(repeat)
            }
            Some(hint) => {
                let call = text::call(context, &line.command, &line.args);
                let call = parameters.fold(call, |call, (name, value)| call.with(name, value));
                Hint::or(hint, "then ").call(call)
            }
        });
    }
    hint
}

/// The steps without a `cd` in front: the one command after it gets the directory in its path.
fn entered(mut steps: Vec<ShellStep>) -> Option<Vec<ShellStep>> {
    let is_first = |step: &ShellStep| step.words.first().is_some_and(|word| word == "cd");
    if !steps.first().is_some_and(is_first) {
        return Some(steps);
    }
    let cd = steps.remove(0);
    let ([_, directory], [step]) = (cd.words.as_slice(), steps.as_mut_slice()) else {
        return None;
    };
    if cd.pipes || step.output.is_some() || directory.starts_with(['-', '~', '/']) {
        return None;
    }
    let directory = directory.trim_end_matches('/');
    let command = step.words.first()?.as_str();
    let is_option = |word: &String| word.starts_with('-');
    if ["ls", "tree", "du"].contains(&command) && step.words.iter().skip(1).all(is_option) {
        step.words.push(directory.to_owned());
    } else if ["cat", "wc", "file", "stat"].contains(&command) {
        let named = step.words.iter_mut().skip(1);
        for word in named.filter(|word| !is_option(word)) {
            *word = format!("{directory}/{word}");
        }
    } else {
        return None;
    }
    Some(steps)
}

/// Returns the commands of the words, with where their output goes.
fn steps(words: &[String]) -> Option<Vec<ShellStep>> {
    let (mut steps, mut step) = (Vec::new(), ShellStep::default());
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let next = words.as_slice().first().map(String::as_str);
        match word.as_str() {
            "|" | "|&" | "&&" | ";" => {
                step.is_merged |= word == "|&";
                step.pipes = word.starts_with('|');
                steps.push(std::mem::take(&mut step));
            }
            ">" | "1>" | ">|" => step.output = Some(words.next()?.clone()),
            "2>&1" => step.is_merged = true,
            "2>/dev/null" => {}
            "2>" if next == Some("/dev/null") => drop(words.next()),
            "<" => step.words.push(words.next()?.clone()),
            "&" if next.is_none() => {}
            word if text::operator(word).is_some() => {
                let target = word.strip_prefix('>').filter(|name| !name.starts_with('>'));
                step.output = Some(target?.to_owned());
            }
            word => step.words.push(word.to_owned()),
        }
    }
    if step.words.is_empty() {
        steps.last_mut()?.pipes = false;
    } else {
        steps.push(step);
    }
    let is_whole = |step: &ShellStep| !step.words.is_empty();
    steps.iter().all(is_whole).then_some(steps)
}
