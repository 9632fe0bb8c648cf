//! Private copies of what a zone has.
//!
//! Each directory is opened once, on both sides, and its entries are copied by their names in it.

use rustix::fs::Mode;

use super::{StagedEntry, Staging};
use crate::entry::{DIRECTORY_MODE, create_file, file_mode};
use crate::kind::kind_of;
use crate::walk::{each, expect_movable};
use crate::{DiskError, Entry, Kind, Root};
use fileshed_types::zone::ZonePath;

impl Staging {
    /// Makes a private copy of an entry below `data`, files and directories; blocks are shared if the
    /// file system can. `skip` gets paths below the entry and returns `true` for those to leave out.
    /// Fails at links and special files.
    pub fn copy_tree(
        &self,
        data: &Root,
        entry: &Entry,
        skip: impl Fn(&ZonePath) -> bool,
    ) -> Result<StagedEntry, DiskError> {
        expect_movable(entry.path().as_str().as_bytes(), entry.kind(), entry)?;
        if entry.kind() == Kind::File {
            let mut staged = self.copy(entry.open()?)?;
            rustix::fs::fchmod(staged.file(), mode_of(entry.mode()))
                .map_err(|error| DiskError::of("copy", entry.path(), error))?;
            return Ok(staged.into());
        }
        let copy = self.directory()?;
        let mut pending = vec![ZonePath::root()];
        while let Some(inside) = pending.pop() {
            let from = match data.hold(&entry.path().join_path(&inside)) {
                // Gone since it was seen.
                Err(error) if !inside.is_root() && error.is_gone() => continue,
                held => held?,
            };
            let to = copy.open(&inside)?;
            let mut names = Vec::new();
            each(from.handle(), from.path(), |name, stat| {
                names.push((name.to_owned(), stat));
            })?;
            for (name, stat) in names {
                let text = name.to_string_lossy();
                let (path, inside) = (from.path().join(&text), inside.join(&text));
                if skip(&inside) {
                    continue;
                }
                let kind = kind_of(&stat);
                let bytes = [from.path().as_str().as_bytes(), b"/", name.to_bytes()].concat();
                expect_movable(&bytes, kind, entry)?;
                if kind == Kind::Directory {
                    rustix::fs::mkdirat(to.handle(), &*name, DIRECTORY_MODE)
                        .map_err(|error| DiskError::of("copy", &path, error))?;
                    pending.push(inside);
                } else {
                    let mut copy = create_file(to.handle(), &text, mode_of(stat.st_mode), &path)?;
                    self.copy_all(&mut from.open(&text)?, &mut copy)
                        .map_err(|error| DiskError::of("copy", &path, error))?;
                }
            }
        }
        Ok(copy.into())
    }
}

/// Returns the mode of a copied file: it can be read and written, and executed if the original can be.
fn mode_of(mode: u32) -> Mode {
    file_mode(mode & 0o100 != 0)
}
