//! A command on the working copy of a locked edit, which holds no more than the quota either.

use super::outcome::CommandOutcome;
use super::run::{Invocation, Run};
use super::stream::sink;
use super::{CommandLine, ExecError, Ran, line};
use crate::Error;
use crate::disk::{Root, Staged};
use crate::policy::Growth;
use crate::sandbox::Ending;
use crate::zone::{Zone, ZonePath};

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
        let outcome = start()?;
        return run
            .finish(&outcome)
            .map_err(|error| run.told(error, &outcome));
    }
    let before = Before::new(zone, directory, copy)?;
    let (there, used) = (before.there, before.used);
    run.limit(move || is_over(zone, directory, there, used).is_some());
    let outcome = start();
    let refused = before.judge(plan.command, outcome.as_ref().ok())?;
    zone.store.measure_edits(&zone.tenant, zone.name())?;
    let outcome = outcome?;
    let ran = refused.map_or_else(|| run.finish(&outcome), Err);
    ran.map_err(|error| run.told(error, &outcome))
}

/// A working copy before a command.
struct Before<'a> {
    zone: &'a Zone<'a>,
    directory: &'a Root,
    copy: &'a ZonePath,
    /// Its content.
    content: Staged,
    /// Bytes in its directory.
    there: u64,
    /// Bytes in the whole home.
    used: u64,
}

/// What the home would hold with what is in the directory now, where that is too much.
fn is_over(zone: &Zone<'_>, directory: &Root, there: u64, used: u64) -> Option<u64> {
    // What vanishes while it is measured is measured again soon.
    let now = directory.measure().ok()?.bytes;
    let holds = used.saturating_sub(there) + now;
    (now > there && holds > zone.tenant.limit).then_some(holds)
}

impl<'a> Before<'a> {
    fn new(zone: &'a Zone<'a>, directory: &'a Root, copy: &'a ZonePath) -> Result<Self, Error> {
        let mut file = directory.followed(copy)?.open()?;
        Ok(Self {
            zone,
            directory,
            copy,
            content: zone.store.staging(&zone.tenant)?.copy(&mut file)?,
            there: directory.measure()?.bytes,
            used: zone.store.used(&zone.tenant)?,
        })
    }

    /// Puts the copy back where a command made more of it than fits, and says why.
    fn judge(
        self,
        command: &str,
        outcome: Option<&CommandOutcome>,
    ) -> Result<Option<Error>, Error> {
        let stopped = outcome.is_some_and(|outcome| outcome.ending == Ending::OverQuota);
        let holds = is_over(self.zone, self.directory, self.there, self.used);
        if !stopped && holds.is_none() {
            return Ok(None);
        }
        let error = ExecError::Overflow {
            command: command.to_owned(),
            before: self.used,
            used: holds.unwrap_or(self.used),
            limit: self.zone.tenant.limit,
            undone: true,
        };
        self.put_back()?;
        Ok(Some(error.into()))
    }

    fn put_back(self) -> Result<(), Error> {
        let staging = self.zone.store.staging(&self.zone.tenant)?;
        for found in self.directory.list(&ZonePath::root())? {
            if found.path != *self.copy {
                let entry = self.directory.entry(&found.path)?;
                staging.remove(&entry)?.keep()?;
            }
        }
        let target = self.directory.target(self.copy)?;
        self.content.install(target)?.keep();
        Ok(())
    }
}
