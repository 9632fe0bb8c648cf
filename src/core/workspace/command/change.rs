//! What a command changed: taken into history and into the ledger, also when it was stopped, or
//! undone where it wrote more than fits.

use std::rc::Rc;

use super::outcome::CommandOutcome;
use super::running::Growing;
use super::{CommandLine, ExecError};
use crate::Error;
use crate::disk::{Snapshot, Totals};
use crate::guard::GroupTransaction;
use crate::history::{self, Author, Found, History, Position, subject};
use crate::policy::{CommandPlan, Growth};
use crate::registry::{self, OwnershipChange, OwnershipEffect};
use crate::sandbox::Ending;
use crate::write_lock::WriteLock;
use crate::zone::Zone;

/// Message of the commit that takes back what another one took in of an unfinished command.
const UNDONE: &str = "Take back what an unfinished command wrote";

/// Runs something that may change anything in the zone, and takes what it changed into history
/// and into the ledger, also when it was stopped. With a `write_lock`, nobody else writes meanwhile; in
/// a group always, because what was changed is judged afterwards and put back as a whole. Gives
/// the refusal with the outcome where it was put back.
pub(super) fn changing<'a>(
    zone: &'a Zone<'a>,
    line: &CommandLine<'_>,
    plan: &CommandPlan,
    write_lock: Option<WriteLock<'_>>,
    effect: impl FnOnce(Option<Rc<Growing<'a>>>) -> Result<CommandOutcome, Error>,
) -> Result<(CommandOutcome, Option<Error>), Error> {
    let author = zone.author();
    match plan.growth {
        Growth::Likely => zone.expect_space(0)?,
        Growth::Either | Growth::Directories | Growth::Never | Growth::Removes => {
            zone.store.reserve().release();
        }
    }
    if plan.growth != Growth::Removes {
        zone.expect_history_space()?;
    }
    let stand = GroupTransaction::of(zone)?;
    let write_lock = match write_lock {
        None if stand.is_some() => Some(zone.write_lock()?),
        write_lock => write_lock,
    };
    let begun = stand.as_ref().map(|stand| begin(stand, zone)).transpose()?;
    let start = match &write_lock {
        Some(_) if stand.is_none() && zone.name().is_versioned() => {
            Some(zone.history(History::position)?)
        }
        _ => None,
    };
    let written = begun
        .as_ref()
        .map(|(_, ownership_change)| ownership_change.written());
    let entering = registry::NewIntent {
        tenant: &zone.tenant.key,
        zone: zone.name().as_str(),
        instance: zone.store.instance(),
        operation: "shed_exec",
        author_name: &author.name,
        author_email: &author.email,
        bytes: 0,
        files: 0,
        limit: zone.tenant.limit,
        most_files: zone.store.settings().max_files,
        ownership_change: written.as_deref(),
    };
    let growing = match plan.growth {
        Growth::Directories | Growth::Never | Growth::Removes => None,
        Growth::Either | Growth::Likely => {
            let (tenant, name) = (&zone.tenant.key, zone.name().as_str());
            let may_be_over = plan.growth == Growth::Either;
            let running = zone.store.running();
            Some(Rc::new(running.begin(
                tenant,
                name,
                &zone.data,
                may_be_over,
            )?))
        }
    };
    expect_directories(zone, plan, growing.as_deref())?;
    let intent = zone.store.registry().begin(&entering)?;
    let outcome = effect(growing.clone());
    if plan.command == "git" {
        history::size::forget(&zone.base);
    }
    let space = Space {
        zone,
        command: plan.command,
        growing: growing.as_deref(),
        stopped: matches!(&outcome, Ok(outcome) if outcome.ending == Ending::OverQuota),
    };
    let taken_in = if let (Some(stand), Some((start, ownership_change))) = (&stand, &begun) {
        let now = zone.store.clock().now();
        let verdict = stand.judge(
            ownership_change,
            start,
            &describe(line),
            &author,
            now,
            Some(&space),
        );
        verdict.and_then(|verdict| stand.enter(verdict, intent))
    } else {
        let taken_in = match &write_lock {
            Some(_) => take_in(zone, line, &author, start.as_ref(), &space),
            None => zone.write_lock().and_then(|_write_lock| {
                let refused = take_in(zone, line, &author, None, &space)?;
                Ok(refused)
            }),
        };
        taken_in.and_then(|refused| {
            zone.store.registry().commit(intent)?;
            Ok(refused)
        })
    };
    zone.store.flusher().changed();
    let refused = match taken_in {
        Ok(refused) => refused,
        Err(error) => {
            zone.store.registry().orphan(intent)?;
            return Err(zone.explain(error));
        }
    };
    drop(write_lock);
    zone.store.reserve().keep();
    Ok((outcome?, refused.map(|error| zone.explain(error))))
}

/// Fails where there are more directories than there may be, and the command could make some.
fn expect_directories(
    zone: &Zone<'_>,
    plan: &CommandPlan,
    growing: Option<&Growing<'_>>,
) -> Result<(), Error> {
    let limit = zone.store.settings().max_files;
    let count = match growing {
        Some(growing) => growing.too_many_directories(limit),
        None if plan.growth == Growth::Directories => {
            let (_, count) = zone.data.measure_all()?;
            (count > limit).then_some(count)
        }
        None => None,
    };
    match count {
        None => Ok(()),
        Some(count) => Err(zone.explain(ExecError::Directories { count, limit }.into())),
    }
}

/// Where a command in a group begins, and whose its new files will be.
fn begin(
    stand: &GroupTransaction<'_>,
    zone: &Zone<'_>,
) -> Result<(Position, OwnershipChange), Error> {
    let start = stand.begin(zone.store.clock().now())?;
    let ownership_change = OwnershipChange {
        owner: zone.user().to_owned(),
        mode: zone.mode().unwrap_or_default().as_str().to_owned(),
        asked: false,
        effect: OwnershipEffect::Command {
            reference: start.reference.clone(),
            commit: start.commit.clone(),
        },
    };
    Ok((start, ownership_change))
}

/// Commits what a command changed, where the zone has history, and enters its space; or undoes it
/// and says why. The caller has the turn.
fn take_in(
    zone: &Zone<'_>,
    line: &CommandLine<'_>,
    author: &Author,
    start: Option<&Position>,
    space: &Space<'_>,
) -> Result<Option<Error>, Error> {
    let seen = match space.growing {
        Some(growing) => growing.look(&zone.data)?,
        None => None,
    };
    let (totals, refused) = if zone.name().is_versioned() {
        let now = zone.store.clock().now();
        History::work(&zone.base, &zone.data, now, |repository| {
            let found = repository.find()?;
            let totals = larger(found.totals(), seen.as_ref());
            if let Some((growing, refused)) = space.excess(totals, true) {
                growing.undo(|kept| put_back(zone, repository, found, start, kept))?;
                let found = repository.find()?;
                let captured = repository.capture_found(found, UNDONE, author, now)?;
                return Ok((captured.totals, Some(refused)));
            }
            let captured = repository.capture_found(found, &describe(line), author, now)?;
            Ok::<_, Error>((captured.totals, None))
        })?
    } else {
        let is_alone = zone.store.is_alone();
        let totals = zone.measure()?;
        match space.excess(larger(totals, seen.as_ref()), is_alone) {
            Some((growing, refused)) => {
                if is_alone {
                    growing.undo(|kept| zone.data.take_back(kept, |_, _, _| false))?;
                }
                (zone.measure()?, Some(refused))
            }
            None => (totals, None),
        }
    };
    let (tenant, name) = (&zone.tenant.key, zone.name().as_str());
    zone.store.registry().measured(tenant, name, totals)?;
    match space.growing {
        Some(growing) if refused.is_none() => growing.settle(seen),
        Some(_) => {}
        None => {
            let beside = space.beside()?;
            let most = zone.tenant.limit.saturating_sub(beside.bytes);
            let running = zone.store.running();
            running.keep_all((tenant, name), &zone.data, most)?;
        }
    }
    Ok(refused)
}

/// Puts documents back to what their history has and what else was there before. What came by a
/// command that is not over goes, also where another one has taken it into history.
fn put_back(
    zone: &Zone<'_>,
    repository: &History,
    mut found: Found,
    start: Option<&Position>,
    kept: &Snapshot,
) -> Result<(), Error> {
    if let Some(start) = start {
        repository.return_to(start)?;
        found = repository.find()?;
    }
    // Another process may have taken in what is not known here.
    let is_alone = zone.store.is_alone();
    let in_history = |path: &[u8], kind, known| (known || !is_alone) && history::holds(path, kind);
    let gone = zone.data.take_back(kept, in_history)?;
    found.leave(kept, &gone);
    let staging = zone.store.staging(&zone.tenant)?;
    repository.restore(found, Some(kept), &staging)?;
    let stays = |path: &[u8], kind, _| !is_alone && history::holds(path, kind);
    zone.data.take_back(kept, stays)?;
    Ok(())
}

/// What was there at the worse of two moments.
fn larger(totals: Totals, seen: Option<&Snapshot>) -> Totals {
    match seen.map(Snapshot::totals) {
        Some(seen) if seen.bytes > totals.bytes => seen,
        _ => totals,
    }
}

/// What a command did to the space of its home.
pub(crate) struct Space<'a> {
    zone: &'a Zone<'a>,
    command: &'static str,
    growing: Option<&'a Growing<'a>>,
    /// Whether it was stopped for it.
    stopped: bool,
}

impl<'a> Space<'a> {
    /// What the other zones of the home hold.
    fn beside(&self) -> Result<Totals, Error> {
        let usage = self.zone.store.registry().usage(&self.zone.tenant.key)?;
        let own = self.zone.name().as_str();
        let others = usage.iter().filter(|usage| usage.zone != own);
        Ok(others.fold(Totals::default(), |sum, usage| Totals {
            bytes: sum.bytes + usage.totals.bytes,
            files: sum.files + usage.totals.files,
        }))
    }

    /// The refusal of a command that leaves so much in its zone, where that is too much and more
    /// than before, or where it was stopped on the way there.
    pub(crate) fn excess(&self, totals: Totals, undone: bool) -> Option<(&'a Growing<'a>, Error)> {
        let growing = self.growing?;
        let limit = self.zone.tenant.limit;
        let beside = self.beside().ok()?;
        let most = self.zone.store.settings().max_files;
        // The pointer to the repository is no file of the user's.
        let own = u64::from(self.zone.name().is_versioned());
        let files_before = growing.before().files.saturating_sub(own);
        let directories = growing.too_many_directories(most);
        let files = beside.files + totals.files;
        let too_many = if directories.is_some() {
            directories.map(|count| ("directories", count))
        } else {
            (files > most && growing.is_to_blame(totals.files, files_before))
                .then_some(("files", files))
        };
        if let Some((what, count)) = too_many {
            let refused = ExecError::TooMany {
                command: self.command.to_owned(),
                what,
                count,
                limit: most,
                undone,
            };
            return Some((growing, refused.into()));
        }
        let beside = beside.bytes;
        let (before, used) = (growing.before().bytes, totals.bytes);
        let is_over = beside + used > limit && growing.is_to_blame(used, before);
        (is_over || self.stopped || growing.is_undone()).then(|| {
            let refused = ExecError::Overflow {
                command: self.command.to_owned(),
                before: beside + before,
                used: beside + used,
                limit,
                undone,
            };
            (growing, refused.into())
        })
    }
}

/// The command line as a commit message.
fn describe(line: &CommandLine<'_>) -> String {
    let words = std::iter::once(line.command).chain(line.arguments.iter().map(String::as_str));
    subject(&words.collect::<Vec<_>>().join(" "))
}
