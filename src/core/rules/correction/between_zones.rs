//! `cp` and `mv` from one zone to another, which a command of one zone cannot do.

use crate::plan::CommandContext;
use crate::text;
use fileshed_types::zone::{ZoneAddress, ZoneName};
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
    let from = place(from, context)?;
    let to = place(to, context)?;
    let paths = (inside(from.path)?, inside(to.path)?);
    let is_same_zone = (from.zone, from.group) == (to.zone, to.group);
    if is_same_zone || to.zone == ZoneName::Uploads {
        return None;
    }
    let address =
        |address: ZoneAddress<'_>, path: &str| ZoneAddress { path, ..address }.to_string();
    let mut call = NextCall::new("shed_copy")
        .with("from", address(from, &paths.0))
        .with("to", address(to, &paths.1));
    if command == "mv" {
        call = call.with("move", true);
    }
    Some(Hint::new("a command sees one zone: ").call(call))
}

/// Returns the address of an operand: `/storage/a.md` and `../storage/a.md` name a zone, everything else
/// is in the zone of the command.
fn place<'w>(word: &'w str, context: &CommandContext<'w>) -> Option<ZoneAddress<'w>> {
    let from_top = word.strip_prefix('/').or_else(|| word.strip_prefix("../"));
    if let Some(from_top) = from_top {
        return ZoneAddress::parse(from_top);
    }
    Some(ZoneAddress {
        zone: context.zone,
        group: context.group,
        path: word,
    })
}

/// Returns a path in normal form, empty for the whole zone, with a slash at its end if it had one.
fn inside(path: &str) -> Option<String> {
    let inside = text::normalise(path)?;
    Some(match inside.as_str() {
        "." => String::new(),
        _ if path.ends_with('/') => inside + "/",
        _ => inside,
    })
}
