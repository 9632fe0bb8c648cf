//! Whether what arrives is there already.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use sha2::{Digest, Sha256};

use fileshed_storage::{DiskError, Entry, Kind};

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// What a content is known by.
#[derive(Clone, Default)]
pub(super) struct Fingerprint(Sha256);

impl std::fmt::Debug for Fingerprint {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Fingerprint(…)")
    }
}

impl Fingerprint {
    /// Takes the next piece of the content.
    pub(super) fn add(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// Whether a file holds this content of `size` bytes.
    pub(super) fn is_of(&self, entry: &Entry, size: u64) -> Result<bool, DiskError> {
        if entry.kind() != Kind::File || entry.size() != size {
            return Ok(false);
        }
        let other = Self::of(&entry.open()?);
        let other = other.map_err(|error| DiskError::of("read", entry.path(), error))?;
        Ok(self.0.clone().finalize() == other.0.finalize())
    }

    /// What the content of a file is known by; the file stays where it stands.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let (mut fingerprint, mut piece, mut position) = (Self::default(), vec![0; PIECE], 0);
        loop {
            let read = file.read_at(&mut piece, position)?;
            if read == 0 {
                return Ok(fingerprint);
            }
            fingerprint.add(&piece[..read]);
            position += read as u64;
        }
    }
}
