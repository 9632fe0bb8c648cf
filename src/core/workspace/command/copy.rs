//! A command on the working copy of a locked edit, which holds no more than the quota either.

use super::invocation::{Invocation, Run};
use super::outcome::CommandOutcome;
use super::{CommandLine, Ran, line};
use crate::Error;
use crate::process::sink;
use crate::zone::{Zone, ZonePath};
use fileshed_rules::Growth;
use fileshed_sandbox::Ending;
use fileshed_storage::Root;

/// Runs a command on the working copy of the locked edit of `file`: `directory` holds nothing but
/// this copy, under the name `copy`.
pub(crate) fn run_on_copy(
    zone: &Zone<'_>,
    command_line: &CommandLine<'_>,
    directory: &Root,
    file: &ZonePath,
    copy: &ZonePath,
) -> Result<Ran, Error> {
    let plan = line::judge(zone, command_line, Some(file.as_str()))?;
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
    let permit = zone.open_ended_edit(directory, copy)?;
    run.limit(permit.must_stop());
    let outcome = start();
    let stopped = matches!(&outcome, Ok(outcome) if outcome.ending == Ending::OverQuota);
    let refused = permit.finish(plan.command, stopped)?;
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
