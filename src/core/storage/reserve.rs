//! Space that is kept back, so that something can be deleted on a full disk.
//!
//! A deletion needs a little space itself: in the registry, in staging, in history. One file of the
//! server's own holds it. An operation that frees space gives the file up if no other space is left, and
//! it is taken back as soon as there is enough. Other programs may take the space first, so empty
//! directories are kept as well, because no command runs without one.

use super::{DiskError, PrivateDirectory, Root, Staging};
use fileshed_types::Mutex;

/// The name of the file, in the data directory.
const NAME: &str = ".reserve";

/// The directory that holds the kept directories.
const DIRECTORIES: &str = ".spare";

/// Number of directories that are kept.
const SPARE: usize = 16;

/// Bytes that are kept for several deletions at once: for a registry that grows, and for trees of a
/// large history.
const BYTES: u64 = 4 * 1024 * 1024;

/// Free space below which the reserve is given up.
const NEEDED: u64 = BYTES / 2;

/// Free space from which on the reserve is taken back.
const PLENTY: u64 = 4 * BYTES;

/// The kept space of one data directory.
#[derive(Debug)]
pub struct Reserve {
    directory: Root,
    /// `true` if this process last saw the reserve in place.
    is_kept: Mutex<bool>,
}

impl Reserve {
    /// Takes the reserve, if there is enough space.
    pub fn take(directory: &Root) -> Result<Self, DiskError> {
        let reserve = Self {
            directory: directory.try_clone()?,
            is_kept: Mutex::new(false),
        };
        reserve.keep();
        Ok(reserve)
    }

    /// Gives the reserve up if hardly any other space is left.
    pub fn release(&self) {
        let mut is_kept = self.is_kept.lock();
        if self.free() >= NEEDED {
            return;
        }
        *is_kept = false;
        match self.directory.remove_file(NAME) {
            Ok(()) => tracing::warn!("the disk is full: deletions use the space kept for them"),
            Err(error) => {
                tracing::error!(%error, "the space kept for deletions could not be released");
            }
        }
    }

    /// Returns the bytes that may be used so that deletions need not use the reserve then.
    #[must_use]
    pub fn room(&self) -> u64 {
        self.free().saturating_sub(BYTES)
    }

    /// Returns `true` if the reserve was given up, and there is too little space to take it back.
    #[must_use]
    pub fn is_needed(&self) -> bool {
        !*self.is_kept.lock() && self.free() < PLENTY
    }

    /// Returns `true` if so many bytes would leave too little space.
    #[must_use]
    pub fn lacks(&self, bytes: u64) -> bool {
        self.free() < bytes.saturating_add(NEEDED)
    }

    /// Takes the reserve back as soon as it fits, for a writer that has just freed space. Returns `true`
    /// if the reserve is in place.
    pub fn restore(&self) -> bool {
        let mut is_kept = self.is_kept.lock();
        if !*is_kept && self.free() >= BYTES + BYTES / 64 {
            *is_kept = self.allocate().is_ok();
        }
        *is_kept
    }

    /// Takes the reserve again if there is plenty of space.
    pub fn keep(&self) {
        let mut is_kept = self.is_kept.lock();
        if *is_kept || self.free() < PLENTY {
            return;
        }
        match self.allocate() {
            Ok(()) => *is_kept = true,
            Err(error) => tracing::warn!(%error, "no space could be reserved for deletions"),
        }
    }

    /// Returns a directory for one command, and gives the reserve up for it: a new directory, or one of
    /// the kept ones.
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

    /// Returns the bytes that are free for this account.
    fn free(&self) -> u64 {
        self.directory.free_space().unwrap_or(u64::MAX)
    }
}
