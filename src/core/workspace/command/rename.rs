//! `rename`, done by the server: the program evaluates its arguments as perl.
//!
//! All new names are found and judged before the first file moves; what is in the way of one
//! file afterwards is said and leaves the others alone.

use super::built_in::Said;
use super::error::ExecError;
use crate::Error;
use crate::guard::{OpenEndedPermit, check_lock};
use crate::zone::{PathError, Zone, ZonePath};
use fileshed_rules::{CommandPlan, RenameArguments};
use fileshed_storage::{DiskError, Root};
use fileshed_text::Substitutions;

/// Its name.
pub(super) const COMMAND: &str = "rename";

/// What comes before each line of complaint.
const COMPLAINT: &str = "rename: ";

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
    let Some(renaming) = &plan.renaming else {
        return Ok(Said::default());
    };
    let moves = moves(zone, renaming, &plan.args)?;
    let mut said = Said::default();
    for step in &moves {
        let (from, to) = (step.from.as_str(), step.to.as_str());
        let Some(permit) = permit.filter(|_| !renaming.dry_run) else {
            said.out(&["rename(", from, ", ", to, ")\n"]);
            continue;
        };
        match carry_out(zone.data(), permit, step, renaming.force) {
            Ok(()) if renaming.verbose => {
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
fn moves(
    zone: &Zone<'_>,
    renaming: &RenameArguments,
    files: &[String],
) -> Result<Vec<Move>, Error> {
    let refused = |reason| ExecError::Substitution {
        expression: renaming.expression.clone(),
        reason,
    };
    let substitutions = Substitutions::parse(&renaming.expression).map_err(refused)?;
    let (above, names): (Vec<&str>, Vec<String>) = files
        .iter()
        .map(|file| match file.trim_end_matches('/').rsplit_once('/') {
            Some((above, name)) if renaming.last_segment => (above, name.to_owned()),
            _ => ("", file.clone()),
        })
        .unzip();
    let renamed = substitutions.apply(names.clone()).map_err(refused)?;
    let mut moves = Vec::new();
    for ((above, old), new) in above.iter().zip(&names).zip(&renamed) {
        if old == new {
            continue;
        }
        let from = ZonePath::parse("args", &joined(above, old))?;
        let to = new_path(zone, &from, &joined(above, new))?;
        if from != to {
            moves.push(Move { from, to });
        }
    }
    Ok(moves)
}

fn joined(above: &str, name: &str) -> String {
    if above.is_empty() {
        name.to_owned()
    } else {
        format!("{above}/{name}")
    }
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
