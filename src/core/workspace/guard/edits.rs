//! Changes of locked edits: the lock is a row in the registry, its working copy a file in a directory
//! of its own beside the zone's data.

use crate::Error;
use crate::tenant::EDITZONE;
use crate::write_lock::WriteLock;
use crate::zone::{Zone, ZonePath};
use fileshed_registry::Lock;
use fileshed_storage::{Entry, Root, Staging};

/// The write lock of one zone, to change its locked edits.
#[derive(Debug)]
pub(crate) struct EditWriter<'a> {
    zone: &'a Zone<'a>,
    staging: Staging,
    _write_lock: WriteLock<'a>,
}

/// The right to change locked edits.
#[derive(Debug)]
#[must_use = "a permit is for one change"]
pub(crate) struct EditPermit<'w, 'a> {
    writer: &'w EditWriter<'a>,
}

impl<'a> Zone<'a> {
    /// Takes the write lock, to change locked edits.
    pub(crate) fn edit_writer(&'a self) -> Result<EditWriter<'a>, Error> {
        self.expect_writable()?;
        Ok(EditWriter {
            zone: self,
            _write_lock: self.write_lock()?,
            staging: self.store.staging(&self.tenant)?,
        })
    }
}

impl<'a> EditWriter<'a> {
    /// Fails where the working copies may not take so many bytes more.
    pub(crate) fn guard(&self, more: u64) -> Result<EditPermit<'_, 'a>, Error> {
        self.zone.expect_space(more)?;
        Ok(self.guard_shrinking())
    }

    /// A permit for a change that takes no space.
    pub(crate) fn guard_shrinking(&self) -> EditPermit<'_, 'a> {
        EditPermit { writer: self }
    }
}

impl EditPermit<'_, '_> {
    /// Copies a file for a lock that is not taken yet, so that a lock always has its copy.
    pub(crate) fn copy(&self, lock: &Lock, file: &Entry, name: &ZonePath) -> Result<(), Error> {
        let staged = self.writer.staging.copy(file.open()?)?;
        let target = working_copy(self.writer.zone, lock)?.target(name)?;
        staged.install(target)?.keep();
        Ok(())
    }

    /// Takes a lock that has its copy; fails where somebody has the file.
    pub(crate) fn take(self, lock: &Lock) -> Result<(), Error> {
        let Zone {
            store,
            tenant,
            name,
            ..
        } = self.writer.zone;
        store.registry().take_lock(lock)?;
        store.measure_edits(tenant, *name)?;
        Ok(())
    }

    /// Lets an expired lock begin anew.
    pub(crate) fn renew(self, lock: &Lock) -> Result<(), Error> {
        let store = self.writer.zone.store;
        let now = store.clock().now().as_second();
        Ok(store.registry().renew_lock(lock, now)?)
    }

    /// Replaces the content of a working copy.
    pub(crate) fn write(self, lock: &Lock, name: &ZonePath, content: &[u8]) -> Result<(), Error> {
        let Zone {
            store,
            tenant,
            name: zone,
            ..
        } = self.writer.zone;
        let staged = self.writer.staging.write(content)?;
        let target = working_copy(self.writer.zone, lock)?.target(name)?;
        staged.install(target)?.keep();
        store.measure_edits(tenant, *zone)?;
        Ok(())
    }

    /// Ends a locked edit and drops its copy.
    pub(crate) fn release(self, lock: &Lock) -> Result<(), Error> {
        release(self.writer.zone, &self.writer.staging, lock)
    }

    /// Drops a working copy that no lock names.
    pub(crate) fn drop_copy(self, copy: &Entry) -> Result<(), Error> {
        Ok(self.writer.staging.remove(copy)?.keep()?)
    }
}

/// The directory of a lock's working copy.
pub(crate) fn working_copy(zone: &Zone<'_>, lock: &Lock) -> Result<Root, Error> {
    Ok(zone.base.subdirectory(&place(lock))?)
}

/// Whether a lock still has the directory of its working copy.
pub(crate) fn has_working_copy(zone: &Zone<'_>, lock: &Lock) -> Result<bool, Error> {
    Ok(zone.base.existing_subdirectory(&place(lock))?.is_some())
}

fn place(lock: &Lock) -> String {
    format!("{EDITZONE}/{}", lock.working_copy)
}

/// First the lock, then the copy: what a crash leaves in between is a copy without a lock.
pub(super) fn release(zone: &Zone<'_>, staging: &Staging, lock: &Lock) -> Result<(), Error> {
    zone.store.reserve().release();
    zone.store.registry().release_lock(lock)?;
    if let Some(copies) = zone.base.existing_subdirectory(EDITZONE)?
        && let Ok(entry) = copies.entry(&ZonePath::root().join(&lock.working_copy))
    {
        staging.remove(&entry)?.keep()?;
    }
    zone.store.measure_edits(&zone.tenant, zone.name)?;
    Ok(())
}
