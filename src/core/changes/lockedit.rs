//! Locked edits: a working copy beside the zone, and a lock that keeps everybody else off the
//! file until the copy is saved or dropped.
//!
//! The lock is a row in the registry, taken by an insert that meets another or does not. The copy
//! lies in a directory of its own below the zone's editzone, under the file's own name, so that a
//! command that runs there sees this one file and nothing else.
//!
//! A lock expires, and a command may walk into the file while it is locked. So the row keeps a hash
//! of what was opened, and a copy never silently replaces anything else.

mod status;

pub use status::ChangedError;
use status::EditStatus;

use super::lock::{Holder, LockError, holder};
use super::webdav::check_clients;
use super::{SizeError, expect_plain, owner};
use fileshed_history::CommitId;
use fileshed_registry::Lock;
use fileshed_storage::{DiskError, Entry, Root};
use fileshed_types::{Error, random};
use fileshed_zones::tenant::EDITZONE;
use fileshed_zones::zone::{Zone, ZonePath};

/// The operation in logs.
const OPERATION: &str = "lockedit";

/// A locked edit that belongs to the caller.
#[derive(Debug)]
pub struct LockedEdit<'a> {
    /// The zone of the file.
    pub zone: &'a Zone<'a>,
    lock: Lock,
    /// The directory of the copy, which holds nothing else.
    pub directory: Root,
    /// The file's name, in the directory of the copy.
    pub copy: ZonePath,
    path: ZonePath,
}

/// Content of a working copy.
#[derive(Debug)]
pub struct EditContent {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Their origin.
    pub origin: EditOrigin,
}

/// The origin of the content that a locked edit begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EditOrigin {
    /// The file.
    File,
    /// The working copy of an edit that was open already.
    Copy,
    /// The working copy of an edit that was open already, and the file has changed since.
    OutdatedCopy,
}

/// Opens `path` for a locked edit and gives its content. An edit that this conversation has open
/// goes on with its working copy, expired or not, as long as there is something in it to lose.
pub fn open<'a>(
    zone: &'a Zone<'a>,
    path: &ZonePath,
) -> Result<(LockedEdit<'a>, EditContent), Error> {
    zone.expect_writable()?;
    let entry = zone.entry(path)?;
    entry
        .expect_file()
        .map_err(|error| zone.explain(error.into()))?;
    expect_plain(&entry).map_err(|error| zone.explain(error))?;
    let path = entry.path().clone();
    owner::check(zone, [&path])?;
    let writer = crate::writer(zone, OPERATION)?;
    check_clients(zone, &path)?;
    if let Some(lock) = lock_of(zone, &path)? {
        let expired = lock.opened_at <= zone.store.locks_expired_before();
        match LockError::held(&lock, zone) {
            LockError::Mine { .. } => {
                let edit = LockedEdit::of(zone, lock, path.clone())?;
                if let Some(content) = edit.resume(&entry, expired)? {
                    return Ok((edit, content));
                }
                writer.end_edit(&edit.lock)?;
            }
            error if !expired => return Err(zone.explain(error.into())),
            _ => writer.end_edit(&lock)?,
        }
    }
    let (user, chat) = holder(zone);
    let lock = Lock {
        tenant: zone.tenant.key.clone(),
        zone: zone.name.as_str().to_owned(),
        path: path.key(),
        user: user.to_owned(),
        chat: chat.to_owned(),
        working_copy: hex::encode(random::bytes::<16>()?),
        opened_at: zone.store.clock.now().as_second(),
        opened: None,
    };
    zone.expect_space(entry.size())?;
    let mut edit = LockedEdit::of(zone, lock, path)?;
    // First the copy, then the lock: a lock always has its copy.
    let staged = writer.staging().copy(entry.open()?)?;
    staged.install(edit.directory.target(&edit.copy)?)?.keep();
    let bytes = edit.content()?;
    edit.lock.opened = Some(status::digest(&bytes));
    let (registry, tenant) = (&zone.store.registry, &zone.tenant);
    registry.take_lock(&edit.lock)?;
    zone.store.measure_edits(tenant, zone.name)?;
    let origin = EditOrigin::File;
    Ok((edit, EditContent { bytes, origin }))
}

/// The locked edit of `path` that this conversation has open.
pub fn held<'a>(zone: &'a Zone<'a>, path: &ZonePath) -> Result<LockedEdit<'a>, Error> {
    zone.expect_writable()?;
    let path = match zone.data.followed(path) {
        Ok(entry) => entry.path().clone(),
        Err(_) => path.clone(),
    };
    let lock = lock_of(zone, &path)?;
    let not_open = || LockError::NotOpen {
        path: path.as_str().to_owned(),
    };
    let lock = lock.ok_or_else(|| zone.explain(not_open().into()))?;
    match LockError::held(&lock, zone) {
        LockError::Mine { .. } => LockedEdit::of(zone, lock, path),
        LockError::OtherUser { path, holder, .. } => {
            Err(zone.explain(LockError::NotOwner { path, holder }.into()))
        }
        error => Err(zone.explain(error.into())),
    }
}

/// Ends the locked edit of `path`, whoever holds it. Gives whose changes were dropped.
pub fn force_unlock(zone: &Zone<'_>, path: &ZonePath) -> Result<Holder, Error> {
    let writer = crate::writer(zone, OPERATION)?;
    let not_locked = || LockError::NotLocked {
        path: path.as_str().to_owned(),
    };
    let lock = lock_of(zone, path)?.ok_or_else(|| zone.explain(not_locked().into()))?;
    let holder = Holder::of(&lock, zone);
    writer.end_edit(&lock)?;
    Ok(holder)
}

/// Ends a locked edit, for an administrator.
pub fn release(zone: &Zone<'_>, lock: &Lock) -> Result<(), Error> {
    crate::writer(zone, OPERATION)?.end_edit(lock)
}

/// The result of maintenance in one zone.
#[derive(Debug, Default)]
pub struct Cleaned {
    /// Files whose locks had expired.
    pub expired_locks: Vec<String>,
    /// Files whose locks had lost their working copy.
    pub corrupted_locks: Vec<String>,
    /// Working copies without a lock.
    pub orphan_copies: u64,
}

/// Releases locks that have expired or lost their working copy, and removes working copies
/// without a lock.
pub fn clean(zone: &Zone<'_>) -> Result<Cleaned, Error> {
    let mut cleaned = Cleaned::default();
    let writer = crate::writer(zone, OPERATION)?;
    let (tenant, name) = (&zone.tenant.key, zone.name.as_str());
    for lock in zone.store.registry.locks(tenant, name)? {
        let list = if lock.opened_at <= zone.store.locks_expired_before() {
            &mut cleaned.expired_locks
        } else if zone.base.existing_subdirectory(&place(&lock))?.is_none() {
            &mut cleaned.corrupted_locks
        } else {
            continue;
        };
        list.push(lock.path.clone());
        writer.end_edit(&lock)?;
    }
    let held = zone.store.registry.locks(tenant, name)?;
    if let Some(copies) = zone.base.existing_subdirectory(EDITZONE)? {
        for copy in copies.list(&ZonePath::root())? {
            if !held
                .iter()
                .any(|lock| lock.working_copy == copy.path.as_str())
            {
                let copy = copies.entry(&copy.path)?;
                writer.staging().remove(&copy)?.keep()?;
                cleaned.orphan_copies += 1;
            }
        }
    }
    Ok(cleaned)
}

/// The directory of a lock's working copy, below the base of its zone.
fn place(lock: &Lock) -> String {
    format!("{EDITZONE}/{}", lock.working_copy)
}

/// The lock on `path`, whoever has it.
fn lock_of(zone: &Zone<'_>, path: &ZonePath) -> Result<Option<Lock>, Error> {
    let registry = &zone.store.registry;
    Ok(registry.lock(&zone.tenant.key, zone.name.as_str(), &path.key())?)
}

impl<'a> LockedEdit<'a> {
    fn of(zone: &'a Zone<'a>, lock: Lock, path: ZonePath) -> Result<Self, Error> {
        let name = path.name().unwrap_or_default();
        Ok(Self {
            directory: zone.base.subdirectory(&place(&lock))?,
            copy: ZonePath::root().join(name),
            zone,
            lock,
            path,
        })
    }

    /// Path of the file inside its zone.
    #[must_use]
    pub fn path(&self) -> &ZonePath {
        &self.path
    }

    /// Conversation that holds the lock.
    #[must_use]
    pub fn chat(&self) -> &str {
        &self.lock.chat
    }

    /// The working copy.
    pub fn content(&self) -> Result<Vec<u8>, Error> {
        Ok(self.directory.followed(&self.copy)?.content()?)
    }

    /// Replaces the working copy, unless it would be too large to save.
    pub fn write(&self, content: &[u8]) -> Result<(), Error> {
        let zone = self.zone;
        let limit = zone.store.settings.largest_file();
        let size = content.len() as u64;
        if size > limit {
            let path = self.path.clone();
            return Err(zone.explain(SizeError { path, size, limit }.into()));
        }
        let writer = crate::writer(zone, OPERATION)?;
        self.expect_held()?;
        let target = self.directory.target(&self.copy)?;
        if size > target.size() {
            zone.expect_space(size - target.size())?;
        }
        let staged = writer.staging().write(content)?;
        staged.install(target)?.keep();
        zone.store.measure_edits(&zone.tenant, zone.name)?;
        Ok(())
    }

    /// Goes on with the working copy; `None` if it holds nothing that the file does not. The caller
    /// has the write lock.
    fn resume(&self, entry: &Entry, expired: bool) -> Result<Option<EditContent>, Error> {
        let bytes = match self.directory.followed(&self.copy) {
            Ok(copy) => copy.content()?,
            Err(DiskError::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let status = EditStatus::of(&self.lock, Some(entry), expired)?;
        let edited = self.lock.opened != Some(status::digest(&bytes));
        let origin = match status {
            EditStatus::Unchanged => EditOrigin::Copy,
            _ if edited => EditOrigin::OutdatedCopy,
            _ => return Ok(None),
        };
        if expired {
            let store = self.zone.store;
            let now = store.clock.now().as_second();
            store.registry.renew_lock(&self.lock, now)?;
        }
        Ok(Some(EditContent { bytes, origin }))
    }

    /// Writes the working copy back, commits it where the zone has history, and unlocks. If this
    /// fails, lock and copy stay.
    ///
    /// Fails where the file is not what was opened, unless `overwrite` says that it may be
    /// replaced; what is the copy's content already is saved.
    pub fn save(
        self,
        message: Option<&str>,
        overwrite: bool,
    ) -> Result<(u64, Option<CommitId>), Error> {
        let zone = self.zone;
        let writer = crate::writer(zone, "shed_lockedit_save")?;
        self.expect_held()?;
        let copy = self.directory.followed(&self.copy)?.open()?;
        if !overwrite {
            self.expect_unchanged()?;
        }
        let staged = writer.staging().copy(copy)?;
        let size = staged.size()?;
        let target = zone.target("path", &self.path)?;
        // The copy goes with its edit: the file may have its space.
        let copies = zone.store.measure_edits(&zone.tenant, zone.name)?;
        let kept = copies.saturating_sub(size);
        zone.store.edits_hold(&zone.tenant, zone.name, kept)?;
        let writer = writer.ending_edit(&self.lock);
        let saved = writer.write(staged, target, message, &format!("Edit {}", self.path));
        if saved.is_err() {
            zone.store.measure_edits(&zone.tenant, zone.name)?;
        }
        Ok((size, saved?.commit))
    }

    /// Fails where the lock ended before this call had the write lock.
    fn expect_held(&self) -> Result<(), Error> {
        let zone = self.zone;
        let registry = &zone.store.registry;
        let lock = registry.lock(&zone.tenant.key, zone.name.as_str(), &self.lock.path)?;
        if lock.is_some_and(|lock| lock.working_copy == self.lock.working_copy) {
            return Ok(());
        }
        let path = self.path.as_str().to_owned();
        Err(zone.explain(LockError::NotOpen { path }.into()))
    }

    /// Fails where the file is neither what was opened nor what is saved.
    fn expect_unchanged(&self) -> Result<(), Error> {
        let zone = self.zone;
        let entry = match zone.data.followed(&self.path) {
            Ok(entry) => Some(entry),
            Err(DiskError::NotFound { .. }) => None,
            Err(error) => return Err(zone.explain_disk(error)),
        };
        let expired = self.lock.opened_at <= zone.store.locks_expired_before();
        let status = EditStatus::of(&self.lock, entry.as_ref(), expired)?;
        let copy = || self.directory.followed(&self.copy);
        if status == EditStatus::Changed
            && let Some(entry) = &entry
            && status::of_file(entry)? == status::of_file(&copy()?)?
        {
            return Ok(());
        }
        if status == EditStatus::Unchanged {
            return Ok(());
        }
        let path = self.path.clone();
        Err(zone.explain(ChangedError { path, status }.into()))
    }

    /// Drops the working copy and unlocks. True when the copy differed from the file.
    pub fn cancel(self) -> Result<bool, Error> {
        let differs = match (self.content(), self.zone.entry(&self.path)) {
            (Ok(copy), Ok(entry)) => entry.content()? != copy,
            _ => true,
        };
        release(self.zone, &self.lock)?;
        Ok(differs)
    }
}
