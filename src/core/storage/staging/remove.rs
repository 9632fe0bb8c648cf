//! Removal of whole trees, with any permissions that commands left: at once, or after the response.
//!
//! A tree that left its zone in one rename is gone for everybody, however long the disk takes for its
//! files. It waits in staging under the name of this process. The next process sweeps trees that a
//! process did not get to, with everything else that a dead process staged.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::JoinHandle;

use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::{COUNTER, report};
use crate::entry::Place;
use crate::handle::{DIRECTORY, open_at, stat_at};
use crate::kind::kind_of;
use crate::rights::{self, with_rights};
use crate::{DiskError, Kind};
use fileshed_types::zone::ZonePath;

/// Entries that are removed before the response: for so few, handing them to the thread costs more.
const BEFORE_THE_ANSWER: usize = 16;

/// Entries that are removed between two checks whether the server stops.
const AT_ONCE: usize = 256;

/// Most directories that wait. Beyond them, a call removes its files before its response.
const WAITING: usize = 64;

/// Most passes over a directory if new entries came into it meanwhile: a command ends a moment after the
/// server that was killed.
const LOOKS: usize = 64;

/// A tree that is being removed.
#[derive(Debug)]
struct TreeRemoval {
    parent: Arc<OwnedFd>,
    name: String,
    /// Directories that are left, beside the tree or its top.
    directories: Vec<String>,
}

impl TreeRemoval {
    /// Begins with `name`, which is gone afterwards unless it is a directory.
    fn begin(parent: &Arc<OwnedFd>, name: &str) -> Result<Self, DiskError> {
        let mut removal = Self {
            parent: Arc::clone(parent),
            name: name.to_owned(),
            directories: Vec::new(),
        };
        match stat_at(parent, name, &ZonePath::root())? {
            Some(stat) if kind_of(&stat) == Kind::Directory => {
                removal.directories.push(name.to_owned());
            }
            Some(_) => rustix::fs::unlinkat(parent, name, AtFlags::empty()).map_err(failed)?,
            None => {}
        }
        Ok(removal)
    }

    /// Removes so many entries. Directories inside are first moved up beside the tree, so that any
    /// depth takes a handful of handles and links are never followed. Returns `true` if that was all.
    fn remove_some(&mut self, mut most: usize) -> Result<bool, DiskError> {
        let (parent, mut looks) = (&self.parent, LOOKS);
        while let Some(directory) = self.directories.pop() {
            let open = || open_at(parent, &*directory, DIRECTORY);
            // A command may take rights on its own directories away.
            let give = || rights::give(parent, &*directory, rights::DIRECTORY);
            let handle = match with_rights(give, open) {
                // Another thread or process removes it, too.
                Err(Errno::NOENT) => continue,
                opened => opened.map_err(failed)?,
            };
            rustix::fs::fchmod(&handle, Mode::RWXU).map_err(failed)?;
            let listing = rustix::fs::Dir::read_from(&handle).map_err(failed)?;
            for item in listing.flatten() {
                let child = item.file_name();
                if matches!(child.to_bytes(), b"." | b"..") {
                    continue;
                }
                if most == 0 {
                    self.directories.push(directory);
                    return Ok(false);
                }
                most -= 1;
                match rustix::fs::unlinkat(&handle, child, AtFlags::empty()) {
                    Ok(()) | Err(Errno::NOENT) => {}
                    Err(Errno::ISDIR | Errno::PERM) => {
                        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
                        let lifted = format!("{}.{number}", self.name);
                        let lift = || rustix::fs::renameat(&handle, child, parent, &*lifted);
                        let give = || rights::give(&handle, child, rights::DIRECTORY);
                        match with_rights(give, lift) {
                            Err(Errno::NOENT) => {}
                            done => {
                                done.map_err(failed)?;
                                self.directories.push(lifted);
                            }
                        }
                    }
                    Err(error) => return Err(failed(error)),
                }
            }
            match rustix::fs::unlinkat(parent, &*directory, AtFlags::REMOVEDIR) {
                // It goes with what a later process sweeps.
                Err(Errno::NOTEMPTY | Errno::EXIST) if has_unclosed_only(&handle) => {}
                Err(Errno::NOTEMPTY | Errno::EXIST) if looks > 0 => {
                    looks -= 1;
                    self.directories.push(directory);
                }
                Err(Errno::NOENT) => {}
                removed => removed.map_err(failed)?,
            }
        }
        Ok(true)
    }

    /// Removes all that is left.
    fn finish(mut self) -> Result<(), DiskError> {
        self.remove_some(usize::MAX).map(drop)
    }
}

fn failed(error: Errno) -> DiskError {
    DiskError::of("delete", &ZonePath::root(), error)
}

/// Returns `true` if a directory of NFS has only names of files that were removed while they were open: the
/// client keeps those until they are closed.
fn has_unclosed_only(directory: &OwnedFd) -> bool {
    let Ok(listing) = rustix::fs::Dir::read_from(directory) else {
        return false;
    };
    listing.flatten().all(|item| {
        let name = item.file_name().to_bytes();
        matches!(name, b"." | b"..") || name.starts_with(b".nfs")
    })
}

/// Removes `name` and everything below it.
pub(crate) fn remove_tree(parent: &Arc<OwnedFd>, name: &str) -> Result<(), DiskError> {
    TreeRemoval::begin(parent, name)?.finish()
}

/// A name in staging. When it is dropped, its entry is removed.
#[derive(Debug)]
#[must_use = "it is removed when it is dropped"]
pub struct StagedName {
    place: Place,
    stays: bool,
}

impl StagedName {
    pub(super) fn new(place: Place) -> Self {
        Self {
            place,
            stays: false,
        }
    }

    pub(super) fn place(&self) -> &Place {
        &self.place
    }

    /// Notes that what has the name was moved.
    pub(super) fn moved(&mut self, to: Place) {
        self.place = to;
    }

    /// Leaves the entry of the name where it is.
    pub fn leave(mut self) {
        self.stays = true;
    }
}

impl Drop for StagedName {
    fn drop(&mut self) {
        if !self.stays {
            report(&remove_tree(&self.place.parent, &self.place.name));
        }
    }
}

/// Hands trees over to the thread that removes them; without one, all is removed at once.
#[derive(Clone, Debug, Default)]
pub struct Removals(Option<SyncSender<TreeRemoval>>);

impl Removals {
    /// Removes what has a name, and everything below it: a little at once, the rest behind.
    pub(super) fn remove(&self, at: &Place) -> Result<(), DiskError> {
        let mut removal = TreeRemoval::begin(&at.parent, &at.name)?;
        let Some(sender) = &self.0 else {
            return removal.finish();
        };
        if removal.remove_some(BEFORE_THE_ANSWER)? {
            return Ok(());
        }
        match sender.try_send(removal) {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(removal) | TrySendError::Disconnected(removal)) => {
                removal.finish()
            }
        }
    }
}

/// The thread that removes.
#[derive(Debug)]
pub struct Remover {
    removals: Removals,
    stopping: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Remover {
    /// Starts the thread.
    pub fn start() -> Result<Self, DiskError> {
        let (sender, receiver) = sync_channel(WAITING);
        let stopping = Arc::new(AtomicBool::new(false));
        let thread = std::thread::Builder::new()
            .name("remove".to_owned())
            .spawn({
                let stopping = Arc::clone(&stopping);
                move || remove_until_stopped(&receiver, &stopping)
            })
            .map_err(|error| DiskError::of("remove", &ZonePath::root(), error))?;
        Ok(Self {
            removals: Removals(Some(sender)),
            stopping,
            thread: Some(thread),
        })
    }

    /// Returns a handle for handing removals to the thread.
    #[must_use]
    pub fn removals(&self) -> Removals {
        self.removals.clone()
    }
}

impl Drop for Remover {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        self.removals = Removals::default();
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn remove_until_stopped(receiver: &Receiver<TreeRemoval>, stopping: &AtomicBool) {
    give_way();
    for mut removal in receiver {
        loop {
            if stopping.load(Ordering::Relaxed) {
                return;
            }
            match removal.remove_some(AT_ONCE) {
                Ok(false) => {}
                Ok(true) => break,
                Err(error) => {
                    tracing::warn!(%error, "removed files still take space");
                    break;
                }
            }
        }
    }
}

/// The least that anybody waits for.
const NICE: i32 = 19;

/// Sets the lowest priority for this thread, so that it only gets time that nobody else needs.
pub fn give_way() {
    let this = Some(rustix::thread::gettid());
    if let Err(error) = rustix::process::setpriority_process(this, NICE) {
        let thread = std::thread::current();
        let thread = thread.name();
        tracing::debug!(%error, thread, "a thread works at the usual priority");
    }
}
