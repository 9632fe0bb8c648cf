//! Removing behind the answer: what left its zone in one rename is gone for everybody, whatever
//! time the disk takes for its files.
//!
//! It waits in staging under the name of this process. What a process does not get to is swept by
//! the next one, as everything that a dead process staged.

use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use super::remove::remove_directories;
use super::remove_tree;
use crate::handle::{clone_handle, stat_at};
use crate::kind::kind_of;
use crate::priority::give_way;
use crate::{DiskError, Kind};
use fileshed_types::zone::ZonePath;

/// Entries that are removed before the answer: with so few, to hand them over costs more.
const BEFORE_THE_ANSWER: usize = 16;

/// Entries that are removed between two looks at whether the server stops.
const AT_ONCE: usize = 256;

/// Directories that may wait; beyond them nobody is answered before the files are gone.
const WAITING: usize = 64;

/// A directory that is being removed.
#[derive(Debug)]
struct PendingRemoval {
    parent: OwnedFd,
    name: String,
    directories: Vec<String>,
}

impl PendingRemoval {
    /// Removes so many entries of it. Whether that was all.
    fn remove_some(&mut self, entries: usize) -> Result<bool, DiskError> {
        let mut most = entries;
        remove_directories(&self.parent, &self.name, &mut self.directories, &mut most)?;
        Ok(self.directories.is_empty())
    }
}

/// The way to the thread that removes; without one, all is removed at once.
#[derive(Clone, Debug, Default)]
pub struct Removals(Option<SyncSender<PendingRemoval>>);

impl Removals {
    /// Removes `name` and everything below it: a little at once, the rest behind.
    pub(super) fn remove(&self, parent: &OwnedFd, name: &str) -> Result<(), DiskError> {
        let stat = stat_at(parent, name, &ZonePath::root())?;
        let is_directory = stat.is_some_and(|stat| kind_of(&stat) == Kind::Directory);
        let Some(sender) = self.0.as_ref().filter(|_| is_directory) else {
            return remove_tree(parent, name);
        };
        let mut waiting = PendingRemoval {
            parent: clone_handle(parent)?,
            name: name.to_owned(),
            directories: vec![name.to_owned()],
        };
        if waiting.remove_some(BEFORE_THE_ANSWER)? {
            return Ok(());
        }
        if let Err(error) = sender.try_send(waiting) {
            let (std::sync::mpsc::TrySendError::Full(mut waiting)
            | std::sync::mpsc::TrySendError::Disconnected(mut waiting)) = error;
            while !waiting.remove_some(AT_ONCE)? {}
        }
        Ok(())
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

    /// A way to it.
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

fn remove_until_stopped(receiver: &Receiver<PendingRemoval>, stopping: &AtomicBool) {
    give_way();
    for mut waiting in receiver {
        loop {
            if stopping.load(Ordering::Relaxed) {
                return;
            }
            match waiting.remove_some(AT_ONCE) {
                Ok(false) => {}
                Ok(true) => break,
                Err(error) => {
                    tracing::warn!(%error, "what was removed still takes space");
                    break;
                }
            }
        }
    }
}
