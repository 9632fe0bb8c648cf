//! The commands that the server carries out itself: `which`, a shell script on common systems,
//! `rename`, which evaluates its arguments as perl, and `rm` where there is a bin.
//!
//! `rename` finds and judges all new names before the first file moves; an obstacle for one
//! file afterwards is reported and leaves the others alone.

use super::ExecError;
use super::outcome::BuiltinOutput;
use crate::runs::Runs;
use fileshed_changes::bin::remove_as_command;
use fileshed_changes::check_lock;
use fileshed_changes::open_ended::OpenEndedPermit;
use fileshed_rules::CommandPlan;
use fileshed_sandbox::removals::{GONE, Removal};
use fileshed_storage::{DiskError, Entry, Kind, Root};
use fileshed_text::substitute;
use fileshed_types::{Code, Error};
use fileshed_zones::zone::{PathError, Zone, ZonePath};

/// Shown if no file is named.
const USAGE: &str = "usage: rename [-nvf] s/old/new/ file...\n";

/// Says where the whitelisted commands among the arguments are.
pub(super) fn which(runs: &Runs, plan: &CommandPlan) -> BuiltinOutput {
    let names = plan.args.iter().filter(|word| !word.starts_with('-'));
    // Answers name no directory of the machine itself.
    let place = |name| format!("/usr/bin/{name}\n");
    let places = names.map(|name| runs.programs.has(name).then(|| place(name)));
    let places: Vec<Option<String>> = places.collect();
    BuiltinOutput {
        status: i32::from(places.is_empty() || places.contains(&None)),
        stdout: places.iter().flatten().map(String::as_str).collect(),
        stderr: String::new(),
    }
}

/// Moves what `rm` removes in a zone with a bin there. Returns the arguments that are left for the
/// program itself, which explains what it cannot remove; `None` if there are none.
pub(super) fn rm(
    zone: &Zone<'_>,
    plan: &CommandPlan,
) -> Result<(BuiltinOutput, Option<Vec<String>>), Error> {
    let (mut said, mut left) = (BuiltinOutput::default(), plan.args.clone());
    let Some(removal) = Removal::parse(&left) else {
        return Ok((said, Some(left)));
    };
    let mut done = Vec::new();
    for at in removal.names {
        let name = &plan.args[at];
        let is_directory = |entry: &Entry| entry.kind() == Kind::Directory;
        match zone.data.entry_as_written(name)? {
            Some(entry) if removal.recursive || !is_directory(&entry) => {
                match remove_as_command(zone, &entry) {
                    Ok(true) => {}
                    Ok(false) if !said.stderr.is_empty() => {}
                    Ok(false) => said.stderr.push_str(GONE),
                    // Another command was here first: the program says so where that is an error.
                    Err(error) if error.code() == Code::FileNotFound => continue,
                    Err(error) => return Err(error),
                }
                let kind = if is_directory(&entry) {
                    "directory "
                } else {
                    ""
                };
                if removal.verbose {
                    said.out(&["removed ", kind, "'", name, "'\n"]);
                }
            }
            None if removal.force && !name.ends_with(['/', '.']) => {}
            _ => continue,
        }
        done.push(at);
    }
    for at in done.iter().rev() {
        left.remove(*at);
    }
    let is_done = Removal::parse(&left).is_none();
    Ok((said, (!is_done).then_some(left)))
}

/// Gives the files of the plan their new names.
pub(super) fn rename(
    zone: &Zone<'_>,
    plan: &CommandPlan,
    permit: Option<&OpenEndedPermit<'_>>,
) -> Result<BuiltinOutput, Error> {
    let args: Vec<&str> = plan.args.iter().map(String::as_str).collect();
    let end = args.iter().position(|word| *word == "--");
    let (options, operands) = args.split_at(end.unwrap_or(args.len()));
    let (options, mut words): (Vec<&str>, Vec<&str>) =
        options.iter().partition(|word| word.starts_with('-'));
    words.extend(operands.iter().skip(1));
    let has = |letter| options.iter().any(|option| option.contains(letter));
    let mut said = BuiltinOutput::default();
    let [expression, files @ ..] = words.as_slice() else {
        return Ok(said);
    };
    if files.is_empty() {
        said.status = 2;
        said.stderr.push_str(USAGE);
    }
    for (from, to) in &moves(zone, expression, files)? {
        let Some(permit) = permit.filter(|_| !has('n')) else {
            said.out(&["rename(", from.as_str(), ", ", to.as_str(), ")\n"]);
            continue;
        };
        match carry_out(&zone.data, permit, (from, to), has('f')) {
            Ok(()) if has('v') => said.out(&[from.as_str(), " renamed as ", to.as_str(), "\n"]),
            Ok(()) => {}
            Err(reason) => {
                said.status = 1;
                let words = ["rename: ", from.as_str(), " not renamed: ", &reason, "\n"];
                said.stderr.extend(words);
            }
        }
    }
    Ok(said)
}

/// The files whose names change, with the names they get.
fn moves(
    zone: &Zone<'_>,
    expression: &str,
    files: &[&str],
) -> Result<Vec<(ZonePath, ZonePath)>, Error> {
    let renamed = substitute(expression, files).map_err(|reason| ExecError::Substitution {
        expression: expression.to_owned(),
        reason,
    })?;
    let mut moves = Vec::new();
    for (old, new) in files.iter().zip(&renamed) {
        if old == new {
            continue;
        }
        let from = ZonePath::parse("args", old)?;
        let to = new_path(zone, &from, new)?;
        if from != to {
            moves.push((from, to));
        }
    }
    Ok(moves)
}

/// The path that a file gets, held to what any new path is held to.
fn new_path(zone: &Zone<'_>, from: &ZonePath, text: &str) -> Result<ZonePath, Error> {
    if text.starts_with('/') {
        let escape = PathError::Escape {
            parameter: "args",
            path: text.to_owned(),
        };
        return Err(zone.explain(escape.into()));
    }
    let to = zone.path_to_change("args", text)?;
    let same = from
        .segments()
        .zip(to.segments())
        .take_while(|(old, new)| old == new)
        .count();
    to.check_new_names("args", same)
        .map_err(|error| zone.explain(error.into()))?;
    check_lock(zone, &to)?;
    Ok(to)
}

/// Moves one file, or says why not.
fn carry_out(
    data: &Root,
    permit: &OpenEndedPermit<'_>,
    (from, to): (&ZonePath, &ZonePath),
    force: bool,
) -> Result<(), String> {
    let said = |error: DiskError| match error {
        DiskError::Exists { .. } => format!("{to} already exists"),
        error => error.to_string(),
    };
    let entry = data.entry(from).map_err(said)?;
    if force && let Ok(taken) = data.entry(to) {
        return permit.replace(&entry, &taken).map_err(said);
    }
    let vacancy = data.vacancy(to).map_err(said)?;
    if vacancy.existing_segments() + 1 < to.segments().count() {
        return Err(format!("the directory of {to} does not exist"));
    }
    permit.rename(&entry, vacancy).map_err(said)
}
