//! Corrections of refused command lines.
//!
//! Every command line that a hint shows has passed the same check, and none widens what is
//! changed: an option falls away only where the rest reads, and the zone itself takes the place of
//! a path only there, too.

mod between_zones;
mod shell_line;

use serde_json::Value;

use super::check::check;
use super::error::CommandError;
use super::plan::{CommandContext, CommandPlan};
use super::table::rule_of;
use super::{alternatives, text};
use fileshed_types::zone::ZoneName;
use fileshed_types::{Hint, Repeat};

/// Commands that start the one in their arguments.
const WRAPPERS: &[&str] = &[
    "sudo", "doas", "env", "nohup", "exec", "command", "busybox", "time", "eval", "nice",
];

/// Shells, which take a command line after `-c`.
const SHELLS: &[&str] = &["bash", "sh", "zsh", "dash", "fish", "ksh"];

/// Most corrections of one command line before it is given up.
const ATTEMPTS: usize = 8;

/// A command line under correction.
#[derive(Clone, PartialEq)]
struct CorrectedLine {
    command: String,
    args: Vec<String>,
    zone: ZoneName,
}

/// Returns the hint for a command line that was refused, where it can be put right.
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
    if let Some(hint) = between_zones::hint(command, args, context) {
        return Some(hint);
    }
    let words = words(command, args);
    if let Some(words) = &words
        && let Some(hint) = shell_line::hint(words, &given, context)
    {
        return Some(hint);
    }
    let named = words.and_then(|words| named(&words, context.zone));
    let mut line = named.unwrap_or_else(|| given.clone());
    // The arguments have to be at fault, and not the caller or the server.
    let is_correctable = matches!(
        error,
        CommandError::Argument(_)
            | CommandError::Required(_)
            | CommandError::Escape(_)
            | CommandError::StartsWithZone(_)
    );
    if line == given && !is_correctable {
        return None;
    }
    for _ in 0..ATTEMPTS {
        match line.checked(context) {
            Ok(_) => return (line != given).then(|| line.repeated(&given)),
            Err(error) => line = line.corrected(&error, context)?,
        }
    }
    None
}

/// Returns all words of a command line, where they can be told apart.
fn words(command: &str, args: &[String]) -> Option<Vec<String>> {
    if SHELLS.contains(&command) {
        return match args {
            [option, script] if option.ends_with('c') => shlex::split(script),
            _ => None,
        };
    }
    let mut words = shlex::split(command)?;
    words.extend_from_slice(args);
    Some(words)
}

/// Returns the line with the command that was meant.
fn named(words: &[String], zone: ZoneName) -> Option<CorrectedLine> {
    let wrapped = |word: &&String| WRAPPERS.contains(&word.as_str());
    let mut words = words.iter().skip_while(wrapped);
    let lower = words.next()?.rsplit('/').next()?.to_ascii_lowercase();
    let mut before = alternatives::other_name(&lower).filter(|_| rule_of(&lower).is_none());
    let command = before.as_mut().and_then(Iterator::next).unwrap_or(&lower);
    rule_of(command)?;
    let before = before.into_iter().flatten().map(str::to_owned);
    Some(CorrectedLine {
        command: command.to_owned(),
        args: before.chain(words.cloned()).collect(),
        zone,
    })
}

impl CorrectedLine {
    fn checked(&self, context: &CommandContext<'_>) -> Result<CommandPlan, CommandError> {
        let context = CommandContext {
            zone: self.zone,
            ..*context
        };
        check(&self.command, &self.args, &context)
    }

    fn only_reads(&self, context: &CommandContext<'_>) -> bool {
        self.checked(context).is_ok_and(|plan| !plan.changes)
    }

    /// Returns the line with one fault less.
    fn corrected(&self, error: &CommandError, context: &CommandContext<'_>) -> Option<Self> {
        match error {
            CommandError::Required(_) => self.completed(context),
            CommandError::Escape(refusal)
            | CommandError::StartsWithZone(refusal)
            | CommandError::Argument(refusal) => {
                let word = refusal.argument.as_ref()?;
                let at = self.args.iter().position(|other| other == word)?;
                self.relative(at, word, context)
                    .or_else(|| self.without(at, context))
            }
            _ => None,
        }
    }

    /// Returns the line with another word at a place.
    fn with(&self, at: usize, word: String) -> Option<Self> {
        let mut corrected = self.clone();
        *corrected.args.get_mut(at)? = word;
        Some(corrected)
    }

    /// Returns the line with a path that is relative to its zone, or an address that can be reached.
    fn relative(&self, at: usize, word: &str, context: &CommandContext<'_>) -> Option<Self> {
        if text::scheme(word).is_some() {
            let address = match word.strip_prefix("git@") {
                Some(rest) => rest.replacen(':', "/", 1),
                None if self.command == "git" => word.strip_prefix("http://")?.to_owned(),
                None => return None,
            };
            return self.with(at, format!("https://{address}"));
        }
        let from_root = word.strip_prefix('~').unwrap_or(word);
        let normal = text::normalise(from_root.trim_start_matches('/'))?;
        let zones = [
            ZoneName::Storage,
            ZoneName::Documents,
            ZoneName::Uploads,
            self.zone,
        ];
        let named = zones
            .into_iter()
            .find_map(|zone| Some((zone, text::without_zone(&normal, zone.as_str())?.to_owned())));
        let is_absolute = word.starts_with(['/', '~']);
        let (zone, inside) = match named {
            Some((zone, inside)) if is_absolute || zone == self.zone => (zone, inside),
            _ if is_absolute => (self.zone, normal),
            _ => return None,
        };
        let is_bound = context.zone == ZoneName::Group || context.file_being_edited.is_some();
        if zone != self.zone && is_bound {
            return None;
        }
        let is_all = inside == ".";
        let mut corrected = self.with(at, inside)?;
        corrected.zone = zone;
        let may = !is_all || corrected.only_reads(context);
        (may && corrected != *self).then_some(corrected)
    }

    /// Returns the line without an option, where the rest only reads.
    fn without(&self, at: usize, context: &CommandContext<'_>) -> Option<Self> {
        let is_option = |word: &String| word.starts_with('-');
        let word = self.args.get(at)?;
        // A value that follows would become a file.
        let is_alone = word.contains('=') || self.args.get(at + 1).is_none_or(is_option);
        if !is_option(word) || !is_alone {
            return None;
        }
        let mut corrected = self.clone();
        corrected.args.remove(at);
        corrected.only_reads(context).then_some(corrected)
    }

    /// Returns the line with what it misses.
    fn completed(&self, context: &CommandContext<'_>) -> Option<Self> {
        let address = self.args.iter().find(|word| word.contains("://"));
        let name = address
            .and_then(|address| address.split(['?', '#']).next())
            .and_then(|address| address.rsplit('/').next())
            .filter(|name| name.contains('.') && text::normalise(name).is_some_and(|it| it != "."));
        let name = name.unwrap_or("download.bin");
        let more: &[&str] = match self.command.as_str() {
            "curl" => &["-o", name],
            "wget" => &["-O", name],
            "git" if self.args.is_empty() => &["status"],
            "git" => &["-m", "Update"],
            "pdftoppm" => &["page"],
            _ => return None,
        };
        let mut corrected = self.clone();
        let more = more.iter().map(ToString::to_string);
        corrected.args.extend(more);
        corrected.checked(context).is_ok().then_some(corrected)
    }

    /// Returns the failed call, with what differs from it.
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
        Hint::from(repeat)
    }
}
