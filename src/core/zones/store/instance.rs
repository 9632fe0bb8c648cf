//! Processes that share a data directory, and how they detect dead ones.
//!
//! If the registry is a file, all processes are on one machine, and each holds a lock on a file of its
//! own. The kernel drops the lock when the process ends, however it ends. The process that starts next
//! finds the file unlocked and marks the changes that were under way. If several machines can have the
//! registry, the registry records which processes live, and lock files count for nothing: shared file
//! systems differ in what they promise of locks.

#![expect(
    clippy::disallowed_methods,
    reason = "the file that a process locks while it lives is in no zone"
)]

use std::fs::File;
use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use crate::process_identity;
use crate::write_leases::WriteLeases;
use crate::write_lock::WriteLocks;
use fileshed_registry::{ExistingRegistry, Registry};
use fileshed_storage::{DiskError, Root};
use fileshed_types::limiter::Limiter;
use fileshed_types::{Error, Settings, ZonePath, random};

/// Directory of the lock files of processes, below the data directory.
pub const DIRECTORY: &str = ".instances";

/// This process among those that share the data.
#[derive(Debug)]
pub struct Instance {
    /// Its name in the registry and in staging.
    pub name: String,
    /// The write locks of this process.
    pub(crate) queue: Arc<WriteLocks>,
    file: Option<InstanceFile>,
}

/// The file of a process, locked as long as the process lives.
#[derive(Debug)]
struct InstanceFile {
    directory: Root,
    name: String,
    locked: OwnedFd,
}

impl Instance {
    /// Registers this process, and marks the unfinished changes of processes that are gone.
    pub(super) fn register(
        data: &Root,
        settings: &Settings,
        limiter: &Limiter,
        registry: &Registry,
    ) -> Result<Self, Error> {
        let directory = data.subdirectory(DIRECTORY)?;
        let name = hex::encode(random::bytes::<8>()?);
        let (leases, file) = if registry.holds_leases() {
            let leases = WriteLeases::start(data, settings, limiter.clock(), &name)?;
            (Some(leases), None)
        } else {
            (None, Some(InstanceFile::make(directory, &name, registry)?))
        };
        Ok(Self {
            name,
            queue: Arc::new(WriteLocks::new(leases, settings, limiter)),
            file,
        })
    }

    /// Marks the unfinished changes of processes that died since this one began.
    pub fn mark_dead_instances(&self, registry: &Registry) -> Result<(), Error> {
        if let Some(leases) = &self.queue.leases {
            return Ok(leases.shared.reap()?);
        }
        if let Some(file) = &self.file {
            let registering = file.directory.try_reopen()?;
            lock(registering.handle(), FlockOperation::LockExclusive)?;
            mark_dead(&file.directory, registry)?;
        }
        Ok(())
    }

    /// Writes the address of this process to its file, for commands on the same machine.
    pub fn listens_at(&self, address: SocketAddr) {
        let Some(file) = &self.file else { return };
        if let Err(error) = rustix::io::write(&file.locked, address.to_string().as_bytes()) {
            tracing::warn!(%error, "the address of the server could not be written for commands");
        }
    }

    /// Returns the address at which another process on the same machine listens, if one has written it.
    #[must_use]
    pub fn address(&self) -> Option<SocketAddr> {
        let directory = &self.file.as_ref()?.directory;
        let names = self.live_instances().ok()?;
        names.iter().find_map(|name| {
            let file = open(directory, name, OFlags::empty()).ok()?;
            let said = std::io::read_to_string(File::from(file)).ok()?;
            said.parse().ok()
        })
    }

    /// Returns the names of all processes that share the data. A dead process is missing once its
    /// changes are marked; this waits for a process that is marking them now.
    pub fn live_instances(&self) -> Result<Vec<String>, DiskError> {
        if let Some(leases) = &self.queue.leases {
            let living = leases.shared.registry.live_instances();
            return living.map_err(|error| DiskError::server(std::io::Error::other(error)));
        }
        let Some(file) = &self.file else {
            return Ok(Vec::new());
        };
        let registering = file.directory.try_reopen()?;
        lock(registering.handle(), FlockOperation::LockShared)?;
        let entries = file.directory.list(&ZonePath::root())?;
        Ok(entries
            .into_iter()
            .map(|entry| entry.path.as_str().to_owned())
            .collect())
    }
}

impl InstanceFile {
    fn make(directory: Root, name: &str, registry: &Registry) -> Result<Self, Error> {
        // One at a time: a file that is not locked yet must not look like one of a dead process.
        let registering = directory.try_reopen()?;
        lock(registering.handle(), FlockOperation::LockExclusive)?;
        mark_dead(&directory, registry)?;
        let file = open(&directory, name, OFlags::CREATE | OFlags::EXCL)?;
        lock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(Self {
            directory,
            name: name.to_owned(),
            locked: file,
        })
    }
}

/// Returns `true` if a process has the data open.
pub(super) fn is_anybody_there(data: &Root, settings: &Settings) -> Result<bool, Error> {
    if settings.registry.is_some() {
        if Registry::look(data, settings)? != ExistingRegistry::Ours {
            return Ok(false);
        }
        let (registry, own) = (Registry::open(data, settings)?, process_identity::own());
        registry.reap_instances(|process| own.knows_the_end_of(process))?;
        return Ok(!registry.live_instances()?.is_empty());
    }
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

/// Marks the changes of dead processes. The caller must hold the lock on the directory.
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

impl Drop for InstanceFile {
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
