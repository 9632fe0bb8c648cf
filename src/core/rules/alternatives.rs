//! The rule of a command, or the hint of what to call instead. Hints are data: a table has them by the name
//! of a command or of a fault.

use super::error::{CommandError, CommandRefusal};
use super::plan::CommandContext;
use super::syntax::CommandRule;
use super::table::rule_of;
use super::text;
use fileshed_types::settings::NetworkMode;
use fileshed_types::zone::ZoneName;
use fileshed_types::{Hint, NextCall, Repeat};

/// Returns the rule of a command that may run here.
pub(super) fn command(
    cmd: &str,
    args: &[String],
    context: &CommandContext<'_>,
) -> Result<&'static CommandRule, CommandError> {
    let refusal = |kind, reason: &str, hint: Hint| {
        CommandRefusal::error(kind, cmd, None, reason, hint, context)
    };
    let refuse = |reason: &str, hint| refusal(CommandError::Command, reason, hint);
    if cmd.trim().is_empty() {
        let hint = said("@none");
        return Err(refusal(CommandError::Missing, "no command was named", hint));
    }
    let Some(rule) = rule_of(cmd) else {
        let (reason, hint) = unknown(cmd, args);
        return Err(refuse(&reason, hint));
    };
    if context.zone == ZoneName::Uploads && !rule.uploads {
        return Err(refuse(
            "it is not on the whitelist of the read-only zone `uploads`",
            in_uploads(cmd, args),
        ));
    }
    if rule.network && context.network == NetworkMode::Disabled {
        return Err(refuse(
            "the network is off: network_mode is `disabled`",
            said("@network"),
        ));
    }
    let elsewhere = rule.network || matches!(rule.name, "git" | "rename");
    if context.file_being_edited.is_some() && elsewhere {
        return Err(refuse(
            "a locked edit can only use the file being edited",
            "shed_exec runs it on other files; in the edit, name another command in `cmd`".into(),
        ));
    }
    Ok(rule)
}

/// Returns what the zone's own operations do instead of a command that only writable zones offer.
fn in_uploads(name: &str, args: &[String]) -> Hint {
    let mut named = args.iter().filter(|word| !word.starts_with('-'));
    match name {
        "rm" | "rmdir" | "shred" => match (named.next(), named.next()) {
            (Some(path), None) if !path.contains(['*', '?']) => {
                Hint::from(NextCall::here("shed_delete").with("path", path.as_str()))
                    .say(" removes it from uploads")
            }
            _ => said("@uploads-remove"),
        },
        "git" => said("@uploads-git"),
        "touch" | "mkdir" | "tee" => Hint::new("uploads can only be read: ")
            .again(Repeat::with("zone", ZoneName::Storage.as_str())),
        _ => match named.find(|word| is_file_name(word)) {
            Some(path) => Hint::new("uploads can only be read: ")
                .call(
                    NextCall::new("shed_copy")
                        .with("from", format!("uploads/{path}"))
                        .with("to", "storage/"),
                )
                .say(" copies it to storage, where commands can write"),
            None => said("@uploads"),
        },
    }
}

/// Returns `true` if a word looks like the name of one file: `1.5` and `scale=1.5` do not.
fn is_file_name(word: &str) -> bool {
    let end = word.rsplit_once('.').map(|(_, end)| end);
    let has_end = end.is_some_and(|end| end.starts_with(|first: char| first.is_ascii_alphabetic()));
    has_end && !word.contains(['*', '?', '{', '=', ',', '\'', '"'])
}

/// Returns the message and the hint for a name without a rule. If the line can be put right, `correction`
/// says how.
fn unknown(cmd: &str, args: &[String]) -> (String, Hint) {
    let mut words = cmd.split_whitespace();
    let first = words.next().unwrap_or_default();
    if first != cmd {
        let all: Vec<String> = words.map(str::to_owned).chain(args.to_vec()).collect();
        let reason = "`cmd` is one name, arguments belong into `args`";
        return (reason.to_owned(), advised(first, &all));
    }
    if cmd.contains(['/', '\\']) || cmd.contains("..") {
        let reason = "a command must be named without a path";
        return (reason.to_owned(), said("@path"));
    }
    if let Some((token, instead)) = text::shell(cmd) {
        return (format!("`{token}` is shell syntax"), instead.into());
    }
    ("it is not on the whitelist".to_owned(), advised(cmd, args))
}

/// Returns the alternatives to a command.
fn advised(cmd: &str, args: &[String]) -> Hint {
    let lower = cmd.to_ascii_lowercase();
    if rule_of(&lower).is_some() {
        return said("@spelling");
    }
    if ["locate", "mlocate", "plocate", "updatedb"].contains(&lower.as_str()) {
        let named = args.iter().find(|word| !word.starts_with('-'));
        let name = format!("*{}*", named.map_or("", String::as_str));
        let find = Repeat::with("cmd", "find").and("args", vec![".", "-iname", name.as_str()]);
        return Hint::new("search by name: ").again(find);
    }
    converting(&lower, args)
        .or_else(|| reading(&lower, args))
        .or_else(|| instead(&lower))
        .unwrap_or_else(|| said("@unknown"))
}

/// Returns the call that converts a file as a converter of an office suite was to.
fn converting(name: &str, args: &[String]) -> Option<Hint> {
    if !["ssconvert", "soffice", "libreoffice", "unoconv"].contains(&name) {
        return None;
    }
    let mut words = args.iter().map(String::as_str);
    let (mut format, mut files) = (None, Vec::new());
    while let Some(word) = words.next() {
        match word {
            "--convert-to" | "-f" => format = words.next()?.split(':').next(),
            "--outdir" | "-T" | "-o" => drop(words.next()),
            word if word.starts_with('-') => {}
            file => files.push(file),
        }
    }
    let ((&[path], Some(to)) | (&[path, to], None)) = (files.as_slice(), format) else {
        return None;
    };
    let call = NextCall::here("shed_convert")
        .with("path", path)
        .with("to", to);
    let call = match to.rsplit('.').next()? {
        "xlsx" | "ods" | "csv" => call,
        "pdf" => call.needing(&["pandoc", "weasyprint"]),
        "docx" | "odt" | "pptx" | "html" | "md" => call.needing(&["pandoc"]),
        _ => return None,
    };
    let instead = "no program of an office suite runs here";
    Some(Hint::new("").call(call).instead(instead))
}

/// Returns the call that reads a document as a program that shows its text was to.
fn reading(name: &str, args: &[String]) -> Option<Hint> {
    let readers = [
        "pdfgrep",
        "docx2txt",
        "antiword",
        "catdoc",
        "odt2txt",
        "tesseract",
        "ocrmypdf",
    ];
    let path = args.iter().rfind(|word| is_file_name(word))?;
    let call = NextCall::here("shed_read").with("path", path.as_str());
    readers.contains(&name).then(|| call.into())
}

/// The table of hints.
const TABLE: &str = include_str!("table/hints.txt");

/// Returns the text of the table behind a name.
fn entry(name: &str) -> Option<&'static str> {
    let entries = TABLE.lines().filter_map(|line| line.split_once(": "));
    let mut found = entries.filter(|(names, _)| names.split(' ').any(|other| other == name));
    found.next().map(|(_, text)| text)
}

/// The command that is meant by a name, with the arguments that come first.
pub(crate) fn other_name(name: &str) -> Option<impl Iterator<Item = &'static str>> {
    Some(entry(name)?.strip_prefix('=')?.split(' '))
}

/// Returns the hint of what replaces a command that does not exist.
pub(crate) fn instead(name: &str) -> Option<Hint> {
    entry(name)
        .filter(|text| !text.starts_with('='))
        .map(rendered)
}

/// Returns the advice to a line of a terminal that names a program which is no use there.
pub fn instead_in_terminal(name: &str) -> Option<&'static str> {
    entry(&format!("${name}"))
}

/// A text of the rules themselves; its name begins with `@`.
pub(crate) fn said(name: &str) -> Hint {
    entry(name).map(rendered).unwrap_or_default()
}

fn rendered(text: &'static str) -> Hint {
    text.split("; ").fold(Hint::default(), |hint, clause| {
        let (hint, clause) = match clause.strip_prefix('|') {
            Some(clause) => (hint.instead(""), clause),
            None => (hint.or(""), clause),
        };
        let Some((before, rest)) = clause.split_once(['{', '<']) else {
            return hint.say(clause);
        };
        let (inner, after) = rest.split_once(['}', '>']).unwrap_or((rest, ""));
        let mut words = inner.split(' ');
        let hint = hint.say(before);
        let hint = if clause[before.len()..].starts_with('{') {
            hint.commands(words)
        } else {
            let call = NextCall::new(words.next().unwrap_or_default());
            let arguments = words.filter_map(|word| word.split_once('='));
            hint.call(arguments.fold(call, |call, (name, value)| call.with(name, value)))
        };
        hint.say(after)
    })
}

/// Returns `true` if commands may fetch something.
pub(crate) fn is_online(context: &CommandContext<'_>) -> bool {
    context.network != NetworkMode::Disabled
}
