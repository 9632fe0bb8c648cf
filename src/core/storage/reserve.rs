//! Space that is kept back, so that something can be deleted on a full disk.
//!
//! A deletion needs a little space itself: in the registry, in staging, in history. One file of
//! the server's own holds it; whoever frees space gives it up when there is none left, and it is
//! taken back as soon as there is enough. Other programs may be faster when it is given up, so empty
//! directories are kept as well, without which no command runs.

use super::{DiskError, PrivateDirectory, Root, Staging};
use fileshed_types::Mutex;

/// The file, beside everything else.
const NAME: &str = ".reserve";

/// The directory of those that are kept.
const DIRECTORIES: &str = ".spare";

/// Number of directories that are kept.
const SPARE: usize = 16;

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
        let mut is_kept = self.is_kept.lock();
        if self.free() >= NEEDED {
            return;
        }
        *is_kept = false;
        match self.directory.remove_file(NAME) {
            Ok(()) => tracing::warn!("the disk is full: deletions use the space kept for them"),
            Err(error) => tracing::error!(%error, "the space kept for deletions stays taken"),
        }
    }

    /// Bytes that may be taken, so that deletions need not live on it then.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.free().saturating_sub(BYTES)
    }

    /// Whether it was given up, and there is too little to take it back.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        !*self.is_kept.lock() && self.free() < PLENTY
    }

    /// Whether so many bytes would leave too little.
    #[must_use]
    pub fn lacks(&self, bytes: u64) -> bool {
        self.free() < bytes.saturating_add(NEEDED)
    }

    /// Takes it back as soon as it fits: for who wants to write and has just freed something. Returns
    /// `true` if it is there.
    pub fn restore(&self) -> bool {
        let mut is_kept = self.is_kept.lock();
        if !*is_kept && self.free() >= BYTES + BYTES / 64 {
            *is_kept = self.allocate().is_ok();
        }
        *is_kept
    }

    /// Takes it again where there is enough.
    pub fn keep(&self) {
        let mut is_kept = self.is_kept.lock();
        if *is_kept || self.free() < PLENTY {
            return;
        }
        match self.allocate() {
            Ok(()) => *is_kept = true,
            Err(error) => tracing::warn!(%error, "no space can be kept for deletions"),
        }
    }

    /// A directory for one command, for which it is given up: a new one, or one of those that are kept.
    pub fn private_directory(&self, staging: &Staging) -> Result<PrivateDirectory, DiskError> {
        self.release();
        let full = match staging.private_directory() {
            Err(full @ DiskError::Full) => full,
            made => return made,
        };
        let Some(spare) = self.directory.existing_subdirectory(DIRECTORIES)? else {
            return Err(full);
        };
        let mut spare = (0..SPARE).map(|number| staging.adopt(&spare, &number.to_string()));
        spare.find_map(Result::ok).ok_or(full)
    }

    fn allocate(&self) -> Result<(), DiskError> {
        let spare = self.directory.subdirectory(DIRECTORIES)?;
        for number in 0..SPARE {
            spare.subdirectory(&number.to_string())?;
        }
        self.directory.make_private_file(NAME)?;
        self.directory.set_space_aside(NAME, BYTES)
    }

    /// Bytes that are free for this account.
    fn free(&self) -> u64 {
        self.directory.free_space().unwrap_or(u64::MAX)
    }
}
