//! Objects that have a file each.

use std::io;

use git2::Oid;
use rustix::fs::{AtFlags, Dir};
use rustix::io::Errno;

use super::place::{self, PackPlace};

/// One of them.
#[derive(Debug)]
pub(super) struct Loose {
    pub(super) id: Oid,
    /// What its file takes on disk.
    pub(super) bytes: u64,
    /// When its file was written.
    pub(super) written: (i64, i64),
}

/// All whose files have at most so many bytes.
pub(super) fn list(place: &PackPlace, largest: u64) -> io::Result<Vec<Loose>> {
    let mut found = Vec::new();
    for name in place::directories() {
        let directory = match place.objects_below(&name) {
            Err(Errno::NOENT | Errno::NOTDIR) => continue,
            opened => opened?,
        };
        for item in Dir::read_from(&directory)? {
            let item = item?;
            let rest = item.file_name().to_string_lossy();
            if rest.len() != 38 {
                continue;
            }
            let Ok(id) = Oid::from_str(&format!("{name}{rest}")) else {
                continue;
            };
            let stat = match rustix::fs::statat(&directory, &*rest, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => continue,
                stat => stat?,
            };
            let bytes = (stat.st_blocks as u64) * 512;
            if bytes <= largest {
                found.push(Loose {
                    id,
                    bytes,
                    written: (stat.st_mtime, stat.st_mtime_nsec as i64),
                });
            }
        }
    }
    Ok(found)
}

/// Removes the file of an object that a pack has.
pub(super) fn remove(place: &PackPlace, id: Oid) -> io::Result<()> {
    let digits = id.to_string();
    let (directory, name) = digits.split_at(2);
    place.remove_object(&format!("{directory}/{name}"))
}
