//! A change of which nobody can say beforehand what it will touch, as a command makes.
//!
//! It is asked for like every other change, and its intent is recorded before it begins. What it did
//! is found when it is over, and committed to history and registry, also if the command was stopped.
//! A command that has the write lock of a zone with history while it runs is put back to the last
//! commit if it wrote more than fits or, in a group, what was not the caller's.

#![expect(
    clippy::disallowed_methods,
    reason = "intents are recorded and ended here"
)]

mod commit_changes;
mod effects;
mod space;

use std::collections::HashSet;
use std::rc::Rc;
use std::time::Duration;

use crate::former::{ExpectedChange, FormerFiles};
pub use crate::judge::Finished;
use crate::judge::SpaceLimits;
use crate::permit::{new_change, new_intent, show_change};
pub(crate) use commit_changes::commit_outside;
use effects::Effects;
use fileshed_history::{Author, History, PreparedContent, ReferenceState};
use fileshed_registry::{Change, Intent, NewIntent, OwnershipChange, OwnershipEffect, Record};
use fileshed_rules::Growth;
use fileshed_storage::{DiskError, Entry, Staged, Target, Totals, Vacancy};
use fileshed_types::{Error, timings};
use fileshed_zones::watched::Unsettled;
use fileshed_zones::write_lock::WriteLock;
use fileshed_zones::zone::{Zone, ZonePath};
pub use space::begin_edit;
use space::{CommandSpace, SpaceError};

/// Message of the commit of what came by other ways than through the server.
const OUTSIDE: &str = "Take in what came from outside";

/// The operation of lines of shells, which write without the write lock.
pub const LINE: &str = "terminal";

/// Description of such a change before it happens.
#[derive(Clone, Debug)]
pub struct OpenEndedRequest {
    /// The name for logs, and for the commit of a repair.
    pub operation: &'static str,
    /// The command that makes it.
    pub command: &'static str,
    /// Its possible effect on the space of the zone.
    pub growth: Growth,
    /// The message of its commit.
    pub message: String,
}

/// The right to change anything in a zone. Dropped without [`OpenEndedPermit::finish`], the zone is
/// repaired with the next call.
#[must_use = "what changed must be entered"]
pub struct OpenEndedPermit<'a> {
    zone: &'a Zone<'a>,
    request: OpenEndedRequest,
    author: Author,
    /// The position of history at which it begins, and the owner of its new files: in a group, and
    /// before git, which may change references of the history.
    begun: Option<OwnershipChange>,
    /// The same, as the registry has it.
    written: Option<String>,
    space: Option<Rc<CommandSpace<'a>>>,
    /// The entry for the list of changes.
    change: Change,
    /// The changes that are expected of it.
    former: FormerFiles,
    /// Its changes in a zone without history that its arguments do not name.
    effects: Option<Effects>,
    /// The paths that it changed in a zone with history, if they are known.
    paths: Option<Vec<ZonePath>>,
    /// Contents of files there that need not be read for the commit.
    contents: Vec<PreparedContent>,
    intent: Option<Intent>,
    hold: Option<WriteLock>,
}

/// Asks everything that may forbid such a change. In a zone with history, nobody else writes
/// until it is over, because it may have to be put back as a whole; `hold` is its write lock, if
/// the caller has it already.
pub fn begin<'a>(
    zone: &'a Zone<'a>,
    request: OpenEndedRequest,
    hold: Option<WriteLock>,
) -> Result<OpenEndedPermit<'a>, Error> {
    let mut permit = prepare(zone, request, || match hold {
        None if zone.name.is_versioned() => crate::hold(zone).map(Some),
        hold => Ok(hold),
    })?;
    permit.intent = Some(zone.store.registry.begin(permit.new_intent())?);
    Ok(permit)
}

/// Asks the same for a change of several zones, by a command that takes their write locks only to
/// commit. None of them is a group.
pub fn begin_together<'a>(
    zones: &[&'a Zone<'a>],
    request: &OpenEndedRequest,
) -> Result<Vec<OpenEndedPermit<'a>>, Error> {
    let permits = zones
        .iter()
        .map(|zone| prepare(zone, request.clone(), || Ok(None)));
    let mut permits = permits.collect::<Result<Vec<_>, Error>>()?;
    let plans: Vec<_> = permits.iter().map(OpenEndedPermit::new_intent).collect();
    let intents = match zones.first() {
        Some(zone) => zone.store.registry.begin_together(&plans)?,
        None => Vec::new(),
    };
    drop(plans);
    for (permit, intent) in permits.iter_mut().zip(intents) {
        permit.intent = Some(intent);
    }
    Ok(permits)
}

/// Returns `true` if lines of shells may be writing in the zone.
fn has_lines(zone: &Zone<'_>) -> Result<bool, Error> {
    let place = (zone.tenant.key.as_str(), zone.name.as_str());
    Ok(zone.store.registry.is_under_way(place, LINE)?)
}

/// A permit whose intent is not recorded yet.
fn prepare<'a>(
    zone: &'a Zone<'a>,
    request: OpenEndedRequest,
    hold: impl FnOnce() -> Result<Option<WriteLock>, Error>,
) -> Result<OpenEndedPermit<'a>, Error> {
    match request.growth {
        Growth::Likely => zone.expect_space(0)?,
        Growth::Either | Growth::Directories | Growth::Never | Growth::Removes => {
            zone.store.reserve.release();
        }
    }
    if request.growth != Growth::Removes {
        zone.expect_history_space()?;
    }
    let hold = hold()?;
    let is_shared = zone.group.is_some();
    let mut start = is_shared.then(|| begin_in_group(zone)).transpose()?;
    let has_documents = hold.is_some() && !is_shared;
    let is_git = has_documents && request.command == "git";
    let space = CommandSpace::begin(zone, request.command, request.growth, || {
        // Changes that came by other ways are for `git commit` to commit.
        let may_commit = is_git && request.growth == Growth::Either;
        Ok(is_shared || has_documents && !may_commit && commit_changes::settle(zone)?)
    })?;
    if is_git {
        start = Some(zone.history(History::position)?);
    }
    let begun = start.map(|start| begun_at(zone, start));
    Ok(OpenEndedPermit {
        zone,
        author: zone.author(),
        written: begun.as_ref().map(OwnershipChange::written),
        begun,
        space,
        change: new_change(zone, request.command)?,
        effects: Effects::begin(zone, request.command)?,
        former: FormerFiles::default(),
        paths: None,
        contents: Vec::new(),
        request,
        intent: None,
        hold,
    })
}

/// The position of history before a command in a group. Changes that did not come through the
/// server are committed first, because they could not be put back.
fn begin_in_group(zone: &Zone<'_>) -> Result<ReferenceState, Error> {
    let (author, now) = (Author::server(), zone.store.clock.now());
    zone.history(|history| {
        history.capture(OUTSIDE, &author, now)?;
        history.remember_inodes()?;
        history.position()
    })
}

/// Returns the registry's record of a command that begins at `start`.
fn begun_at(zone: &Zone<'_>, start: ReferenceState) -> OwnershipChange {
    let (owner, mode) = match zone.mode() {
        Some(mode) => (zone.user(), mode.as_str()),
        None => ("", ""),
    };
    OwnershipChange {
        owner: owner.to_owned(),
        mode: mode.to_owned(),
        asked: false,
        effect: OwnershipEffect::Command {
            reference: start.reference,
            commit: start.commit,
            references: start.references,
            former: Vec::new(),
        },
    }
}

impl<'a> OpenEndedPermit<'a> {
    /// Returns the intent that is recorded before the change begins.
    fn new_intent(&self) -> NewIntent<'_> {
        let zone = self.zone;
        let maker = (self.request.operation, &self.author);
        NewIntent {
            ownership_change: self.written.as_deref(),
            change: Some(&self.change),
            ..new_intent(zone.store, &zone.tenant, zone.name, maker)
        }
    }

    /// Returns what tells, whenever it is asked, that the change must stop for the space that it
    /// takes; `None` if it takes none.
    #[must_use]
    pub fn must_stop(&self) -> Option<impl Fn() -> bool + use<'a>> {
        let space = self.space.clone()?;
        Some(move || space.must_stop())
    }

    /// Takes the write lock to commit, of a change that goes on; fails if another change has it.
    pub fn hold_now(&mut self) -> Result<(), Error> {
        self.hold_within(Duration::ZERO)
    }

    /// Takes the write lock to commit, of a change that nothing goes on with. Waits for a command, as
    /// long as one may run.
    pub fn hold_at_end(&mut self) -> Result<(), Error> {
        let settings = &self.zone.store.settings;
        let command = timings::seconds(settings.exec_timeout_max);
        self.hold_within(command + settings.timings.calls.write_lock)
    }

    fn hold_within(&mut self, patience: Duration) -> Result<(), Error> {
        if self.hold.is_none() {
            self.hold = Some(crate::hold_within(self.zone, patience)?);
        }
        Ok(())
    }

    /// Gives the write lock back, of a change that goes on.
    pub fn release(&mut self) {
        self.hold = None;
    }

    /// Keeps what the change is expected to replace, to be asked for before it begins.
    pub fn expect(&mut self, changes: Vec<ExpectedChange>) {
        self.former = FormerFiles::look(self.zone, changes);
    }

    /// The same for a database.
    pub fn expect_database(&mut self, database: ZonePath) -> Result<(), Error> {
        self.former = FormerFiles::of_database(self.zone, &self.change, &[database])?;
        Ok(())
    }

    /// Enters what did change in a zone without history; returns files that cannot come back, and what is
    /// known of the space of the zone.
    fn enter_steps(&mut self, intent: Intent) -> Result<(Finished, Option<Unsettled>), Error> {
        let (zone, mut finished) = (self.zone, Finished::default());
        let is_database = self.former.is_database();
        let (mut steps, lost) = std::mem::take(&mut self.former).enter(zone)?;
        finished.lost = lost;
        let found = match self.effects.take() {
            Some(effects) if !is_database => {
                effects.enter(zone, intent, &mut steps, &mut finished)?
            }
            _ => None,
        };
        if !steps.is_empty() {
            self.change.set_steps(&steps);
        }
        Ok((finished, found))
    }

    /// Gives files that come back, in a group, to whom they belonged.
    pub(crate) fn give_back(&mut self, owners: Vec<Record>) -> Result<(), Error> {
        if let (Some(begun), Some(intent)) = (&mut self.begun, self.intent)
            && let OwnershipEffect::Command { former, .. } = &mut begun.effect
            && !owners.is_empty()
        {
            *former = owners;
            self.zone.store.registry.record_intent(intent, begun)?;
        }
        Ok(())
    }

    /// Says which paths it changed, in a zone with history, and which contents need not be read for the commit.
    pub(crate) fn know(&mut self, paths: Vec<ZonePath>, contents: Vec<PreparedContent>) {
        self.paths = Some(paths);
        self.contents = contents;
    }

    /// Says which changes and parts of changes it takes back.
    pub(crate) fn undoes(&mut self, text: String) {
        self.change.undoes = Some(text);
    }

    /// Takes an entry away.
    pub fn remove(&self, entry: &Entry) -> Result<(), Error> {
        let staging = self.zone.store.staging(&self.zone.tenant)?;
        Ok(staging.remove(entry)?.keep()?)
    }

    /// The change does not take place: it has touched nothing.
    pub(crate) fn cancel(mut self) -> Result<(), Error> {
        match self.intent.take() {
            Some(intent) => Ok(self.zone.store.registry.commit(intent)?),
            None => Ok(()),
        }
    }

    /// The change is over: what it did is entered.
    pub fn finish(mut self) -> Result<Finished, Error> {
        let zone = self.zone;
        if self.request.command == "git" {
            fileshed_history::size::forget(&zone.base);
        }
        let Some(intent) = self.intent else {
            return Ok(Finished::default());
        };
        // Files that it wrote are not newer than the change.
        self.change.changed_at = zone.store.clock.now().as_second();
        let held = self.hold_within(zone.store.settings.timings.calls.write_lock);
        let entered = held.and_then(|()| {
            let (steps, found) = self.enter_steps(intent)?;
            let is_listed = found.is_some();
            let finished = self.commit_changes(intent, found)?;
            if !is_listed {
                // A line that goes on must neither take these changes for its own, nor lose those before.
                Effects::give_up(zone);
            }
            Ok(Finished {
                lost: steps.lost,
                is_unlisted: steps.is_unlisted,
                is_uncertain: steps.is_uncertain,
                ..finished
            })
        });
        zone.note_change(None);
        zone.store.changed();
        self.intent = None;
        let finished = match entered {
            Ok(finished) => finished,
            Err(error) => {
                Effects::give_up(zone);
                zone.store.leave_to_repair(&zone.tenant.key, intent);
                return Err(zone.explain(error));
            }
        };
        self.hold = None;
        show_change(zone, &self.change);
        zone.store.make_space(&zone.tenant, Totals::default())?;
        zone.store.reserve.keep();
        Ok(Finished {
            refused: finished.refused.map(|error| zone.explain(error)),
            ..finished
        })
    }

    /// Gives a file this content.
    pub fn install(&self, content: Staged, target: Target) -> Result<(), Error> {
        content.install(target)?.keep();
        Ok(())
    }

    /// Gives an entry another name.
    pub fn rename(&self, entry: &Entry, vacancy: Vacancy) -> Result<(), DiskError> {
        entry.rename(vacancy, &self.zone.store.staging(&self.zone.tenant)?)
    }

    /// Gives an entry the name of another one, which goes.
    pub fn replace(&self, entry: &Entry, taken: &Entry) -> Result<(), DiskError> {
        entry.replace(taken)
    }

    /// The refusal of a change that leaves so much in its zone.
    fn excess(&self, totals: Totals) -> Result<Option<SpaceError>, Error> {
        match &self.space {
            Some(space) => space.excess(totals),
            None => Ok(None),
        }
    }
}

impl SpaceLimits for OpenEndedPermit<'_> {
    fn refusals(&self, totals: Totals) -> Result<Option<(Error, Error)>, Error> {
        let excess = self.excess(totals)?;
        Ok(excess.map(|excess| (excess.clone().into(), excess.undone().into())))
    }

    fn directories_if_alone(&self) -> Result<Option<&HashSet<Box<[u8]>>>, Error> {
        let space = self.space.as_ref();
        let Some(directories) = space.and_then(|space| space.directories.as_ref()) else {
            return Ok(None);
        };
        Ok((!has_lines(self.zone)?).then_some(directories))
    }
}

impl Drop for OpenEndedPermit<'_> {
    fn drop(&mut self) {
        let Some(intent) = self.intent.take() else {
            return;
        };
        let zone = self.zone;
        Effects::give_up(zone);
        zone.store.leave_to_repair(&zone.tenant.key, intent);
    }
}
