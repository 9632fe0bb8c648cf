//! Whether what arrives is there already.

use std::io::Read;

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
        let mut file = entry.open()?;
        let (mut other, mut piece) = (Self::default(), vec![0; PIECE]);
        loop {
            let read = file.read(&mut piece);
            let read = read.map_err(|error| DiskError::of("read", entry.path(), error))?;
            if read == 0 {
                return Ok(self.0.clone().finalize() == other.0.finalize());
            }
            other.add(&piece[..read]);
        }
    }
}
