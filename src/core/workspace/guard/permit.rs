//! Write lock, permit, change: the only way to an effect.

mod change;
mod in_place;

pub use change::Change;
pub(super) use change::Effect;

use super::bin_move::BinMove;
use super::change_request::{ChangeRequest, RequestKind};
use super::{client_lock, edits, encrypted, owner};
use crate::write_lock::WriteLock;
use crate::zone::{Zone, ZonePath};
use crate::{Error, diagnostics};
use fileshed_history::{Author, CommitId};
use fileshed_registry::{
    Intent, NewIntent, OwnershipChange, OwnershipEffect, PathTable, RegistryError,
};
use fileshed_storage::{
    Appendable, DiskError, Entry, Merge, Renamed, StagedEntry, Staging, Target, Totals, Vacancy,
};
use fileshed_types::settings::MEBIBYTE;

/// The write lock of one zone, for its caller.
#[derive(Debug)]
pub struct Writer<'a> {
    zone: &'a Zone<'a>,
    operation: &'static str,
    staging: Staging,
    /// Until it is given back.
    write_lock: Option<WriteLock<'a>>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(zone: &'a Zone<'a>, operation: &'static str) -> Result<Self, Error> {
        zone.expect_write_scope()?;
        let write_lock = zone.write_lock()?;
        Ok(Self {
            zone,
            operation,
            staging: zone.store.staging(&zone.tenant)?,
            write_lock: Some(write_lock),
        })
    }

    pub(super) fn zone(&self) -> &'a Zone<'a> {
        self.zone
    }

    /// Whether the zone is a group's.
    pub(super) fn is_shared(&self) -> bool {
        self.zone.group.is_some()
    }

    /// Where new content is prepared.
    #[must_use]
    pub fn staging(&self) -> &Staging {
        &self.staging
    }

    /// A file to whose end `added` may be written where it lies, which takes the same time however
    /// large the file is; nothing where it has to be copied. History takes in whole files, so there
    /// it is.
    pub fn appendable(&self, entry: &Entry, added: &[u8]) -> Result<Option<Appendable>, Error> {
        if self.zone.name.is_versioned() {
            return Ok(None);
        }
        let living = || self.zone.store.live_instances();
        Ok(self.staging.appendable(entry, added, living)?)
    }

    /// Asks everything that may forbid the change.
    pub fn guard(self, needs: ChangeRequest) -> Result<Permit<'a>, Error> {
        let request = self.ask(needs)?;
        let zone = request.zone();
        let begin = || zone.store.registry().begin(&request.plan());
        let intent = zone
            .store
            .making_space(&zone.tenant, request.growth(), begin)
            .map_err(|error| zone.explain(error))?;
        Ok(request.grant(intent))
    }

    /// Asks everything but the space.
    pub(super) fn ask(self, needs: ChangeRequest) -> Result<CheckedRequest<'a>, Error> {
        let zone = self.zone;
        zone.caller().cancellation.trust().expect()?;
        let limit = zone.store.settings().largest_file();
        if let Some((path, size)) = needs.largest.clone().filter(|(_, size)| *size > limit) {
            return Err(SizeError { path, size, limit }.into());
        }
        let own = needs.ends_edit.as_ref().map(|lock| lock.path.as_str());
        for path in &needs.paths {
            if own != Some(path.key().as_str()) {
                client_lock::check(zone, path)?;
            }
        }
        owner::check(zone, &needs.paths)?;
        if !matches!(needs.kind, RequestKind::Removed) {
            zone.expect_history_space()?;
        }
        Ok(CheckedRequest {
            author: zone.author(),
            ownership_change: needs
                .effect()
                .and_then(|effect| ownership_change(zone, effect))
                .map(|ownership_change| ownership_change.written()),
            writer: self,
            needs,
        })
    }
}

/// A change that nothing forbids, as far as its space was not asked for yet.
#[derive(Debug)]
pub(super) struct CheckedRequest<'a> {
    writer: Writer<'a>,
    needs: ChangeRequest,
    author: Author,
    ownership_change: Option<String>,
}

/// What the caller of `zone` does to ownership; nothing outside groups.
fn ownership_change(zone: &Zone<'_>, effect: OwnershipEffect) -> Option<OwnershipChange> {
    zone.mode().map(|mode| OwnershipChange {
        owner: zone.user().to_owned(),
        mode: mode.as_str().to_owned(),
        asked: zone.asked_mode().is_some(),
        effect,
    })
}

impl<'a> CheckedRequest<'a> {
    pub(super) fn zone(&self) -> &'a Zone<'a> {
        self.writer.zone
    }

    pub(super) fn plan(&self) -> NewIntent<'_> {
        let zone = self.zone();
        NewIntent {
            tenant: &zone.tenant.key,
            zone: zone.name.as_str(),
            instance: zone.store.instance(),
            operation: self.writer.operation,
            author_name: &self.author.name,
            author_email: &self.author.email,
            bytes: self.needs.bytes,
            files: self.needs.files,
            limit: zone.tenant.limit,
            most_files: zone.store.settings().max_files,
            ownership_change: self.ownership_change.as_deref(),
        }
    }

    /// What it takes more of the space.
    pub(super) fn growth(&self) -> Totals {
        Totals {
            bytes: self.needs.bytes.max(0) as u64,
            files: self.needs.files.max(0) as u64,
        }
    }

    /// What it gives back of the space.
    pub(super) fn shrinkage(&self) -> Totals {
        Totals {
            bytes: self.needs.bytes.min(0).unsigned_abs(),
            files: self.needs.files.min(0).unsigned_abs(),
        }
    }

    /// The permit, with what was entered for it.
    pub(super) fn grant(self, intent: Intent) -> Permit<'a> {
        Permit {
            request: self,
            intent: Some(intent),
            bin_move: None,
        }
    }
}

/// The right to make one change. Dropped, its space is free again.
#[derive(Debug)]
#[must_use = "a permit is for one change"]
pub struct Permit<'a> {
    request: CheckedRequest<'a>,
    intent: Option<Intent>,
    bin_move: Option<BinMove>,
}

impl<'a> Permit<'a> {
    /// Gives a staged file or directory its name.
    pub fn install(
        self,
        staged: impl Into<StagedEntry>,
        target: Target,
    ) -> Result<Change<'a>, Error> {
        let staged = staged.into();
        encrypted::expect_kept(&target, &staged).map_err(|error| self.zone().explain(error))?;
        self.record_intent(|| arrival(&staged, &target))?;
        self.expect_alive()?;
        let effect = staged
            .install(target)
            .map_err(|error| self.explain(error))?;
        Ok(self.change(Effect::Installed(effect)))
    }

    /// Adds to the end of a file where it lies.
    pub fn append(self, file: Appendable, path: &ZonePath) -> Result<Change<'a>, Error> {
        self.expect_alive()?;
        let effect = self
            .staging()
            .append(file, path)
            .map_err(|error| self.explain(error))?;
        Ok(self.change(Effect::Appended(effect)))
    }

    /// Moves what was staged into a directory that is there.
    pub fn merge(self, merge: Merge) -> Result<Change<'a>, Error> {
        self.record_intent(|| {
            let files = merge.files()?;
            let files = files.iter().map(|path| path.as_str().to_owned()).collect();
            Ok(OwnershipEffect::Add { files })
        })?;
        self.expect_alive()?;
        let effect = merge.carry_out().map_err(|error| self.explain(error))?;
        Ok(self.change(Effect::Several(effect)))
    }

    /// Removes an entry and everything below it.
    pub fn remove(self, entry: &Entry) -> Result<Change<'a>, Error> {
        self.expect_alive()?;
        let effect = self
            .staging()
            .remove(entry)
            .map_err(|error| self.explain(error))?;
        Ok(self.change(Effect::Removed(effect)))
    }

    /// Gives an entry another name.
    pub fn rename(self, entry: &Entry, vacancy: Vacancy) -> Result<Change<'a>, Error> {
        self.expect_alive()?;
        let effect =
            Renamed::new(entry, vacancy, self.staging()).map_err(|error| self.explain(error))?;
        Ok(self.change(Effect::Renamed(effect)))
    }

    /// Gives an entry the place of another one, which goes: whenever the server dies, the place holds
    /// the one or the other, whole.
    pub fn supplant(self, entry: &Entry, taken: &Entry) -> Result<Change<'a>, Error> {
        self.expect_alive()?;
        let effect = encrypted::expect_plain(taken)
            .map_err(|error| self.zone().explain(error))
            .and_then(|()| {
                let moved = self.staging().supplant(entry, taken);
                moved.map_err(|error| self.explain(error))
            })?;
        Ok(self.change(Effect::Several(effect)))
    }

    /// Writes down what the change does to ownership, before it happens.
    fn record_intent(
        &self,
        effect: impl FnOnce() -> Result<OwnershipEffect, DiskError>,
    ) -> Result<(), Error> {
        let zone = self.zone();
        if let (Some(intent), true) = (self.intent, zone.group.is_some())
            && let Some(ownership_change) = ownership_change(zone, effect()?)
        {
            zone.store
                .registry()
                .record_intent(intent, &ownership_change)?;
        }
        Ok(())
    }

    /// The change that took place.
    pub(super) fn change(self, effect: Effect) -> Change<'a> {
        Change {
            effect,
            source: None,
            permit: self,
        }
    }

    /// Says what goes between the zone and the bin with the change.
    pub(super) fn set_bin_move(&mut self, bin_move: BinMove) {
        self.bin_move = Some(bin_move);
    }

    pub(super) fn zone(&self) -> &'a Zone<'a> {
        self.request.zone()
    }

    pub(super) fn staging(&self) -> &Staging {
        &self.request.writer.staging
    }

    pub(super) fn explain(&self, error: DiskError) -> Error {
        self.zone().explain(error.into())
    }

    /// Fails where others may have taken this process for dead: what it was allowed is not any more.
    /// The last that is asked before the disk is changed.
    pub(super) fn expect_alive(&self) -> Result<(), Error> {
        self.zone().store.expect_alive()
    }

    /// Commits what changed, where the zone has history.
    fn enter_history(
        &self,
        message: Option<&str>,
        default: &str,
    ) -> Result<Option<CommitId>, Error> {
        let zone = self.zone();
        if !zone.name.is_versioned() {
            return Ok(None);
        }
        let message = message.filter(|text| !text.trim().is_empty());
        zone.commit_paths(
            &self.request.needs.paths,
            &self.request.needs.prepared,
            message.unwrap_or(default),
            &self.request.author,
        )
    }

    /// What is known of files goes with them, and with those that go; locks of programs stay behind.
    fn move_metadata(&self) {
        let (zone, needs) = (self.zone(), &self.request.needs);
        let registry = zone.store.registry();
        let unlock = |path: &ZonePath| registry.forget_client_locks(zone.place(&path.key()));
        let moved = match (needs.kind, needs.paths.as_slice()) {
            (RequestKind::Removed, [at]) => unlock(at)
                .and_then(|()| registry.forget_rows(&PathTable::ALL, zone.place(at.as_str()))),
            // The rest goes into the bin with it.
            (RequestKind::Discarded, [at]) => unlock(at),
            (RequestKind::Renamed, [from, to]) => unlock(to).and_then(|()| {
                let place = zone.place(from.as_str());
                registry.move_rows(&PathTable::ALL, place, to.as_str())?;
                unlock(from)
            }),
            _ => return,
        };
        if let Err(error) = moved {
            tracing::warn!(%error, "what is known of a file did not follow it");
        }
    }

    /// Ends the locked edit that the change ends.
    fn end_edit(&self) -> Result<(), Error> {
        match &self.request.needs.ends_edit {
            Some(lock) => edits::release(self.zone(), self.staging(), lock),
            None => Ok(()),
        }
    }

    /// Gives the write lock back before the change is settled, where nobody who has it could tell the
    /// difference: in a group that enters owners, a locked edit ends with the change, and the space of
    /// what goes between the zone and the bin is entered then, so no command may measure in between.
    fn give_back_lock(&mut self) {
        let settles_more = self.request.needs.ends_edit.is_some() || self.bin_move.is_some();
        let writer = &mut self.request.writer;
        if !writer.is_shared() && !settles_more {
            drop(writer.write_lock.take());
        }
    }

    /// Has the zones measured anew: others may have measured them while the change was there and is not any
    /// more, or the other way round.
    fn forget_usage(&self) {
        let zone = self.zone();
        let forgotten = zone.store.registry().forget_usage(&zone.tenant.key);
        if let Err(error) = forgotten {
            tracing::error!(%error, "the space of a zone may be counted wrong");
        }
    }

    /// The change is done. Fails where others ended it, because they took this process for dead.
    fn settle(&mut self) -> Result<(), Error> {
        let Some(intent) = self.intent.take() else {
            return Ok(());
        };
        let store = self.zone().store;
        let committed = match (self.bin_move.take(), &self.request.needs.ends_edit) {
            (Some(bin_move), _) => bin_move.commit(store, intent),
            (None, Some(lock)) => store.registry().commit_edit(intent, lock),
            (None, None) => store.registry().commit(intent),
        };
        match committed {
            Err(error @ RegistryError::TakenOver) => return Err(error.into()),
            Err(error) => {
                tracing::error!(%error, "a finished change is still in the registry");
                // The next access finds it, and ends it.
                store.leave_to_repair(&self.zone().tenant.key, intent);
                // Others may have ended it otherwise.
                self.expect_alive()?;
            }
            Ok(()) => {}
        }
        Ok(())
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        let Some(intent) = self.intent.take() else {
            return;
        };
        let zone = self.zone();
        let registry = zone.store.registry();
        if let Some(bin_move) = self.bin_move.take()
            && let Err(error) = bin_move.roll_back(zone.store, &zone.tenant)
        {
            tracing::error!(%error, "what was to go into the bin or out of it is not settled");
            // The next access looks where it is.
            zone.store.leave_to_repair(&zone.tenant.key, intent);
            return;
        }
        match registry.roll_back(intent, &self.request.plan()) {
            Err(RegistryError::TakenOver) => self.forget_usage(),
            Err(error) => {
                tracing::error!(%error, "a rolled back change is still in the registry");
                zone.store.leave_to_repair(&zone.tenant.key, intent);
            }
            Ok(()) => {}
        }
    }
}

/// What `staged` does to ownership when it takes the place of `target`.
fn arrival(staged: &StagedEntry, target: &Target) -> Result<OwnershipEffect, DiskError> {
    let at = target.path();
    let files = staged
        .files()?
        .into_iter()
        .map(|inside| at.join_path(&inside).as_str().to_owned());
    Ok(OwnershipEffect::Arrive {
        at: at.as_str().to_owned(),
        files: files.collect(),
        fresh: target.entry().is_none(),
        inode: staged.inode()?,
    })
}

diagnostics! {
    /// A file that is larger than the server takes.
    #[derive(Debug, thiserror::Error)]
    #[error("`{path}` would have {size} bytes or more, a file may have {limit}")]
    pub struct SizeError {
        /// The file.
        pub path: ZonePath,
        /// Its size in bytes.
        pub size: u64 = 300 * MEBIBYTE,
        /// The limit in bytes.
        pub limit: u64 = 300 * MEBIBYTE,
    } => {
        code: FileTooLarge,
        hint: format!("split the content into files of at most {} MB", limit / MEBIBYTE),
        details: {
            "path": path.display(), "size_bytes": size, "max_file_size_mb": limit / MEBIBYTE
        },
    }
}
