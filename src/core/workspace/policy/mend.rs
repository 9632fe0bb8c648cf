//! What a refused command line was meant to be: the same one, put right.
//!
//! Every command line that a hint shows has passed the same judgement, and none widens what is
//! changed: an option falls away only where the rest reads, and the zone itself takes the place of
//! a path only there, too.

mod line;

use serde_json::Value;

use super::error::CommandError;
use super::{NetworkMode, Plan, Rules, ZoneKind, commands, judged, path, text};
use crate::{Call, Hint, Repeat};

/// Commands that have another name here, and what comes before their arguments.
const OTHER_NAMES: &[(&str, &str, &[&str])] = &[
    ("gawk", "awk", &[]),
    ("mawk", "awk", &[]),
    ("nawk", "awk", &[]),
    ("gsed", "sed", &[]),
    ("gtar", "tar", &[]),
    ("bsdtar", "tar", &[]),
    ("ack", "grep", &["-rn"]),
    ("ag", "grep", &["-rn"]),
    ("md5", "md5sum", &[]),
    ("sha256", "sha256sum", &[]),
    ("hd", "hexdump", &["-C"]),
    ("dir", "ls", &["-la"]),
    ("open", "cat", &[]),
    ("xdg-open", "cat", &[]),
    ("less", "cat", &[]),
    ("more", "cat", &[]),
];

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
struct Line {
    command: String,
    args: Vec<String>,
    zone: ZoneKind,
}

/// The hint for a command line that was refused, where it can be put right.
pub(super) fn hint(
    error: &CommandError,
    command: &str,
    args: &[String],
    rules: &Rules<'_>,
) -> Option<Hint> {
    let given = Line {
        command: command.to_owned(),
        args: args.to_vec(),
        zone: rules.zone,
    };
    if let Some(words) = words(command, args)
        && let Some(hint) = line::hint(&words, &given, rules)
    {
        return Some(hint);
    }
    let mut line = named(&given).unwrap_or_else(|| given.clone());
    if line == given && !is_mendable(error) {
        return None;
    }
    for _ in 0..ATTEMPTS {
        match line.judged(rules) {
            Ok(_) => return (line != given).then(|| line.repeated(&given)),
            Err(error) => line = corrected(&error, &line, rules)?,
        }
    }
    None
}

/// Whether the arguments, and not the caller or the server, are at fault.
fn is_mendable(error: &CommandError) -> bool {
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
fn named(given: &Line) -> Option<Line> {
    let words = words(&given.command, &given.args)?;
    let wrapped = |word: &&String| WRAPPERS.contains(&word.as_str());
    let mut words = words.iter().skip_while(wrapped);
    let written = words.next()?;
    let name = written.rsplit('/').next()?;
    let lower = name.to_ascii_lowercase();
    let other = OTHER_NAMES.iter().find(|(other, ..)| *other == lower);
    let (command, before) = match other {
        Some((_, command, before)) if !is_known(&lower) => (*command, *before),
        _ => (lower.as_str(), &[][..]),
    };
    if !is_known(command) {
        return None;
    }
    let before = before.iter().map(|&word| word.to_owned());
    Some(Line {
        command: command.to_owned(),
        args: before.chain(words.cloned()).collect(),
        zone: given.zone,
    })
}

fn is_known(name: &str) -> bool {
    commands().iter().any(|rule| rule.name == name)
}

/// The line with one fault less.
fn corrected(error: &CommandError, line: &Line, rules: &Rules<'_>) -> Option<Line> {
    let refusal = error.refusal();
    match error {
        CommandError::Required(_) => completed(line, rules),
        CommandError::Escape(_) | CommandError::StartsWithZone(_) | CommandError::Argument(_) => {
            let word = refusal.argument.as_deref()?;
            let at = line.args.iter().position(|other| other == word)?;
            relative(line, at, rules).or_else(|| without(line, at, rules))
        }
        _ => None,
    }
}

/// The line with a path that is relative to its zone.
fn relative(line: &Line, at: usize, rules: &Rules<'_>) -> Option<Line> {
    let word = line.args.get(at)?;
    if text::scheme(word).is_some() {
        return secure(line, at);
    }
    let from_root = word.strip_prefix('~').unwrap_or(word);
    let normal = path::normalise(from_root.trim_start_matches('/')).ok()?;
    let zones = [
        ZoneKind::Storage,
        ZoneKind::Documents,
        ZoneKind::Uploads,
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
    if zone != line.zone && (rules.zone == ZoneKind::Group || rules.file_being_edited.is_some()) {
        return None;
    }
    let is_all = inside == ".";
    let mut mended = line.clone();
    mended.zone = zone;
    *mended.args.get_mut(at)? = inside;
    let reads = |plan: &Plan| !plan.changes;
    let may = !is_all || mended.judged(rules).as_ref().is_ok_and(reads);
    (may && mended != *line).then_some(mended)
}

/// The line with an address that can be reached.
fn secure(line: &Line, at: usize) -> Option<Line> {
    let word = line.args.get(at)?;
    let address = match word.strip_prefix("git@") {
        Some(rest) => format!("https://{}", rest.replacen(':', "/", 1)),
        None if line.command == "git" => format!("https://{}", word.strip_prefix("http://")?),
        None => return None,
    };
    let mut mended = line.clone();
    *mended.args.get_mut(at)? = address;
    Some(mended)
}

/// The line without an option, where the rest only reads.
fn without(line: &Line, at: usize, rules: &Rules<'_>) -> Option<Line> {
    let is_option = |word: &String| word.starts_with('-');
    let word = line.args.get(at)?;
    // A value that follows would become a file.
    let is_alone = word.contains('=') || line.args.get(at + 1).is_none_or(is_option);
    if !is_option(word) || !is_alone {
        return None;
    }
    let mut mended = line.clone();
    mended.args.remove(at);
    let plan = mended.judged(rules).ok()?;
    (!plan.changes).then_some(mended)
}

/// The line with what it misses.
fn completed(line: &Line, rules: &Rules<'_>) -> Option<Line> {
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
    let mut mended = line.clone();
    mended.args.extend(more.iter().map(|&word| word.to_owned()));
    mended.judged(rules).is_ok().then_some(mended)
}

impl Line {
    fn judged(&self, rules: &Rules<'_>) -> Result<Plan, CommandError> {
        let rules = Rules {
            zone: self.zone,
            ..*rules
        };
        judged(&self.command, &self.args, &rules)
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

/// What to do where commands reach no network.
pub(super) fn without_network() -> Hint {
    let guide = Call::new("shed_help").with("howto", "upload");
    Hint::new("ask the user to upload what is needed: ")
        .call(guide)
        .say(" says how")
        .or("an administrator sets network_mode")
}

/// Whether commands may fetch something.
pub(super) fn is_online(rules: &Rules<'_>) -> bool {
    rules.network != NetworkMode::Disabled
}
