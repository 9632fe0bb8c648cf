//! A command on the working copy of a locked edit, which holds no more than the quota either.

use super::invocation::{Invocation, Run};
use super::outcome::CommandOutcome;
use super::{CommandLine, Ran, line};
use crate::Error;
use crate::lockedit::LockedEdit;
use crate::process::sink;
use fileshed_rules::Growth;

/// Runs a command that sees the working copy of a locked edit and nothing else.
pub fn run_on_copy(edit: &LockedEdit<'_>, command_line: &CommandLine<'_>) -> Result<Ran, Error> {
    let (zone, directory) = (edit.zone, &edit.directory);
    let plan = line::judge(zone, command_line, Some(edit.path().as_str()))?;
    if plan.changes && plan.growth == Growth::Likely {
        zone.expect_space(0)?;
    }
    let run = Run::new(zone, command_line, &plan, directory)?;
    let limit = run.read_limit();
    let sinks = (
        sink(None, false, limit)?,
        sink(None, command_line.merge_streams, limit)?,
    );
    let start = || {
        run.start(Invocation {
            directory,
            ..run.invocation(sinks)
        })
    };
    if !plan.changes || plan.growth == Growth::Never {
        return ended(&run, start()?, None);
    }
    let permit = zone.open_ended_edit(plan.command, directory, &edit.copy)?;
    run.limit(permit.must_stop());
    let outcome = start();
    let refused = permit.finish()?;
    ended(&run, outcome?, refused)
}

/// What came of it, or why nothing did, with what the command said.
fn ended(run: &Run<'_>, mut outcome: CommandOutcome, refused: Option<Error>) -> Result<Ran, Error> {
    let shown = run.shown(&mut outcome);
    match refused.map_or_else(|| run.expect_ended(&outcome, &shown), Err) {
        Ok(()) => Ok(run.ran(&outcome, shown)),
        Err(error) => Err(shown.told(error, outcome.status)),
    }
}
