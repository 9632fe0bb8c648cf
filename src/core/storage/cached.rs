//! Files that are read, and directories that are listed, without waiting for a disk.
//!
//! The kernel itself tells whether that is possible: it resolves a path only as far as it has the names
//! in memory (`RESOLVE_CACHED`), and reads only bytes that are in memory (`RWF_NOWAIT`). It cannot be
//! asked for the entries of a directory in such a way: [`RecentDirectories`] says how that is known.
//! These functions return `None` if that is not possible, or if something is not plain: a link in the
//! path, another spelling, a missing right. The caller repeats the access in a way that may block and
//! reports failures.

use std::collections::HashMap;
use std::io::IoSliceMut;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, ReadWriteFlags};

use super::directory::names_of;
use super::handle::{BENEATH, is_local};
use super::kind::kind_of;
use super::{DiskError, FileIdentity, Kind, Root, Stamp, WalkEntry};
use fileshed_types::{Clock, Mutex, Timings, ZonePath};

/// Most names of a directory that is listed so: examining more would delay other requests.
const MOST_NAMES: usize = 200;

/// Reads files and directories that are in the kernel's memory.
#[derive(Debug)]
pub struct CachedReader {
    root: Root,
    recent: RecentDirectories,
    /// `true` until the kernel or the file system turns out to be unable to tell what is in memory.
    is_able: AtomicBool,
}

/// A file as it was when it was opened.
#[derive(Debug)]
pub struct CachedFile {
    /// All of it.
    pub bytes: Vec<u8>,
    /// Its state.
    pub stamp: Stamp,
}

impl CachedReader {
    /// Creates a reader of the files below `root`.
    pub fn new(root: &Root) -> Result<Self, DiskError> {
        Ok(Self {
            root: root.try_clone()?,
            recent: RecentDirectories::default(),
            is_able: AtomicBool::new(true),
        })
    }

    /// Reads the regular file at `path`, which has no links and no `..`. Does not block: `None` if it
    /// would have to, if the file has more than `most` bytes, and if there is no such file.
    pub fn read(&self, path: &str, most: u64) -> Option<CachedFile> {
        self.known(|| self.try_read(path, most))
    }

    /// Lists the small directory at `path`, unordered, without names that are not UTF-8. The paths of
    /// its entries begin with `called`. Does not block: `None` if it might have to, and if there is no
    /// such directory.
    pub fn list(&self, path: &str, called: &ZonePath) -> Option<Vec<WalkEntry>> {
        self.known(|| self.try_list(path, called))
    }

    /// Returns the result of `ask`, if the kernel is able to give one.
    fn known<T>(&self, ask: impl FnOnce() -> Result<Option<T>, Errno>) -> Option<T> {
        if !self.is_able.load(Ordering::Relaxed) {
            return None;
        }
        match ask() {
            Ok(found) => found,
            // The system call, its flag or the flag of the read is unknown here, and stays so.
            Err(Errno::NOSYS | Errno::INVAL | Errno::OPNOTSUPP) => {
                self.is_able.store(false, Ordering::Relaxed);
                None
            }
            Err(_) => None,
        }
    }

    fn try_read(&self, path: &str, most: u64) -> Result<Option<CachedFile>, Errno> {
        let file = self.open(path, OFlags::NONBLOCK)?;
        let stat = rustix::fs::fstat(&file)?;
        let stamp = Stamp::of(&stat);
        if kind_of(&stat) != Kind::File || stamp.size() > most {
            return Ok(None);
        }
        let mut bytes = vec![0; stamp.size() as usize];
        if !bytes.is_empty() {
            let mut into = [IoSliceMut::new(&mut bytes)];
            let read = rustix::io::preadv2(&file, &mut into, 0, ReadWriteFlags::NOWAIT)?;
            if read < bytes.len() {
                return Ok(None);
            }
        }
        Ok(Some(CachedFile { bytes, stamp }))
    }

    fn try_list(&self, path: &str, called: &ZonePath) -> Result<Option<Vec<WalkEntry>>, Errno> {
        let directory = self.open(path, OFlags::DIRECTORY)?;
        if !self.recent.has(&directory)? {
            return Ok(None);
        }
        let names = names_of(&directory)?;
        if names.len() > MOST_NAMES {
            return Ok(None);
        }
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            match rustix::fs::statat(&directory, &*name.text, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(stat) => found.push(WalkEntry::new(called.join(&name.text), stat)),
                Err(Errno::NOENT) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Some(found))
    }

    /// Opens what the kernel has in memory, without a link on the way.
    fn open(&self, path: &str, more: OFlags) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | more;
        let way = BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::CACHED;
        rustix::fs::openat2(self.root.handle(), path, flags, Mode::empty(), way)
    }
}

/// Time for which the kernel is taken to keep a directory that it read.
const MOMENT: Duration = Timings::STANDARD.storage.cached;

/// Directories that are remembered.
const MOST_DIRECTORIES: usize = 4096;

/// Most bytes of a directory: the names of a larger one are too many.
const MOST_BYTES: i64 = 16 * 1024;

/// Directories that somebody looked through, with the time of that.
#[derive(Debug, Default)]
struct RecentDirectories(Mutex<HashMap<FileIdentity, Instant>>);

impl RecentDirectories {
    /// Returns `true` if this one is small, and was looked through a moment ago. Notes that it is looked
    /// through now, because the caller does so in any case.
    fn has(&self, directory: &OwnedFd) -> Result<bool, Errno> {
        if !is_local(directory)? {
            return Ok(false);
        }
        let stat = rustix::fs::fstat(directory)?;
        if stat.st_size > MOST_BYTES {
            return Ok(false);
        }
        let now = Clock::SYSTEM.instant();
        let mut known = self.0.lock();
        if known.len() >= MOST_DIRECTORIES {
            known.clear();
        }
        let before = known.insert(FileIdentity::of(&stat), now);
        Ok(before.is_some_and(|before| now.duration_since(before) < MOMENT))
    }
}
