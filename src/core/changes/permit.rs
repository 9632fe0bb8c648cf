//! Permit of one change: its paths, its intent, its effect and its end.

#![expect(
    clippy::disallowed_methods,
    reason = "intents are recorded and ended here"
)]

mod in_place;
mod writer;
mod zone_change;

pub use writer::{
    Writer, WrittenFile, hold, hold_within, make_directory, receiver, remover, writer,
};
pub(super) use zone_change::DiskEffect;
pub use zone_change::ZoneChange;

use super::change_request::{ChangeRequest, PathsChange};
use super::encrypted;
use fileshed_history::{Author, CommitId};
use fileshed_registry::{
    BinRow, Change, Intent, NewIntent, OwnershipChange, OwnershipEffect, PathTable, RegistryError,
    Settlement,
};
use fileshed_storage::{DiskError, Entry, Renamed, Root, StagedEntry, Staging, Target, Totals};
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{Error, diagnostics};
use fileshed_zones::store::Store;
use fileshed_zones::tenant::TenantRoot;
use fileshed_zones::zone::{Zone, ZoneName, ZonePath};

/// A change by an operation and an author that takes no space and owns nothing.
pub(super) fn new_intent<'i>(
    store: &'i Store,
    tenant: &'i TenantRoot,
    zone: ZoneName,
    (operation, author): (&'i str, &'i Author),
) -> NewIntent<'i> {
    NewIntent {
        tenant: &tenant.key,
        zone: zone.as_str(),
        instance: &store.instance.name,
        operation,
        author_name: &author.name,
        author_email: &author.email,
        bytes: 0,
        files: 0,
        limit: tenant.limit,
        most_files: store.settings.max_files,
        ownership_change: None,
        change: None,
        binned: &[],
    }
}

/// Returns the change of ownership by the caller of `zone`; `None` outside groups.
fn ownership_change(zone: &Zone<'_>, effect: OwnershipEffect) -> Option<OwnershipChange> {
    zone.mode().map(|mode| OwnershipChange {
        owner: zone.user().to_owned(),
        mode: mode.as_str().to_owned(),
        asked: zone.asked_mode().is_some(),
        effect,
    })
}

/// A change by the caller of `zone`, made now; what it does comes later.
pub(super) fn new_change(zone: &Zone<'_>, operation: &str) -> Result<Change, Error> {
    let (store, caller) = (zone.store, zone.caller);
    Ok(Change {
        tenant: zone.tenant.key.clone(),
        zone: zone.name.as_str().to_owned(),
        changed_at: store.clock.now().as_second(),
        actor: store.tenant_key(caller)?,
        author: zone.author().name,
        chat: caller.chat.as_str().to_owned(),
        answer: caller.answer()?.to_owned(),
        operation: operation.to_owned(),
        steps: String::new(),
        before: None,
        commit: None,
        undoes: caller.undoes.clone(),
    })
}

/// Shows in the conversation of the caller that something was changed, if it was.
pub(super) fn show_change(zone: &Zone<'_>, change: &Change) {
    if let (Some(chat_host), false) = (zone.store.chat_host(), change.is_empty()) {
        chat_host.changed(zone.caller);
    }
}

/// The right to make one change. Dropped, its space is free again.
#[derive(Debug)]
#[must_use = "a permit is for one change"]
pub struct Permit<'a> {
    pub(crate) writer: Writer<'a>,
    pub(crate) request: ChangeRequest,
    author: Author,
    ownership_change: Option<String>,
    /// `None` before the change is recorded, and after it is settled.
    pub(super) intent: Option<Intent>,
    /// The entry for the list of changes.
    pub(super) change: Change,
    /// The rows of entries that go into the bin.
    pub(super) binned: Vec<BinRow>,
    /// The rows of entries that come out of the bin.
    pub(super) brought_back: Vec<BinRow>,
}

impl<'a> Permit<'a> {
    pub(super) fn plan(&self) -> NewIntent<'_> {
        let zone = self.zone();
        NewIntent {
            bytes: self.request.bytes,
            files: self.request.files,
            ownership_change: self.ownership_change.as_deref(),
            change: Some(&self.change),
            binned: &self.binned,
            ..new_intent(
                zone.store,
                &zone.tenant,
                zone.name,
                (self.writer.operation, &self.author),
            )
        }
    }

    /// The space that changes take more together.
    pub(super) fn growth(permits: &[&Self]) -> Totals {
        let bytes: i64 = permits.iter().map(|permit| permit.request.bytes).sum();
        let files: i64 = permits.iter().map(|permit| permit.request.files).sum();
        Totals {
            bytes: bytes.max(0) as u64,
            files: files.max(0) as u64,
        }
    }

    /// Gives a staged file or directory its name.
    pub(super) fn install(
        self,
        staged: impl Into<StagedEntry>,
        target: Target,
    ) -> Result<ZoneChange<'a>, Error> {
        let staged = staged.into();
        encrypted::expect_kept(&target, &staged).map_err(|error| self.zone().explain(error))?;
        self.record_intent(|| arrival(&staged, &target))?;
        let bin = self.bin()?;
        let kept = bin.as_ref().map(|(bin, id)| (bin, &**id));
        self.carry_out(|_| staged.install(target, kept).map(DiskEffect::Installed))
    }

    /// Removes an entry and everything below it: into the bin, if that keeps it.
    pub(super) fn remove(mut self, entry: &Entry) -> Result<ZoneChange<'a>, Error> {
        let Some((bin, id)) = self.bin()? else {
            return self.carry_out(|staging| staging.remove(entry).map(DiskEffect::Removed));
        };
        self.request.kind = PathsChange::Discarded;
        self.carry_out(|staging| {
            Renamed::out_of_zone(entry, (&bin, &id), staging).map(DiskEffect::Renamed)
        })
    }

    /// The bin, and the name in it of what the change takes away; `None` if it goes for good.
    fn bin(&self) -> Result<Option<(Root, String)>, Error> {
        let row = self.binned.first();
        row.map(|row| Ok((self.zone().tenant.bin()?, row.id.clone())))
            .transpose()
    }

    /// The place in the bin, relative to the tenant root, of what the change takes away at `path`;
    /// `None` if it goes for good.
    pub(super) fn place_in_bin(&self, path: &ZonePath) -> Result<Option<String>, Error> {
        let mut rows = self.binned.iter();
        let Some(row) = rows.find(|row| row.path == path.as_str()) else {
            return Ok(None);
        };
        self.zone().tenant.bin()?;
        Ok(Some(row.place()))
    }

    /// Changes the disk, unless others took this process for dead.
    pub(super) fn carry_out(
        self,
        effect: impl FnOnce(&Staging) -> Result<DiskEffect, DiskError>,
    ) -> Result<ZoneChange<'a>, Error> {
        self.expect_alive()?;
        let effect = effect(self.staging()).map_err(|error| self.explain(error))?;
        Ok(self.change(effect))
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
            let registry = &zone.store.registry;
            registry.record_intent(intent, &ownership_change)?;
        }
        Ok(())
    }

    /// The change that took place.
    pub(super) fn change(self, effect: DiskEffect) -> ZoneChange<'a> {
        ZoneChange {
            effect,
            source: None,
            permit: self,
        }
    }

    pub(super) fn zone(&self) -> &'a Zone<'a> {
        self.writer.zone
    }

    pub(super) fn staging(&self) -> &Staging {
        &self.writer.staging
    }

    pub(super) fn explain(&self, error: DiskError) -> Error {
        self.zone().explain(error.into())
    }

    /// Fails if others may have taken this process for dead: its permits count no more. The last that
    /// is asked before the disk is changed.
    pub(super) fn expect_alive(&self) -> Result<(), Error> {
        self.zone().store.expect_alive()
    }

    /// Commits the changed files, if the zone has history.
    fn enter_history(
        &mut self,
        message: Option<&str>,
        default: &str,
    ) -> Result<Option<CommitId>, Error> {
        let zone = self.zone();
        if !zone.name.is_versioned() {
            return Ok(None);
        }
        let message = message.filter(|text| !text.trim().is_empty());
        let commit = zone.commit_paths(
            &self.request.paths,
            &self.writer.prepared,
            message.unwrap_or(default),
            &self.author,
            &mut self.change,
        )?;
        Ok(commit)
    }

    /// Moves the registry's rows of the files with them, and forgets those of files that go; locks of
    /// programs stay behind.
    fn move_metadata(&self) {
        let (zone, request) = (self.zone(), &self.request);
        let registry = &zone.store.registry;
        let unlock = |path: &ZonePath| registry.forget_client_locks(zone.place(&path.key()));
        let moved = match (request.kind, request.paths.as_slice()) {
            (PathsChange::Removed, [at]) => unlock(at)
                .and_then(|()| registry.forget_rows(&PathTable::ALL, zone.place(at.as_str()))),
            // The rest goes into the bin with it.
            (PathsChange::Discarded, [at]) => unlock(at),
            (PathsChange::Renamed, [from, to]) => unlock(to).and_then(|()| {
                let place = zone.place(from.as_str());
                registry.move_rows(&PathTable::ALL, place, to.as_str())?;
                unlock(from)
            }),
            _ => return,
        };
        if let Err(error) = moved {
            tracing::warn!(%error, "the metadata of a file was not moved with it");
        }
    }

    /// Notes the change as the last one of its caller.
    fn note_move(&self) {
        let moved = match (self.request.kind, self.request.paths.as_slice()) {
            (PathsChange::Renamed, [from, to]) => Some((from, to)),
            _ => None,
        };
        self.zone().note_change(moved);
    }

    /// Ends the locked edit that the change ends.
    fn end_edit(&self) -> Result<(), Error> {
        let lock = self.writer.ends_edit.as_ref();
        lock.map_or(Ok(()), |lock| self.writer.end_edit(lock))
    }

    /// Gives the write lock back before the change is settled, if nobody who takes it can tell the
    /// difference: in a group settling enters owners, a locked edit ends with it, and the space of
    /// entries that move between the zone and the bin is entered then, so no command may measure in between.
    fn give_back_lock(&mut self) {
        let moves = !self.binned.is_empty() || !self.brought_back.is_empty();
        let settles_more = self.writer.ends_edit.is_some() || moves;
        if !self.writer.is_shared() && !settles_more {
            drop(self.writer.write_lock.take());
        }
    }

    /// Has the zones measured anew: others may have measured them while the change was there and is not any
    /// more, or the other way round.
    fn forget_usage(&self) {
        let zone = self.zone();
        let forgotten = zone.store.registry.forget_usage(&zone.tenant.key);
        if let Err(error) = forgotten {
            tracing::error!(%error, "the space of a zone may be counted wrong");
        }
    }

    /// Ends the intent. Fails if others ended it, because they took this process for dead.
    fn settle(&mut self) -> Result<(), Error> {
        let Some(intent) = self.intent.take() else {
            return Ok(());
        };
        let zone = self.zone();
        let (store, registry) = (zone.store, &zone.store.registry);
        let binned = std::mem::take(&mut self.binned);
        let brought_back = std::mem::take(&mut self.brought_back);
        let settlement = Settlement {
            binned: &binned,
            brought_back: &brought_back,
            ended_edit: self.writer.ends_edit.as_ref(),
        };
        let committed = registry.settle(intent.done(Some(&self.change)), &settlement);
        match committed {
            Err(error @ RegistryError::TakenOver) => return Err(error.into()),
            Err(error) => {
                tracing::error!(%error, "a finished change is still in the registry");
                // The next access finds it, and ends it.
                store.leave_to_repair(&zone.tenant.key, intent);
                // Another instance may have ended the change in another way.
                self.expect_alive()?;
            }
            Ok(()) => show_change(zone, &self.change),
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
        let registry = &zone.store.registry;
        for row in self.binned.iter().chain(&self.brought_back) {
            if let Err(error) = zone.store.settle_bin_move(&zone.tenant, row) {
                tracing::error!(%error, "a move into or out of the bin is not completed");
                // The next access looks where it is.
                zone.store.leave_to_repair(&zone.tenant.key, intent);
                return;
            }
        }
        match registry.roll_back(intent, &self.plan()) {
            Err(RegistryError::TakenOver) => self.forget_usage(),
            Err(error) => {
                tracing::error!(%error, "a rolled back change is still in the registry");
                zone.store.leave_to_repair(&zone.tenant.key, intent);
            }
            Ok(()) => {}
        }
    }
}

/// Returns the effect on ownership of `staged` in the place of `target`.
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
    #[error("`{path}` would have at least {size} bytes; the limit is {limit}")]
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
