//! Identity and state of a file, told without reading it.

use std::fs::File;

use jiff::Timestamp;
use rustix::fs::Stat;
use sha2::{Digest, Sha256};

use super::DiskError;
use fileshed_types::zone::ZonePath;

/// One state of one file. Every write of the server makes a new file, and whatever else changes
/// one moves its time of change, which nobody can set back. The clock of the kernel moves in steps
/// of some milliseconds: two changes in place within one step look alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    size: u64,
    modified: (i64, u64),
    changed: (i64, u64),
}

/// Device and inode of a file, which it keeps under every name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileIdentity {
    device: u64,
    inode: u64,
}

/// Inode and size of a file, and when its content was written, in nanoseconds since 1970.
pub type ContentState = (u64, u64, i64);

impl FileIdentity {
    /// Returns the identity of a file about which the kernel said this.
    #[must_use]
    pub fn of(stat: &Stat) -> Self {
        Self {
            device: stat.st_dev,
            inode: stat.st_ino,
        }
    }
}

impl Stamp {
    pub(super) fn of(stat: &Stat) -> Self {
        Self {
            inode: stat.st_ino,
            size: stat.st_size as u64,
            modified: (stat.st_mtime, stat.st_mtime_nsec),
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        }
    }

    /// Returns the state of an open file.
    pub fn of_file(file: &File) -> Result<Self, DiskError> {
        rustix::fs::fstat(file)
            .map(|stat| Self::of(&stat))
            .map_err(|error| DiskError::of("look at", &ZonePath::root(), error))
    }

    /// Returns `true` if a file in this state has the content of one in the other: it is the same
    /// file, which got another name, mode or attribute at most.
    #[must_use]
    pub fn has_content_of(&self, other: &Self) -> bool {
        let changed = other.changed;
        Self { changed, ..*self } == *other
    }

    /// Returns what stays the same as long as the content does: inode, size, and when the content was
    /// written, in nanoseconds.
    #[must_use]
    pub fn content(&self) -> ContentState {
        let (seconds, nanoseconds) = self.modified;
        let written = seconds.saturating_mul(1_000_000_000);
        (
            self.inode,
            self.size,
            written.saturating_add_unsigned(nanoseconds),
        )
    }

    /// Returns the size in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns the time when the content was written, to the second.
    #[must_use]
    pub fn modified(&self) -> Timestamp {
        Timestamp::from_second(self.modified.0).unwrap_or_default()
    }

    /// Returns the same time to the nanosecond.
    #[must_use]
    pub fn modified_exactly(&self) -> Timestamp {
        let (second, nanosecond) = self.modified;
        Timestamp::new(second, nanosecond as i32).unwrap_or_default()
    }

    /// Returns the inode.
    #[must_use]
    pub fn inode(&self) -> u64 {
        self.inode
    }

    /// Returns a text that differs from that of every other state.
    #[must_use]
    pub fn tag(&self) -> String {
        let state = format!(
            "{} {} {:?} {:?}",
            self.inode, self.size, self.modified, self.changed
        );
        let mut tag = hex::encode(Sha256::digest(state));
        tag.truncate(32);
        tag
    }
}
