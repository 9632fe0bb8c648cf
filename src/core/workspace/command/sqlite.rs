//! The command `sqlite3`, which takes in what lies beside a database as every program of SQLite
//! does: so it meets the same rule as a statement of `shed_sqlite`.

use super::outcome::CommandOutcome;
use crate::Error;
use crate::databases::{self, Statement};
use crate::zone::{Zone, ZonePath};
use fileshed_rules::CommandPlan;

/// The name of the command.
pub(super) const COMMAND: &str = "sqlite3";

/// Runs the command while nothing foreign lies beside its database. What it leaves in the middle of
/// a change, stopped by a limit, is rolled back.
pub(super) fn run(
    zone: &Zone<'_>,
    plan: &CommandPlan,
    writes: bool,
    effect: impl FnOnce() -> Result<CommandOutcome, Error>,
) -> Result<CommandOutcome, Error> {
    let Some(database) = database(zone, plan) else {
        return effect();
    };
    if !writes {
        databases::expect_alone(zone, &database)?;
        return effect();
    }
    let statement = Statement::begin(zone, &database)?;
    let outcome = effect();
    statement.end(|| databases::recover(zone, &database))?;
    outcome
}

/// The database of a command line, as it is spelled on disk.
fn database(zone: &Zone<'_>, plan: &CommandPlan) -> Option<ZonePath> {
    let argument = plan.paths.first()?;
    let word = argument.position.and_then(|at| plan.args.get(at));
    let path = ZonePath::parse("args", word.map_or(&*argument.text, String::as_str)).ok()?;
    Some(match zone.data().followed(&path) {
        Ok(entry) => entry.path().clone(),
        Err(_) => path.as_spelled().unwrap_or(path),
    })
}
