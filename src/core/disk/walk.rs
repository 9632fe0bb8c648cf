//! Reading whole trees: names, sizes, and what changed.
//!
//! A walk opens every directory anew from the root, by openat2 without links, so that it holds one
//! handle at any depth and never leaves the zone. Its cost grows with the tree; only what must see
//! everything walks (`shed_tree`, a measurement after a command, a search for changes).

use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;

use super::root::{kind_of, open_raw, reopen_raw};
use super::{DiskError, Kind, Root};
use crate::zone::{PATH_MAX_BYTES, ZonePath};

/// One entry of a walk.
#[derive(Debug)]
pub struct Found {
    /// Path below the walked root.
    pub path: ZonePath,
    /// What it is.
    pub kind: Kind,
    /// Everything that the kernel says about it.
    pub stat: Stat,
}

impl Found {
    /// Size of a file in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.stat.st_size as u64
    }
}

/// Space that a tree takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Sum of the sizes of all files.
    pub bytes: u64,
    /// Number of files.
    pub files: u64,
}

impl Root {
    /// The entries of one directory, unordered. Names that are not UTF-8 are left out: no path
    /// can say them.
    pub fn list(&self, path: &ZonePath) -> Result<Vec<Found>, DiskError> {
        let (directory, real) = self.directory(path)?;
        let mut found = Vec::new();
        each(&directory, &real, |name, stat| {
            if let Ok(name) = name.to_str() {
                found.push(Found {
                    path: real.join(name),
                    kind: kind_of(&stat),
                    stat,
                });
            }
        })?;
        Ok(found)
    }

    /// Every entry below `path`, parents before children, directories that vanish meanwhile left
    /// out. `visit` decides for a directory whether the walk goes into it.
    pub fn walk(
        &self,
        path: &ZonePath,
        mut visit: impl FnMut(&Found) -> Result<bool, DiskError>,
    ) -> Result<(), DiskError> {
        let mut pending = vec![path.clone()];
        let mut first = true;
        while let Some(directory) = pending.pop() {
            let entries = match self.list(&directory) {
                // What is nested deeper than a path can say is left out, too.
                Err(DiskError::TooDeep { .. }) if !first => continue,
                Err(error) if !first && error.is_gone() => continue,
                other => other?,
            };
            first = false;
            for entry in entries {
                if visit(&entry)? && entry.kind == Kind::Directory {
                    pending.push(entry.path);
                }
            }
        }
        Ok(())
    }

    /// Space of everything below the root, whatever the names. Files with several names count
    /// once for each.
    pub fn measure(&self) -> Result<Totals, DiskError> {
        self.measure_below(&ZonePath::root())
    }

    /// Space of everything below one directory.
    pub(crate) fn measure_below(&self, path: &ZonePath) -> Result<Totals, DiskError> {
        let mut totals = Totals::default();
        self.survey(path, |_, kind, stat| {
            if kind == Kind::File {
                totals.bytes += stat.st_size as u64;
                totals.files += 1;
            }
        })?;
        Ok(totals)
    }

    /// Every name below one directory, also those that are not UTF-8. Paths are those below the
    /// root, without a leading slash.
    pub(crate) fn survey(
        &self,
        path: &ZonePath,
        mut visit: impl FnMut(&[u8], Kind, &Stat),
    ) -> Result<(), DiskError> {
        let start = Below {
            base: None,
            relative: path.display().as_bytes().to_vec(),
            path: path.as_str().as_bytes().to_vec(),
        };
        let mut pending = vec![start];
        while let Some(below) = pending.pop() {
            let directory = match self.open_below(&below) {
                // Gone since it was seen, or something else now.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                other => other.map_err(|error| {
                    let path = ZonePath::found(String::from_utf8_lossy(&below.path).into_owned());
                    DiskError::of("measure", &path, error)
                })?,
            };
            let directory = Rc::new(directory);
            each(&directory, &ZonePath::root(), |name, stat| {
                let inside = below.child(&directory, name.to_bytes());
                let kind = kind_of(&stat);
                visit(&inside.path, kind, &stat);
                if kind == Kind::Directory {
                    pending.push(inside);
                }
            })?;
        }
        Ok(())
    }

    fn open_below(&self, below: &Below) -> Result<OwnedFd, Errno> {
        let base = below
            .base
            .as_ref()
            .map_or(self.handle(), |base| base.as_fd());
        let relative = CString::new(&*below.relative).map_err(|_| Errno::INVAL)?;
        match open_raw(base, &relative) {
            Err(Errno::ACCESS) => reopen_raw(base, &relative),
            other => other,
        }
    }
}

/// A directory that a survey has yet to look into. A path may be longer than the kernel takes at
/// once: it then begins at a directory on the way.
struct Below {
    base: Option<Rc<OwnedFd>>,
    relative: Vec<u8>,
    /// From the root.
    path: Vec<u8>,
}

impl Below {
    fn child(&self, directory: &Rc<OwnedFd>, name: &[u8]) -> Self {
        let join = |above: &[u8]| match above {
            b"" | b"." => name.to_vec(),
            above => [above, b"/", name].concat(),
        };
        let path = join(&self.path);
        if self.relative.len() > PATH_MAX_BYTES {
            return Self {
                base: Some(Rc::clone(directory)),
                relative: name.to_vec(),
                path,
            };
        }
        Self {
            base: self.base.clone(),
            relative: join(&self.relative),
            path,
        }
    }
}

fn each(
    directory: &OwnedFd,
    path: &ZonePath,
    mut visit: impl FnMut(&CStr, Stat),
) -> Result<(), DiskError> {
    let fail = |error: Errno| DiskError::of("list", path, error);
    for item in rustix::fs::Dir::read_from(directory.as_fd()).map_err(fail)? {
        let item = item.map_err(fail)?;
        if matches!(item.file_name().to_bytes(), b"." | b"..") {
            continue;
        }
        match rustix::fs::statat(directory, item.file_name(), AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => visit(item.file_name(), stat),
            Err(Errno::NOENT) => {}
            Err(error) => return Err(fail(error)),
        }
    }
    Ok(())
}
