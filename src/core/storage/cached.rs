//! Files that are read without waiting for a disk.
//!
//! The kernel itself says whether that can be: it resolves a path only as far as it has the names in
//! memory (`RESOLVE_CACHED`), and reads only bytes that are there (`RWF_NOWAIT`). Where it cannot, and
//! wherever something is not as plain as can be (a link on the way, another spelling, a right that is
//! missing), there is nothing here: who may block looks again, and says what is wrong.

use std::io::IoSliceMut;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::{Errno, ReadWriteFlags};

use super::handle::BENEATH;
use super::kind::kind_of;
use super::{DiskError, Kind, Root, Stamp};

/// Reads files that are in memory.
#[derive(Debug)]
pub struct CachedReader {
    root: Root,
    /// Whether the kernel and the file system can say what is in memory, as far as is known.
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
    /// Reads files below `root`.
    pub fn new(root: &Root) -> Result<Self, DiskError> {
        Ok(Self {
            root: root.try_clone()?,
            is_able: AtomicBool::new(true),
        })
    }

    /// The regular file of at most so many bytes at `path`, which has no links and no `..`. Does not
    /// block: nothing where it would have to, and where there is no such file.
    pub fn read(&self, path: &str, most: u64) -> Option<CachedFile> {
        if !self.is_able.load(Ordering::Relaxed) {
            return None;
        }
        match self.try_read(path, most) {
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
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let way = BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::CACHED;
        let file = rustix::fs::openat2(self.root.handle(), path, flags, Mode::empty(), way)?;
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
}
