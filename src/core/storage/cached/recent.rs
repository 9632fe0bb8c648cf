//! Directories that somebody looked through a moment ago.
//!
//! The kernel has no way to be asked for the entries of a directory only as far as they are in memory.
//! On a file system that keeps what it read, they are there when the directory was looked through a
//! moment ago; where it has to ask a server, that is never known.

use std::collections::HashMap;
use std::os::fd::OwnedFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fileshed_types::{Clock, Timings};
use rustix::io::Errno;

use crate::file_system::is_local;

/// How long the kernel keeps what it read, where nothing else is known of it.
const MOMENT: Duration = Timings::STANDARD.storage.cached;

/// Directories that are remembered.
const MOST_DIRECTORIES: usize = 4096;

/// Most bytes of a directory: the names of a larger one are too many.
const MOST_BYTES: i64 = 16 * 1024;

/// When directories were looked through, by their file systems and numbers there.
#[derive(Debug, Default)]
pub(super) struct RecentDirectories(Mutex<HashMap<(u64, u64), Instant>>);

impl RecentDirectories {
    /// Whether this one is small, and was looked through a moment ago. It is about to be looked through
    /// in any case, and so it was from now on.
    pub(super) fn has(&self, directory: &OwnedFd) -> Result<bool, Errno> {
        if !is_local(directory)? {
            return Ok(false);
        }
        let stat = rustix::fs::fstat(directory)?;
        if stat.st_size > MOST_BYTES {
            return Ok(false);
        }
        let now = Clock::SYSTEM.instant();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST_DIRECTORIES {
            known.clear();
        }
        let before = known.insert((stat.st_dev, stat.st_ino), now);
        Ok(before.is_some_and(|before| now.duration_since(before) < MOMENT))
    }
}
