//! SHA-256 of file contents.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

use sha2::{Digest as _, Sha256};

use crate::zone::ZonePath;
use fileshed_storage::DiskError;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// Returns the hash of a file's whole content; its position stays. A failure names `path`.
pub fn sha256_of(file: &File, path: &ZonePath) -> Result<Sha256, DiskError> {
    sha256_between(file, 0..u64::MAX, path)
}

/// Returns the hash of the bytes of a file in a range, as far as it has them.
pub fn sha256_between(
    file: &File,
    range: Range<u64>,
    path: &ZonePath,
) -> Result<Sha256, DiskError> {
    let (mut hash, mut piece, mut position) = (Sha256::new(), vec![0; PIECE], range.start);
    loop {
        let left = range.end.saturating_sub(position).min(PIECE as u64) as usize;
        let read = file.read_at(&mut piece[..left], position);
        match read.map_err(|error| DiskError::of("read", path, error))? {
            0 => return Ok(hash),
            read => {
                hash.update(&piece[..read]);
                position += read as u64;
            }
        }
    }
}
