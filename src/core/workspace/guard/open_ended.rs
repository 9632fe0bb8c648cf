//! A change of which nobody can say beforehand what it will touch, as a command makes.
//!
//! It is asked for like every other change, and its intent is entered before it begins. What it did
//! is found when it is over: taken into history and into the registry, also where the command was
//! stopped, or undone where it wrote more than fits or, in a group, what was not the caller's.

use std::rc::Rc;

use super::GroupTransaction;
use super::access::ZoneHold;
use super::space::{Space, SpaceError, is_over};
use crate::Error;
use crate::running::Growing;
use crate::zone::Zone;
use fileshed_history::{Author, Found, History, Position};
use fileshed_registry::{Intent, NewIntent, OwnershipChange, OwnershipEffect};
use fileshed_rules::Growth;
use fileshed_storage::{DiskError, Entry, Snapshot, Staged, Target, Totals, Vacancy};

/// Message of the commit that takes back what another one took in of an unfinished command.
const UNDONE: &str = "Take back what an unfinished command wrote";

/// What is known of such a change before it happens.
#[derive(Debug)]
pub(crate) struct OpenEndedRequest {
    /// The name for logs, and for the commit of a repair.
    pub(crate) operation: &'static str,
    /// The command that makes it.
    pub(crate) command: &'static str,
    /// What it can do to the space of the zone.
    pub(crate) growth: Growth,
    /// The message of its commit.
    pub(crate) message: String,
}

/// The right to change anything in a zone. Dropped without [`OpenEndedPermit::finish`], the zone is
/// repaired with the next call.
#[must_use = "what changed must be entered"]
pub(crate) struct OpenEndedPermit<'a> {
    zone: &'a Zone<'a>,
    request: OpenEndedRequest,
    author: Author,
    /// In a group, where it begins and whose its new files will be.
    transaction: Option<(GroupTransaction<'a>, Position, OwnershipChange)>,
    /// Where history is before it, if nobody else writes meanwhile.
    start: Option<Position>,
    growing: Option<Rc<Growing<'a>>>,
    intent: Option<Intent>,
    hold: Option<ZoneHold<'a>>,
}

impl<'a> Zone<'a> {
    /// Asks everything that may forbid such a change. With a `hold`, nobody else writes meanwhile;
    /// in a group that is always so, because what was changed is judged afterwards and put back as
    /// a whole.
    pub(crate) fn open_ended(
        &'a self,
        request: OpenEndedRequest,
        hold: Option<ZoneHold<'a>>,
    ) -> Result<OpenEndedPermit<'a>, Error> {
        match request.growth {
            Growth::Likely => self.expect_space(0)?,
            Growth::Either | Growth::Directories | Growth::Never | Growth::Removes => {
                self.store.reserve().release();
            }
        }
        if request.growth != Growth::Removes {
            self.expect_history_space()?;
        }
        let transaction = GroupTransaction::of(self)?;
        let hold = match hold {
            None if transaction.is_some() => Some(self.hold()?),
            hold => hold,
        };
        let transaction = transaction
            .map(|transaction| begin(transaction, self))
            .transpose()?;
        let start = match &hold {
            Some(_) if transaction.is_none() && self.name().is_versioned() => {
                Some(self.history(History::position)?)
            }
            _ => None,
        };
        let growing = match request.growth {
            Growth::Directories | Growth::Never | Growth::Removes => None,
            Growth::Either | Growth::Likely => {
                let (tenant, name) = (&self.tenant.key, self.name().as_str());
                let may_be_over = request.growth == Growth::Either;
                let running = self.store.running();
                let growing = running.begin(tenant, name, &self.data, may_be_over)?;
                Some(Rc::new(growing))
            }
        };
        expect_directories(self, request.growth, growing.as_deref())?;
        let author = self.author();
        let written = transaction
            .as_ref()
            .map(|(_, _, ownership_change)| ownership_change.written());
        let intent = self.store.registry().begin(&NewIntent {
            tenant: &self.tenant.key,
            zone: self.name().as_str(),
            instance: self.store.instance(),
            operation: request.operation,
            author_name: &author.name,
            author_email: &author.email,
            bytes: 0,
            files: 0,
            limit: self.tenant.limit,
            most_files: self.store.settings().max_files,
            ownership_change: written.as_deref(),
        })?;
        Ok(OpenEndedPermit {
            zone: self,
            request,
            author,
            transaction,
            start,
            growing,
            intent: Some(intent),
            hold,
        })
    }
}

impl<'a> OpenEndedPermit<'a> {
    /// Says, whenever it is asked, whether the change must stop for the space that it takes; nothing
    /// where it takes none.
    pub(crate) fn must_stop(&self) -> Option<impl Fn() -> bool + use<'a>> {
        let (zone, growing) = (self.zone, self.growing.clone()?);
        Some(move || is_over(zone, &growing))
    }

    /// Takes an entry away.
    pub(crate) fn remove(&self, entry: &Entry) -> Result<(), Error> {
        let staging = self.zone.store.staging(&self.zone.tenant)?;
        Ok(staging.remove(entry)?.keep()?)
    }

    /// The change is over, or was `stopped` for its space: what it did is entered. Gives the refusal
    /// where it was put back.
    pub(crate) fn finish(mut self, stopped: bool) -> Result<Option<Error>, Error> {
        let zone = self.zone;
        if self.request.command == "git" {
            fileshed_history::size::forget(&zone.base);
        }
        let entered = self.enter(stopped);
        zone.store.flusher().changed();
        let Some(intent) = self.intent.take() else {
            return Ok(None);
        };
        let registry = zone.store.registry();
        let entered = entered.and_then(|(refused, ownership_change)| {
            if let Some(ownership_change) = ownership_change {
                registry.record_intent(intent, &ownership_change)?;
            }
            registry.commit(intent)?;
            Ok(refused)
        });
        let refused = match entered {
            Ok(refused) => refused,
            Err(error) => {
                registry.orphan(intent)?;
                return Err(zone.explain(error));
            }
        };
        self.hold = None;
        zone.store.reserve().keep();
        Ok(refused.map(|error| zone.explain(error)))
    }

    /// Finds what was changed, and takes it into history or puts it back. Gives the refusal, and in
    /// a group what became of ownership.
    fn enter(&self, stopped: bool) -> Result<(Option<Error>, Option<OwnershipChange>), Error> {
        let zone = self.zone;
        let space = Space {
            zone,
            command: self.request.command,
            growing: self.growing.as_deref(),
            stopped,
        };
        if let Some((transaction, start, ownership_change)) = &self.transaction {
            let (message, now) = (&self.request.message, zone.store.clock().now());
            let author = &self.author;
            let outcome =
                transaction.judge(ownership_change, start, message, author, now, Some(&space))?;
            let (refused, ownership_change) = outcome.into_parts();
            return Ok((refused, Some(ownership_change)));
        }
        let _hold = match &self.hold {
            Some(_) => None,
            None => Some(zone.hold()?),
        };
        Ok((self.take_in(&space)?, None))
    }

    /// Commits what was changed, where the zone has history, and enters its space; or undoes it and
    /// says why. Nobody else writes meanwhile.
    fn take_in(&self, space: &Space<'_>) -> Result<Option<Error>, Error> {
        let (zone, author, start) = (self.zone, &self.author, self.start.as_ref());
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
                let captured =
                    repository.capture_found(found, &self.request.message, author, now)?;
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
}

#[expect(clippy::unused_self, reason = "who has no permit has no effect")]
impl OpenEndedPermit<'_> {
    /// Gives a file its content back.
    pub(crate) fn put_back(&self, content: Staged, target: Target) -> Result<(), Error> {
        content.install(target)?.keep();
        Ok(())
    }

    /// Gives an entry another name.
    pub(crate) fn rename(&self, entry: &Entry, vacancy: Vacancy) -> Result<(), DiskError> {
        entry.rename(vacancy)
    }

    /// Gives an entry the name of another one, which goes.
    pub(crate) fn replace(&self, entry: &Entry, taken: &Entry) -> Result<(), DiskError> {
        entry.replace(taken)
    }
}

impl Drop for OpenEndedPermit<'_> {
    fn drop(&mut self) {
        let Some(intent) = self.intent.take() else {
            return;
        };
        if let Err(error) = self.zone.store.registry().orphan(intent) {
            tracing::error!(%error, "an open-ended change is still under way in the registry");
        }
    }
}

/// Fails where there are more directories than there may be, and the change could make some.
fn expect_directories(
    zone: &Zone<'_>,
    growth: Growth,
    growing: Option<&Growing<'_>>,
) -> Result<(), Error> {
    let limit = zone.store.settings().max_files;
    let count = match growing {
        Some(growing) => growing.too_many_directories(limit),
        None if growth == Growth::Directories => {
            let (_, count) = zone.data.measure_all()?;
            (count > limit).then_some(count)
        }
        None => None,
    };
    match count {
        None => Ok(()),
        Some(count) => Err(zone.explain(SpaceError::Directories { count, limit }.into())),
    }
}

/// Where a change in a group begins, and whose its new files will be.
fn begin<'a>(
    transaction: GroupTransaction<'a>,
    zone: &Zone<'_>,
) -> Result<(GroupTransaction<'a>, Position, OwnershipChange), Error> {
    let start = transaction.begin(zone.store.clock().now())?;
    let ownership_change = OwnershipChange {
        owner: zone.user().to_owned(),
        mode: zone.mode().unwrap_or_default().as_str().to_owned(),
        asked: false,
        effect: OwnershipEffect::Command {
            reference: start.reference.clone(),
            commit: start.commit.clone(),
        },
    };
    Ok((transaction, start, ownership_change))
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
    let in_history =
        |path: &[u8], kind, known| (known || !is_alone) && fileshed_history::holds(path, kind);
    let gone = zone.data.take_back(kept, in_history)?;
    found.leave(kept, &gone);
    let staging = zone.store.staging(&zone.tenant)?;
    repository.restore(found, Some(kept), &staging)?;
    let stays = |path: &[u8], kind, _| !is_alone && fileshed_history::holds(path, kind);
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
