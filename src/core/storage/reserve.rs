//! Space that is kept back, so that something can be deleted on a full disk.
//!
//! A deletion needs a little space itself: in the registry, in staging, in history. One file of
//! the server's own holds it; whoever frees space gives it up when there is none left, and it is
//! taken back as soon as there is enough.

use std::sync::Mutex;

use rustix::fs::{AtFlags, FallocateFlags, Mode, OFlags};
use rustix::io::Errno;

use super::{DiskError, Root};

/// The file, beside everything else.
const NAME: &str = ".reserve";

/// What deletions have, several at once: a registry that grows, trees of a large history.
const BYTES: u64 = 4 * 1024 * 1024;

/// Where less than this is free, it is given up.
const NEEDED: u64 = BYTES / 2;

/// Where this much is free, it is taken back.
const PLENTY: u64 = 4 * BYTES;

/// The kept space of one data directory.
#[derive(Debug)]
pub struct Reserve {
    directory: Root,
    /// Whether this process last saw it there.
    is_kept: Mutex<bool>,
}

impl Reserve {
    /// Takes it, where there is enough.
    pub fn take(directory: &Root) -> Result<Self, DiskError> {
        let reserve = Self {
            directory: directory.try_clone()?,
            is_kept: Mutex::new(false),
        };
        reserve.keep();
        Ok(reserve)
    }

    /// Gives it up where nothing else is left.
    pub fn release(&self) {
        let mut is_kept = self.is_kept();
        if self.free() >= NEEDED {
            return;
        }
        *is_kept = false;
        match rustix::fs::unlinkat(self.directory.handle(), NAME, AtFlags::empty()) {
            Ok(()) => tracing::warn!("the disk is full: deletions use the space kept for them"),
            Err(Errno::NOENT) => {}
            Err(error) => tracing::error!(%error, "the space kept for deletions stays taken"),
        }
    }

    /// Whether it was given up, and there is too little to take it back.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        !*self.is_kept() && self.free() < PLENTY
    }

    /// Takes it again where there is enough.
    pub fn keep(&self) {
        let mut is_kept = self.is_kept();
        if *is_kept || self.free() < PLENTY {
            return;
        }
        match self.allocate() {
            Ok(()) => *is_kept = true,
            Err(error) => tracing::warn!(%error, "no space can be kept for deletions"),
        }
    }

    fn allocate(&self) -> Result<(), Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::RUSR | Mode::WUSR;
        let file = rustix::fs::openat(self.directory.handle(), NAME, flags, mode)?;
        rustix::fs::fallocate(&file, FallocateFlags::empty(), 0, BYTES)
    }

    /// Bytes that are free for this account.
    fn free(&self) -> u64 {
        self.directory.free_space().unwrap_or(u64::MAX)
    }

    fn is_kept(&self) -> std::sync::MutexGuard<'_, bool> {
        self.is_kept
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
