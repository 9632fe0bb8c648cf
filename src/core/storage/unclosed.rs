//! Bytes of a file whose descriptor stays open until the process ends.

use std::mem::ManuallyDrop;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags};

use super::Root;

/// A file that is never closed. SQLite's locks are those of the process (`fcntl`), and to close any
/// descriptor of a file ends all that the process has on it.
#[derive(Debug)]
pub struct UnclosedFile(ManuallyDrop<OwnedFd>);

impl UnclosedFile {
    /// Opens the file `name` in a directory of the server's own; nothing where that cannot be.
    #[must_use]
    pub fn open(directory: &Root, name: &str) -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = rustix::fs::openat(directory.handle(), name, flags, Mode::empty());
        Some(Self(ManuallyDrop::new(file.ok()?)))
    }

    /// The first bytes as they are now; nothing where there are fewer.
    #[must_use]
    pub fn first<const LENGTH: usize>(&self) -> Option<[u8; LENGTH]> {
        self.at(0)
    }

    /// The bytes at `offset` as they are now; nothing where there are fewer.
    #[must_use]
    pub fn at<const LENGTH: usize>(&self, offset: u64) -> Option<[u8; LENGTH]> {
        let mut bytes = [0; LENGTH];
        let read = rustix::io::pread(&*self.0, &mut bytes, offset).ok()?;
        (read == LENGTH).then_some(bytes)
    }
}
