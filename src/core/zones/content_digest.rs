//! SHA-256 of file contents.

use std::fs::File;
use std::os::unix::fs::FileExt as _;

use sha2::{Digest as _, Sha256};

use crate::zone::ZonePath;
use fileshed_storage::DiskError;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// Returns the hash of a file's whole content; its position stays. A failure names `path`.
pub fn sha256_of(file: &File, path: &ZonePath) -> Result<Sha256, DiskError> {
    let (mut hash, mut piece, mut position) = (Sha256::new(), vec![0; PIECE], 0);
    let fail = |error| DiskError::of("read", path, error);
    loop {
        match file.read_at(&mut piece, position).map_err(fail)? {
            0 => return Ok(hash),
            read => {
                hash.update(&piece[..read]);
                position += read as u64;
            }
        }
    }
}
