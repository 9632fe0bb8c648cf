//! Private copies of what a zone has.
//!
//! Each directory is opened once, on both sides, and its entries are copied by their names in it. Of a
//! small file the content is at hand when it is written: whoever wants to know it need not read the
//! copy.

use std::io::{Read as _, Write as _};

use rustix::fs::Mode;

use super::directory::DIRECTORY;
use super::{StagedEntry, Staging};
use crate::directory::Directory;
use crate::entry::{create_file, file_mode};
use crate::kind::kind_of;
use crate::walk::{each, expect_movable};
use crate::{DiskError, Entry, Kind, Root, Stamp};
use fileshed_types::zone::ZonePath;

/// A larger content is left to the kernel, which may share its blocks.
const SMALL: u64 = 64 * 1024;

impl Staging {
    /// A private copy of an entry below `data`, files and directories; blocks of larger files are
    /// shared where the file system can. `skip` gets paths below the entry and says what is left
    /// out. `seen` gets the contents of small files below a directory, with the states of their
    /// copies. Fails at links and special files.
    pub fn copy_tree(
        &self,
        data: &Root,
        entry: &Entry,
        skip: impl Fn(&ZonePath) -> bool,
        mut seen: impl FnMut(Vec<u8>, Stamp),
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
                    rustix::fs::mkdirat(to.handle(), &*name, DIRECTORY)
                        .map_err(|error| DiskError::of("copy", &path, error))?;
                    pending.push(inside);
                } else {
                    let file = (&*text, stat.st_size as u64, mode_of(stat.st_mode));
                    copy_file((&from, &to), file, &mut seen)?;
                }
            }
        }
        Ok(copy.into())
    }
}

/// What a copy of a file may: read and write, and be executed where the file may.
fn mode_of(mode: u32) -> Mode {
    file_mode(mode & 0o100 != 0)
}

/// Copies a file of this name, of about this size.
fn copy_file(
    (from, to): (&Directory, &Directory),
    (name, size, mode): (&str, u64, Mode),
    seen: &mut impl FnMut(Vec<u8>, Stamp),
) -> Result<(), DiskError> {
    let path = from.path().join(name);
    let fail = |error: std::io::Error| DiskError::of("copy", &path, error);
    let mut file = from.open(name)?;
    let mut copy = create_file(to.handle(), name, mode, &path)?;
    if size >= SMALL {
        std::io::copy(&mut file, &mut copy).map_err(fail)?;
        return Ok(());
    }
    // One byte more than there is shows the end with the second read.
    let mut content = Vec::with_capacity(size as usize + 1);
    file.take(u64::MAX)
        .read_to_end(&mut content)
        .map_err(fail)?;
    copy.write_all(&content).map_err(fail)?;
    seen(content, Stamp::of_file(&copy)?);
    Ok(())
}
