//! Processes that share a data directory, and how live ones know dead ones.
//!
//! Each process holds a lock on a file of its own. The kernel drops the lock when the process
//! ends, however it ends; who starts next finds the file unlocked and marks what was under way.

#![expect(
    clippy::disallowed_methods,
    reason = "the file that a process locks while it lives is in no zone"
)]

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::{Error, ZonePath, random};
use fileshed_registry::Registry;
use fileshed_storage::{DiskError, Root};

pub(super) const DIRECTORY: &str = ".instances";

/// This process among those that share the data.
#[derive(Debug)]
pub(super) struct Instance {
    name: String,
    directory: Root,
    /// Locked as long as this process lives.
    _file: OwnedFd,
}

impl Instance {
    /// Registers this process, and marks the unfinished changes of processes that are gone.
    pub(super) fn register(data: &Root, registry: &Registry) -> Result<Self, Error> {
        let directory = data.subdirectory(DIRECTORY)?;
        // One at a time: a file that is not locked yet must not look like one of a dead process.
        let registering = data.subdirectory(DIRECTORY)?;
        lock(registering.handle(), FlockOperation::LockExclusive)?;
        mark_dead(&directory, registry)?;
        let name = hex::encode(random::bytes::<8>()?);
        let file = open(&directory, &name, OFlags::CREATE | OFlags::EXCL)?;
        lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self {
            name,
            directory,
            _file: file,
        })
    }

    /// Marks the unfinished changes of processes that died since this one began.
    pub(super) fn mark_dead_instances(&self, registry: &Registry) -> Result<(), Error> {
        let registering = self.directory.try_reopen()?;
        lock(registering.handle(), FlockOperation::LockExclusive)?;
        mark_dead(&self.directory, registry)
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The names of all processes that share the data. A dead process is
    /// not among them once its changes are marked: whoever is marking them now is waited for.
    pub(super) fn live_instances(&self) -> Result<Vec<String>, DiskError> {
        let registering = self.directory.try_reopen()?;
        lock(registering.handle(), FlockOperation::LockShared)?;
        let entries = self.directory.list(&ZonePath::root())?;
        Ok(entries
            .into_iter()
            .map(|entry| entry.path.as_str().to_owned())
            .collect())
    }
}

/// Whether a process has the data open.
pub(super) fn is_anybody_there(data: &Root) -> Result<bool, DiskError> {
    let Some(directory) = data.existing_subdirectory(DIRECTORY)? else {
        return Ok(false);
    };
    lock(directory.handle(), FlockOperation::LockExclusive)?;
    for entry in directory.list(&ZonePath::root())? {
        if let Ok(file) = open(&directory, entry.path.as_str(), OFlags::empty())
            && rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive)
                == Err(Errno::WOULDBLOCK)
        {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The caller is alone in registering.
fn mark_dead(directory: &Root, registry: &Registry) -> Result<(), Error> {
    for entry in directory.list(&ZonePath::root())? {
        let name = entry.path.as_str().to_owned();
        if let Ok(file) = open(directory, &name, OFlags::empty())
            && rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            registry.orphan_instance(&name)?;
            remove(directory, &name);
        }
    }
    Ok(())
}

impl Drop for Instance {
    fn drop(&mut self) {
        remove(&self.directory, &self.name);
    }
}

fn open(directory: &Root, name: &str, flags: OFlags) -> Result<OwnedFd, DiskError> {
    let flags = flags | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory.handle(), name, flags, Mode::RUSR | Mode::WUSR)
        .map_err(DiskError::server)
}

fn lock(file: impl AsFd, operation: FlockOperation) -> Result<(), DiskError> {
    rustix::fs::flock(file, operation).map_err(DiskError::server)
}

fn remove(directory: &Root, name: &str) {
    let _gone = rustix::fs::unlinkat(directory.handle(), name, AtFlags::empty());
}
