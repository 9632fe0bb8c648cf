//! A change of which nobody can say beforehand what it will touch, as a command makes.
//!
//! It is asked for like every other change, and its intent is entered before it begins. What it did
//! is found when it is over: taken into history and into the registry, also where the command was
//! stopped, or undone where it wrote more than fits or, in a group, what was not the caller's.

mod taking_in;

use std::rc::Rc;

use super::GroupTransaction;
use super::access::ZoneHold;
use super::finished::Finished;
use super::space::{Space, SpaceError, is_over};
use crate::Error;
use crate::running::Growing;
use crate::zone::Zone;
use fileshed_history::{Author, History, Position};
use fileshed_registry::{Intent, NewIntent, OwnershipChange, OwnershipEffect};
use fileshed_rules::Growth;
use fileshed_storage::{DiskError, Entry, Staged, Target, Totals, Vacancy};

/// Message of the commit that takes back what another one took in of an unfinished command.
const UNDONE: &str = "Take back what an unfinished command wrote";

/// What is known of such a change before it happens.
#[derive(Clone, Debug)]
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
    /// Where it begins and whose its new files will be, as the registry has it.
    written: Option<String>,
    /// Where history is before it, if nobody else writes meanwhile: git may change its references.
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
        let mut permit = self.prepare(request, hold)?;
        permit.intent = Some(self.store.registry().begin(&permit.new_intent())?);
        Ok(permit)
    }

    /// Asks the same for a change of several zones, by the same command. Nothing of it is a group.
    pub(crate) fn open_ended_together(
        zones: &[&'a Self],
        request: &OpenEndedRequest,
    ) -> Result<Vec<OpenEndedPermit<'a>>, Error> {
        let permits = zones.iter().map(|zone| zone.prepare(request.clone(), None));
        let mut permits = permits.collect::<Result<Vec<_>, Error>>()?;
        let plans: Vec<_> = permits.iter().map(OpenEndedPermit::new_intent).collect();
        let intents = match zones.first() {
            Some(zone) => zone.store.registry().begin_all(&plans)?,
            None => Vec::new(),
        };
        drop(plans);
        for (permit, intent) in permits.iter_mut().zip(intents) {
            permit.intent = Some(intent);
        }
        Ok(permits)
    }

    /// A permit whose intent is not entered yet.
    fn prepare(
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
        let written = match (&transaction, &start) {
            (Some((_, _, change)), _) => Some(change.written()),
            (None, Some(start)) => Some(command(String::new(), String::new(), start).written()),
            (None, None) => None,
        };
        Ok(OpenEndedPermit {
            zone: self,
            request,
            author: self.author(),
            transaction,
            written,
            start,
            growing,
            intent: None,
            hold,
        })
    }
}

impl<'a> OpenEndedPermit<'a> {
    /// What is entered before the change begins.
    fn new_intent(&self) -> NewIntent<'_> {
        let zone = self.zone;
        NewIntent {
            tenant: &zone.tenant.key,
            zone: zone.name().as_str(),
            instance: zone.store.instance(),
            operation: self.request.operation,
            author_name: &self.author.name,
            author_email: &self.author.email,
            bytes: 0,
            files: 0,
            limit: zone.tenant.limit,
            most_files: zone.store.settings().max_files,
            ownership_change: self.written.as_deref(),
        }
    }

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

    /// The change is over, or was `stopped` for its space: what it did is entered.
    pub(crate) fn finish(mut self, stopped: bool) -> Result<Finished, Error> {
        let zone = self.zone;
        if self.request.command == "git" {
            fileshed_history::size::forget(&zone.base);
        }
        let Some(intent) = self.intent else {
            return Ok(Finished::default());
        };
        let entered = self.enter(stopped, intent);
        zone.store.changed();
        self.intent = None;
        let finished = match entered {
            Ok(finished) => finished,
            Err(error) => {
                zone.store.leave_to_repair(&zone.tenant.key, intent);
                return Err(zone.explain(error));
            }
        };
        self.hold = None;
        zone.store.make_space(&zone.tenant, Totals::default())?;
        zone.store.reserve().keep();
        Ok(Finished {
            refused: finished.refused.map(|error| zone.explain(error)),
            ..finished
        })
    }

    /// Finds what was changed, and takes it into history or puts it back; then the intent is done.
    fn enter(&self, stopped: bool, intent: Intent) -> Result<Finished, Error> {
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
            let (finished, ownership_change) = outcome.into_parts();
            let registry = zone.store.registry();
            registry.record_intent(intent, &ownership_change)?;
            registry.commit(intent)?;
            return Ok(finished);
        }
        let _hold = match &self.hold {
            Some(_) => None,
            None => Some(zone.hold()?),
        };
        self.take_in(&space, intent)
    }
}

impl OpenEndedPermit<'_> {
    /// Gives a file its content back.
    #[expect(clippy::unused_self, reason = "who has no permit has no effect")]
    pub(crate) fn put_back(&self, content: Staged, target: Target) -> Result<(), Error> {
        content.install(target)?.keep();
        Ok(())
    }

    /// Gives an entry another name.
    pub(crate) fn rename(&self, entry: &Entry, vacancy: Vacancy) -> Result<(), DiskError> {
        entry.rename(vacancy, &self.zone.store.staging(&self.zone.tenant)?)
    }

    /// Gives an entry the name of another one, which goes.
    #[expect(clippy::unused_self, reason = "who has no permit has no effect")]
    pub(crate) fn replace(&self, entry: &Entry, taken: &Entry) -> Result<(), DiskError> {
        entry.replace(taken)
    }
}

impl Drop for OpenEndedPermit<'_> {
    fn drop(&mut self) {
        let Some(intent) = self.intent.take() else {
            return;
        };
        let zone = self.zone;
        zone.store.leave_to_repair(&zone.tenant.key, intent);
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
            let key = (zone.tenant.key.as_str(), zone.name().as_str());
            let seen = zone.store.running().snapshot(key, &zone.data)?;
            let count = seen.directories();
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
    let mode = zone.mode().unwrap_or_default().as_str().to_owned();
    let ownership_change = command(zone.user().to_owned(), mode, &start);
    Ok((transaction, start, ownership_change))
}

/// What the registry keeps of a command that begins at `start`.
fn command(owner: String, mode: String, start: &Position) -> OwnershipChange {
    OwnershipChange {
        owner,
        mode,
        asked: false,
        effect: OwnershipEffect::Command {
            reference: start.reference.clone(),
            commit: start.commit.clone(),
            references: start.references.clone(),
        },
    }
}
