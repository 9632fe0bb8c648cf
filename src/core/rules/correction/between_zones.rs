//! `cp` and `mv` from one zone to another, which a command of one zone cannot do.

use crate::plan::CommandContext;
use crate::text;
use fileshed_types::zone::ZoneName;
use fileshed_types::{Hint, NextCall};

/// Returns the call of `shed_copy` for a command line that names one file or directory and a place in
/// another zone.
pub(super) fn hint(command: &str, args: &[String], context: &CommandContext<'_>) -> Option<Hint> {
    if !["cp", "mv"].contains(&command) || context.file_being_edited.is_some() {
        return None;
    }
    let is_plain = |word: &String| {
        !word.starts_with('-')
            || word
                .chars()
                .skip(1)
                .all(|letter| "rRafinvpu".contains(letter))
    };
    if !args.iter().all(is_plain) || args.iter().any(|word| word.contains(['*', '?', '['])) {
        return None;
    }
    let mut operands = args.iter().filter(|word| !word.starts_with('-'));
    let (from, to) = (operands.next()?, operands.next()?);
    if operands.next().is_some() {
        return None;
    }
    let (from, to) = (place(from, context)?, place(to, context)?);
    let zone = |address: &str| {
        let depth = 1 + usize::from(address.starts_with("group/"));
        address.split('/').take(depth).collect::<Vec<_>>().join("/")
    };
    if zone(&from) == zone(&to) || to.starts_with("uploads/") {
        return None;
    }
    let mut call = NextCall::new("shed_copy").with("from", from).with("to", to);
    if command == "mv" {
        call = call.with("move", true);
    }
    Some(Hint::new("a command sees one zone: ").call(call))
}

/// Returns the address of an operand: `/storage/a.md` and `../storage/a.md` name a zone, everything else
/// is in the zone of the command.
fn place(word: &str, context: &CommandContext<'_>) -> Option<String> {
    let from_top = word.strip_prefix('/').or_else(|| word.strip_prefix("../"));
    let (zone, path) = match from_top {
        Some(from_top) => {
            let (first, path) = from_top.split_once('/').unwrap_or((from_top, ""));
            let first = if first == "groups" { "group" } else { first };
            let zone = ZoneName::parse_parameter("args", first).ok()?;
            (zone.as_str().to_owned(), path)
        }
        None if context.zone == ZoneName::Group => (format!("group/{}", context.group?), word),
        None => (context.zone.as_str().to_owned(), word),
    };
    let inside = text::normalise(path)?;
    let inside = if inside == "." { "" } else { &inside };
    let end = if path.ends_with('/') && !inside.is_empty() {
        "/"
    } else {
        ""
    };
    (zone != "group" || !inside.is_empty()).then(|| format!("{zone}/{inside}{end}"))
}
