//! `rename`, done by the server: the program evaluates its arguments as perl.
//!
//! All new names are found and judged before the first file moves; what is in the way of one
//! file afterwards is said and leaves the others alone.

use super::built_in::Said;
use super::error::ExecError;
use crate::Error;
use crate::changes::{OpenEndedPermit, check_lock};
use crate::zone::{PathError, Zone, ZonePath};
use fileshed_rules::CommandPlan;
use fileshed_storage::{DiskError, Root};
use fileshed_text::substitute;

/// Its name.
pub(super) const COMMAND: &str = "rename";

/// What comes before each line of complaint.
const COMPLAINT: &str = "rename: ";

/// Shown if no file is named.
const USAGE: &str = "usage: rename [-nvf] s/old/new/ file...\n";

/// One file and the name that it gets.
struct Move {
    from: ZonePath,
    to: ZonePath,
}

/// Gives the files of the plan their new names.
pub(super) fn run(
    zone: &Zone<'_>,
    plan: &CommandPlan,
    permit: Option<&OpenEndedPermit<'_>>,
) -> Result<Said, Error> {
    let args: Vec<&str> = plan.args.iter().map(String::as_str).collect();
    let end = args.iter().position(|word| *word == "--");
    let (options, operands) = args.split_at(end.unwrap_or(args.len()));
    let (options, mut words): (Vec<&str>, Vec<&str>) =
        options.iter().partition(|word| word.starts_with('-'));
    words.extend(operands.iter().skip(1));
    let has = |letter| options.iter().any(|option| option.contains(letter));
    let mut said = Said::default();
    let [expression, files @ ..] = words.as_slice() else {
        return Ok(said);
    };
    if files.is_empty() {
        said.status = 2;
        said.stderr.push_str(USAGE);
    }
    for step in &moves(zone, expression, files)? {
        let (from, to) = (step.from.as_str(), step.to.as_str());
        let Some(permit) = permit.filter(|_| !has('n')) else {
            said.out(&["rename(", from, ", ", to, ")\n"]);
            continue;
        };
        match carry_out(zone.data(), permit, step, has('f')) {
            Ok(()) if has('v') => {
                said.out(&[from, " renamed as ", to, "\n"]);
            }
            Ok(()) => {}
            Err(reason) => {
                said.status = 1;
                said.stderr
                    .extend([COMPLAINT, from, " not renamed: ", &reason, "\n"]);
            }
        }
    }
    Ok(said)
}

/// The files whose names change, with the names they get.
fn moves(zone: &Zone<'_>, expression: &str, files: &[&str]) -> Result<Vec<Move>, Error> {
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
            moves.push(Move { from, to });
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
    step: &Move,
    force: bool,
) -> Result<(), String> {
    let said = |error: DiskError| match error {
        DiskError::Exists { .. } => format!("{} already exists", step.to),
        error => error.to_string(),
    };
    let entry = data.entry(&step.from).map_err(said)?;
    if force && let Ok(taken) = data.entry(&step.to) {
        return permit.replace(&entry, &taken).map_err(said);
    }
    let vacancy = data.vacancy(&step.to).map_err(said)?;
    if vacancy.existing_segments() + 1 < step.to.segments().count() {
        return Err(format!("the directory of {} does not exist", step.to));
    }
    permit.rename(&entry, vacancy).map_err(said)
}
