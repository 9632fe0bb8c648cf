//! Write lock of a zone, for its caller: the only way to a change.

use std::collections::HashMap;
use std::time::Duration;

use super::{DiskEffect, Permit, SizeError, ZoneChange, new_change, ownership_change};
use crate::change_request::{ChangeRequest, PathsChange, digest_of};
use crate::{encrypted, owner, repair, webdav};
use fileshed_history::{CommitId, PreparedContent};
use fileshed_registry::{Lock, OwnershipEffect};
use fileshed_storage::{
    Appendable, DiskError, Entry, Kind, Merge, Renamed, Staged, StagedEntry, Staging, Target,
    Totals, Vacancy,
};
use fileshed_types::{Code, Error};
use fileshed_zones::tenant::EDITZONE;
use fileshed_zones::write_lock::WriteLock;
use fileshed_zones::zone::{Zone, ZonePath};

/// The write lock of one zone, for its caller.
#[derive(Debug)]
pub struct Writer<'a> {
    pub(super) zone: &'a Zone<'a>,
    pub(super) operation: &'static str,
    pub(super) staging: Staging,
    /// `None` once it was given back.
    pub(super) write_lock: Option<WriteLock>,
    /// Contents of the files that come into being, if they are ready for history.
    pub(super) prepared: Vec<PreparedContent>,
    /// The caller's locked edit that ends with the change; its lock is not in its own way.
    pub(super) ends_edit: Option<Lock>,
    /// The ids in the bin of what the change takes away, by path: it had them before, and changes of the list
    /// name them.
    pub(crate) bin_ids: HashMap<String, String>,
    /// The digest of what the change adds to the end of a file, if it does nothing else.
    adds: Option<String>,
    /// `true` if the change is refused where the bin does not keep what it takes away.
    pub(crate) keeps: bool,
}

/// A file that was written.
#[derive(Debug)]
pub struct WrittenFile {
    /// Its path in the zone.
    pub path: ZonePath,
    /// Its size in bytes.
    pub size: u64,
    /// `true` if nothing was there before.
    pub created: bool,
    /// The commit, if the zone has history and something changed.
    pub commit: Option<CommitId>,
}

impl<'a> Writer<'a> {
    pub(crate) fn new(zone: &'a Zone<'a>, operation: &'static str) -> Result<Self, Error> {
        zone.expect_write_scope()?;
        let write_lock = crate::hold(zone)?;
        Ok(Self {
            zone,
            operation,
            staging: zone.store.staging(&zone.tenant)?,
            write_lock: Some(write_lock),
            prepared: Vec::new(),
            ends_edit: None,
            bin_ids: HashMap::new(),
            adds: None,
            keeps: false,
        })
    }

    pub(crate) fn zone(&self) -> &'a Zone<'a> {
        self.zone
    }

    /// Returns `true` if the zone is a group's.
    pub(crate) fn is_shared(&self) -> bool {
        self.zone.group.is_some()
    }

    /// The directory in which new content is prepared.
    #[must_use]
    pub fn staging(&self) -> &Staging {
        &self.staging
    }

    /// Takes contents that need not be made ready for history any more.
    #[must_use]
    pub fn with_prepared(mut self, contents: Vec<PreparedContent>) -> Self {
        self.prepared = contents;
        self
    }

    /// Has the change be refused where there is a bin and it does not keep what the change takes away.
    pub(crate) fn keeping(mut self) -> Self {
        self.keeps = self.zone.store.settings.bin_days.is_some();
        self
    }

    /// Says that the change adds this to the end of a file: to take it back, its former size is enough.
    pub(crate) fn adding(mut self, added: &[u8]) -> Self {
        self.adds = Some(digest_of(added));
        self
    }

    /// Gives what the change takes away at a path this id in the bin.
    pub(crate) fn binning_as(mut self, path: &ZonePath, id: Option<&String>) -> Self {
        let id = id.map(|id| (path.as_str().to_owned(), id.clone()));
        self.bin_ids.extend(id);
        self
    }

    /// Ends the caller's own locked edit with the change.
    pub(crate) fn ending_edit(mut self, lock: &Lock) -> Self {
        self.ends_edit = Some(lock.clone());
        self
    }

    /// Writes one file in one change: the staged content gets the name of `target`, which the caller
    /// resolved, and judged, under this write lock. `message` is the caller's commit message; without
    /// one history has `default`.
    pub fn write(
        self,
        staged: Staged,
        target: Target,
        message: Option<&str>,
        default: &str,
    ) -> Result<WrittenFile, Error> {
        let (path, created) = (target.path().clone(), target.entry().is_none());
        let size = staged.size()?;
        let commit = self.install(staged, target)?.commit(message, default)?;
        Ok(WrittenFile {
            path,
            size,
            created,
            commit,
        })
    }

    /// Gives a staged file or directory its name.
    pub fn install(
        self,
        staged: impl Into<StagedEntry>,
        target: Target,
    ) -> Result<ZoneChange<'a>, Error> {
        let staged = staged.into();
        let replaced = target.entry().map(|entry| self.zone.totals(entry));
        let replaced = replaced.transpose()?.unwrap_or_default();
        let weight = staged.weight()?;
        let request = if let Some(digest) = self.adds.clone() {
            ChangeRequest::append(&target, weight.totals.bytes, staged.inode()?, digest)
        } else {
            ChangeRequest::install(&target, &weight, replaced)
                .in_state(staged.stamp(&ZonePath::root())?)
        };
        self.guard(request)?.install(staged, target)
    }

    /// Moves the staged entries into a directory that is there, whose files of the same names hold
    /// `replaced`.
    pub fn merge(self, mut merge: Merge, replaced: Totals) -> Result<ZoneChange<'a>, Error> {
        let permit = self.guard(ChangeRequest::merge(&merge, replaced))?;
        permit.keep_replaced(&mut merge)?;
        permit.record_intent(|| {
            let files = merge.files()?;
            let files = files.iter().map(|path| path.as_str().to_owned()).collect();
            Ok(OwnershipEffect::Add { files })
        })?;
        permit.carry_out(|_| merge.carry_out().map(DiskEffect::Several))
    }

    /// Removes an entry and everything below it: into the bin, if that keeps it.
    pub fn remove(self, entry: &Entry) -> Result<ZoneChange<'a>, Error> {
        let totals = self.zone.totals(entry)?;
        self.guard(ChangeRequest::remove(entry, totals))?
            .remove(entry)
    }

    /// Removes a file that is somewhere else now, past the bin.
    pub fn remove_moved(self, entry: &Entry) -> Result<ZoneChange<'a>, Error> {
        let totals = self.zone.totals(entry)?;
        let mut request = ChangeRequest::remove(entry, totals);
        request.taken.clear();
        self.guard(request)?.remove(entry)
    }

    /// Gives an entry another name.
    pub fn rename(self, entry: &Entry, vacancy: Vacancy) -> Result<ZoneChange<'a>, Error> {
        let permit = self.guard(ChangeRequest::rename(entry, &vacancy))?;
        permit.carry_out(|staging| Renamed::new(entry, vacancy, staging).map(DiskEffect::Renamed))
    }

    /// Gives an entry the place of another one, which goes: whenever the server dies, the place holds
    /// the one or the other, whole.
    pub fn supplant(self, entry: &Entry, taken: &Entry) -> Result<ZoneChange<'a>, Error> {
        let replaced = self.zone.totals(taken)?;
        let permit = self.guard(ChangeRequest::supplant(entry, taken, replaced))?;
        encrypted::expect_plain(taken).map_err(|error| permit.zone().explain(error))?;
        let kept = permit.place_in_bin(taken.path())?;
        permit.carry_out(|staging| {
            staging
                .supplant(entry, taken, kept)
                .map(DiskEffect::Several)
        })
    }

    /// Adds `added` to the end of the file at `target` where it lies, which takes the same time however
    /// large the file is. Returns the writer if the file has to be copied; history takes in whole
    /// files, so there it has to be.
    pub(crate) fn append(
        self,
        target: &Target,
        added: &[u8],
    ) -> Result<Result<ZoneChange<'a>, Self>, Error> {
        let Some(file) = self.appendable(target, added)? else {
            return Ok(Err(self));
        };
        let size = target.size() + added.len() as u64;
        let inode = target.entry().map_or(0, |entry| entry.stamp().inode());
        let permit = self.guard(ChangeRequest::append(target, size, inode, digest_of(added)))?;
        let path = target.path();
        let change =
            permit.carry_out(|staging| staging.append(file, path).map(DiskEffect::Appended))?;
        Ok(Ok(change))
    }

    fn appendable(&self, target: &Target, added: &[u8]) -> Result<Option<Appendable>, Error> {
        match target.entry() {
            Some(entry) if !self.zone.name.is_versioned() => {
                let living = || self.zone.store.instance.live_instances();
                Ok(self.staging.appendable(entry, added, living)?)
            }
            _ => Ok(None),
        }
    }

    /// Ends a locked edit and drops its copy. First the lock, then the copy, so that a crash in
    /// between leaves a copy without a lock.
    pub(crate) fn end_edit(&self, lock: &Lock) -> Result<(), Error> {
        let zone = self.zone;
        zone.store.reserve.release();
        let registry = &zone.store.registry;
        registry.release_lock(lock)?;
        if let Some(copies) = zone.base.existing_subdirectory(EDITZONE)?
            && let Ok(entry) = copies.entry(&ZonePath::root().join(&lock.working_copy))
        {
            self.staging.remove(&entry)?.keep()?;
        }
        zone.store.measure_edits(&zone.tenant, zone.name)?;
        Ok(())
    }

    /// Asks everything that may forbid a change of files where they lie.
    pub fn guard_in_place(self, paths: Vec<ZonePath>) -> Result<Permit<'a>, Error> {
        self.guard(ChangeRequest::in_place(paths))
    }

    /// Asks everything that may forbid the change.
    pub(crate) fn guard(self, request: ChangeRequest) -> Result<Permit<'a>, Error> {
        let mut permit = self.ask(request)?;
        let zone = permit.zone();
        loop {
            let begin = || zone.store.registry.begin(permit.plan());
            let growth = Permit::growth(&[&permit]);
            match zone.store.making_space(&zone.tenant, growth, begin) {
                Err(error) if error.code() == Code::QuotaExceeded && permit.give_up_bin() => {}
                done => {
                    permit.intent = Some(done.map_err(|error| zone.explain(error))?);
                    return Ok(permit);
                }
            }
        }
    }

    /// Asks everything but the space.
    pub(crate) fn ask(self, request: ChangeRequest) -> Result<Permit<'a>, Error> {
        let zone = self.zone;
        zone.caller.cancellation.trust().expect()?;
        let limit = zone.store.settings.largest_file();
        if let Some((path, size)) = request.largest.clone().filter(|(_, size)| *size > limit) {
            return Err(SizeError { path, size, limit }.into());
        }
        let own = self.ends_edit.as_ref().map(|lock| lock.path.as_str());
        let others = request.paths.iter();
        webdav::check_all(zone, others.filter(|path| own != Some(path.key().as_str())))?;
        owner::check(zone, &request.paths)?;
        if !matches!(request.kind, PathsChange::Removed) {
            zone.expect_history_space()?;
        }
        let effect = request.effect();
        let ownership_change = effect.and_then(|effect| ownership_change(zone, effect));
        let mut permit = Permit {
            author: zone.author(),
            ownership_change: ownership_change.map(|change| change.written()),
            change: new_change(zone, self.operation)?,
            writer: self,
            request,
            intent: None,
            binned: Vec::new(),
            brought_back: Vec::new(),
        };
        permit.choose_for_bin()?;
        Ok(permit)
    }
}

/// Takes the write lock, to change the zone. `operation` is the name for history and logs.
pub fn writer<'a>(zone: &'a Zone<'a>, operation: &'static str) -> Result<Writer<'a>, Error> {
    zone.expect_writable()?;
    Writer::new(zone, operation)
}

/// Takes the write lock, to delete: the one change that uploads allow.
pub fn remover<'a>(zone: &'a Zone<'a>, operation: &'static str) -> Result<Writer<'a>, Error> {
    zone.store.reserve.release();
    Writer::new(zone, operation)
}

/// Takes the write lock, to store what a person brings: the only way into uploads.
pub fn receiver<'a>(zone: &'a Zone<'a>, operation: &'static str) -> Result<Writer<'a>, Error> {
    Writer::new(zone, operation)
}

/// Waits for the write lock, which keeps everybody else from changing the zone. The zone is
/// repaired first if it has to be.
pub fn hold(zone: &Zone<'_>) -> Result<WriteLock, Error> {
    hold_within(zone, zone.store.settings.timings.calls.write_lock)
}

/// The same, with another patience.
pub fn hold_within(zone: &Zone<'_>, patience: Duration) -> Result<WriteLock, Error> {
    if !zone.ready {
        let ready = repair::try_make_ready(zone.store, &zone.tenant, zone.name, None);
        ready.map_err(|error| zone.explain(error))?;
    }
    let store = zone.store;
    let write_lock = store.write_lock_within(&zone.tenant, zone.name, patience)?;
    if zone.group.is_some() {
        repair::reap_dead_instances(zone.store, &zone.tenant, &write_lock)?;
    }
    Ok(write_lock)
}

/// Makes a directory, and those above it that are missing. Returns `true` if there was none.
/// `operation` is the name for history and logs.
pub fn make_directory(
    zone: &Zone<'_>,
    parameter: &'static str,
    path: &ZonePath,
    operation: &'static str,
) -> Result<bool, Error> {
    zone.expect_writable()?;
    let staged = zone.stage_directory()?;
    let writer = writer(zone, operation)?;
    match zone.destination(parameter, path)? {
        Target::Entry(entry) if entry.kind() == Kind::Directory => Ok(false),
        Target::Entry(entry) => {
            let path = entry.path().clone();
            Err(zone.explain_disk(DiskError::Exists { path }))
        }
        target @ Target::Vacancy(_) => {
            writer
                .install(staged, target)?
                .commit(None, &format!("Make directory {path}"))?;
            Ok(true)
        }
    }
}
