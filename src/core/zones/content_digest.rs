//! SHA-256 of file contents.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use sha2::{Digest as _, Sha256};

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// Returns the hash of a file's whole content; its position stays.
pub fn sha256_of(file: &File) -> io::Result<Sha256> {
    let (mut hash, mut piece, mut position) = (Sha256::new(), vec![0; PIECE], 0);
    loop {
        match file.read_at(&mut piece, position)? {
            0 => return Ok(hash),
            read => {
                hash.update(&piece[..read]);
                position += read as u64;
            }
        }
    }
}
