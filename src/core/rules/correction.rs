//! What a refused command line was meant to be: the same one, put right.
//!
//! Every command line that a hint shows has passed the same check, and none widens what is
//! changed: an option falls away only where the rest reads, and the zone itself takes the place of
//! a path only there, too.

mod shell_line;

use serde_json::Value;

use super::check::check;
use super::error::CommandError;
use super::plan::{CommandContext, CommandPlan};
use super::table::commands;
use super::{hints, path, text};
use fileshed_types::zone::ZoneName;
use fileshed_types::{Hint, Repeat};

/// Commands that start the one in their arguments.
const WRAPPERS: &[&str] = &[
    "sudo", "doas", "env", "nohup", "exec", "command", "busybox", "time", "eval", "nice",
];

/// Shells, which take a command line after `-c`.
const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "fish", "ksh"];

/// How often one command line is put right before it is given up.
const ATTEMPTS: usize = 8;

/// A command line under correction.
#[derive(Clone, PartialEq)]
struct CorrectedLine {
    command: String,
    args: Vec<String>,
    zone: ZoneName,
}

/// The hint for a command line that was refused, where it can be put right.
pub(super) fn hint(
    error: &CommandError,
    command: &str,
    args: &[String],
    context: &CommandContext<'_>,
) -> Option<Hint> {
    let given = CorrectedLine {
        command: command.to_owned(),
        args: args.to_vec(),
        zone: context.zone,
    };
    if let Some(words) = words(command, args)
        && let Some(hint) = shell_line::hint(&words, &given, context)
    {
        return Some(hint);
    }
    let mut line = named(&given).unwrap_or_else(|| given.clone());
    if line == given && !is_correctable(error) {
        return None;
    }
    for _ in 0..ATTEMPTS {
        match line.checked(context) {
            Ok(_) => return (line != given).then(|| line.repeated(&given)),
            Err(error) => line = corrected(&error, &line, context)?,
        }
    }
    None
}

/// Whether the arguments, and not the caller or the server, are at fault.
fn is_correctable(error: &CommandError) -> bool {
    matches!(
        error,
        CommandError::Argument(_)
            | CommandError::Required(_)
            | CommandError::Escape(_)
            | CommandError::StartsWithZone(_)
    )
}

/// All words of a command line, where more than a name stands in `cmd` or shell syntax is in it.
fn words(command: &str, args: &[String]) -> Option<Vec<String>> {
    let mut words = match command {
        "bash" | "sh" | "zsh" | "dash" | "fish" | "ksh" => match args {
            [option, script] if option.ends_with('c') => shlex::split(script)?,
            _ => return None,
        },
        _ => shlex::split(command)?,
    };
    if !SHELLS.contains(&command) {
        words.extend(args.iter().cloned());
    }
    Some(words)
}

/// The line with the command that was meant.
fn named(given: &CorrectedLine) -> Option<CorrectedLine> {
    let words = words(&given.command, &given.args)?;
    let wrapped = |word: &&String| WRAPPERS.contains(&word.as_str());
    let mut words = words.iter().skip_while(wrapped);
    let written = words.next()?;
    let name = written.rsplit('/').next()?;
    let lower = name.to_ascii_lowercase();
    let mut before = hints::other_name(&lower).filter(|_| !is_known(&lower));
    let command = before.as_mut().and_then(Iterator::next).unwrap_or(&lower);
    if !is_known(command) {
        return None;
    }
    let before = before.into_iter().flatten().map(str::to_owned);
    Some(CorrectedLine {
        command: command.to_owned(),
        args: before.chain(words.cloned()).collect(),
        zone: given.zone,
    })
}

fn is_known(name: &str) -> bool {
    commands().iter().any(|rule| rule.name == name)
}

/// The line with one fault less.
fn corrected(
    error: &CommandError,
    line: &CorrectedLine,
    context: &CommandContext<'_>,
) -> Option<CorrectedLine> {
    let refusal = error.refusal();
    match error {
        CommandError::Required(_) => completed(line, context),
        CommandError::Escape(_) | CommandError::StartsWithZone(_) | CommandError::Argument(_) => {
            let word = refusal.argument.as_deref()?;
            let at = line.args.iter().position(|other| other == word)?;
            relative(line, at, context).or_else(|| without(line, at, context))
        }
        _ => None,
    }
}

/// The line with a path that is relative to its zone.
fn relative(
    line: &CorrectedLine,
    at: usize,
    context: &CommandContext<'_>,
) -> Option<CorrectedLine> {
    let word = line.args.get(at)?;
    if text::scheme(word).is_some() {
        return secure(line, at);
    }
    let from_root = word.strip_prefix('~').unwrap_or(word);
    let normal = path::normalise(from_root.trim_start_matches('/')).ok()?;
    let zones = [
        ZoneName::Storage,
        ZoneName::Documents,
        ZoneName::Uploads,
        line.zone,
    ];
    let named = zones
        .into_iter()
        .find_map(|zone| Some((zone, path::without_zone(&normal, zone.as_str())?.to_owned())));
    let is_absolute = word.starts_with(['/', '~']);
    let (zone, inside) = match named {
        Some((zone, inside)) if is_absolute || zone == line.zone => (zone, inside),
        _ if is_absolute => (line.zone, normal),
        _ => return None,
    };
    if zone != line.zone && (context.zone == ZoneName::Group || context.file_being_edited.is_some())
    {
        return None;
    }
    let is_all = inside == ".";
    let mut corrected = line.clone();
    corrected.zone = zone;
    *corrected.args.get_mut(at)? = inside;
    let reads = |plan: &CommandPlan| !plan.changes;
    let may = !is_all || corrected.checked(context).as_ref().is_ok_and(reads);
    (may && corrected != *line).then_some(corrected)
}

/// The line with an address that can be reached.
fn secure(line: &CorrectedLine, at: usize) -> Option<CorrectedLine> {
    let word = line.args.get(at)?;
    let address = match word.strip_prefix("git@") {
        Some(rest) => format!("https://{}", rest.replacen(':', "/", 1)),
        None if line.command == "git" => format!("https://{}", word.strip_prefix("http://")?),
        None => return None,
    };
    let mut corrected = line.clone();
    *corrected.args.get_mut(at)? = address;
    Some(corrected)
}

/// The line without an option, where the rest only reads.
fn without(line: &CorrectedLine, at: usize, context: &CommandContext<'_>) -> Option<CorrectedLine> {
    let is_option = |word: &String| word.starts_with('-');
    let word = line.args.get(at)?;
    // A value that follows would become a file.
    let is_alone = word.contains('=') || line.args.get(at + 1).is_none_or(is_option);
    if !is_option(word) || !is_alone {
        return None;
    }
    let mut corrected = line.clone();
    corrected.args.remove(at);
    let plan = corrected.checked(context).ok()?;
    (!plan.changes).then_some(corrected)
}

/// The line with what it misses.
fn completed(line: &CorrectedLine, context: &CommandContext<'_>) -> Option<CorrectedLine> {
    let address = line.args.iter().find(|word| word.contains("://"));
    let name = address
        .and_then(|address| address.split(['?', '#']).next())
        .and_then(|address| address.rsplit('/').next())
        .filter(|name| name.contains('.') && path::normalise(name).is_ok_and(|path| path != "."));
    let name = name.unwrap_or("download.bin");
    let more: &[&str] = match line.command.as_str() {
        "curl" => &["-o", name],
        "wget" => &["-O", name],
        "git" if line.args.is_empty() => &["status"],
        "git" => &["-m", "Update"],
        "pdftoppm" => &["page"],
        _ => return None,
    };
    let mut corrected = line.clone();
    corrected
        .args
        .extend(more.iter().map(|&word| word.to_owned()));
    corrected.checked(context).is_ok().then_some(corrected)
}

impl CorrectedLine {
    fn checked(&self, context: &CommandContext<'_>) -> Result<CommandPlan, CommandError> {
        let context = CommandContext {
            zone: self.zone,
            ..*context
        };
        check(&self.command, &self.args, &context)
    }

    /// The failed call, with what differs from it.
    fn repeated(&self, given: &Self) -> Hint {
        let mut repeat = Repeat::default();
        if self.zone != given.zone {
            repeat = repeat.and("zone", self.zone.as_str());
        }
        if self.command != given.command {
            repeat = repeat.and("cmd", self.command.as_str());
        }
        if self.args != given.args {
            repeat = repeat.and("args", Value::from(self.args.clone()));
        }
        Hint::repeat(repeat)
    }
}
