//! One directory held open, for work on many of its entries: it is resolved once. Names are read
//! without a look at what they are: in walks over everything, a call of the kernel for each file would
//! cost more than the work.

use std::collections::VecDeque;
use std::fs::File;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::Arc;

use rustix::fs::{AtFlags, FileType, OFlags, RawDir, ResolveFlags, SeekFrom};

use super::entry::{Entry, Place, create_file, file_mode, open_file, regular_file};
use super::handle::{resolve, stat_at};
use super::kind::{kind_of, kind_of_type};
use super::walk::{Below, each};
use super::{DiskError, Kind, Root, WalkEntry};
use fileshed_types::zone::{PATH_MAX_BYTES, ZonePath, is_git_name};

/// Most entries that a search finds.
const FOUND_MAX: usize = 20;

/// Bytes of names that the kernel gives at once.
const BUFFER: usize = 16 * 1024;

/// An entry of a directory, as the directory itself says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    /// Its name.
    pub text: String,
    /// Its kind.
    pub kind: Kind,
}

/// An open directory of a zone.
#[derive(Debug)]
pub struct Directory {
    handle: Arc<OwnedFd>,
    path: ZonePath,
}

impl Root {
    /// Opens the directory at `path`.
    pub fn hold(&self, path: &ZonePath) -> Result<Directory, DiskError> {
        let (handle, path) = self.directory(path)?;
        Ok(Directory::of(handle, path))
    }

    /// Opens the directory at `path`, of which no segment may be a link, and reads its names, unordered.
    /// Names that are not UTF-8 are left out, because no path can hold them.
    pub fn read_names(&self, path: &ZonePath) -> Result<(Directory, Vec<Name>), DiskError> {
        let opened = self.open_directory(path.display());
        let handle = opened.map_err(|error| DiskError::of("open", path, error))?;
        let names = names_of(&handle).map_err(|error| DiskError::of("list", path, error))?;
        Ok((Directory::of(handle, path.clone()), names))
    }

    /// Opens the regular file at `path` for reading; no segment may be a link.
    pub fn open_as_named(&self, path: &ZonePath) -> Result<File, DiskError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let (place, no_links) = (path.display(), ResolveFlags::NO_SYMLINKS);
        let opened = resolve(self.handle(), place, flags, no_links);
        let handle = opened.map_err(|error| DiskError::of("open", path, error))?;
        regular_file(handle, path)
    }

    /// Returns files and directories whose name is wanted, the least deep first. At most `left` entries
    /// are examined and subtracted from it; those that cannot be opened are left out.
    pub fn search(
        &self,
        left: &mut usize,
        mut is_wanted: impl FnMut(&str) -> bool,
    ) -> Vec<ZonePath> {
        let mut found = Vec::new();
        let mut pending = VecDeque::from([Below::at(b"")]);
        while let Some(below) = pending.pop_front() {
            let Ok(directory) = self.open_below(&below).map(Rc::new) else {
                continue;
            };
            for name in names_of(&directory).unwrap_or_default() {
                if is_git_name(&name.text) {
                    continue;
                }
                if *left == 0 || found.len() == FOUND_MAX {
                    return found;
                }
                *left -= 1;
                if !matches!(name.kind, Kind::File | Kind::Directory) {
                    continue;
                }
                let inside = below.child(&directory, name.text.as_bytes());
                if inside.path.len() > PATH_MAX_BYTES {
                    continue;
                }
                if is_wanted(&name.text)
                    && let Ok(path) = String::from_utf8(inside.path.clone())
                {
                    found.push(ZonePath::found(path));
                }
                if name.kind == Kind::Directory {
                    pending.push_back(inside);
                }
            }
        }
        found
    }
}

impl Directory {
    pub(super) fn of(handle: OwnedFd, path: ZonePath) -> Self {
        Self {
            handle: Arc::new(handle),
            path,
        }
    }

    pub(super) fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    /// Returns its path, without links.
    #[must_use]
    pub fn path(&self) -> &ZonePath {
        &self.path
    }

    /// Returns its entries, unordered. Names that are not UTF-8 are left out, because no path can hold them.
    pub fn list(&self) -> Result<Vec<WalkEntry>, DiskError> {
        let mut found = Vec::new();
        each(&self.handle, &self.path, |name, stat| {
            if let Ok(name) = name.to_str() {
                found.push(WalkEntry::new(self.path.join(name), stat));
            }
        })?;
        Ok(found)
    }

    /// Returns the names and kinds of its entries, unordered, without names that are not UTF-8. For many
    /// entries this takes a fraction of the time of [`Directory::list`], which reads the state of each.
    pub fn names(&self) -> Result<Vec<(String, Kind)>, DiskError> {
        let names = names_of(&self.handle);
        let names = names.map_err(|error| DiskError::of("list", &self.path, error))?;
        Ok(names
            .into_iter()
            .map(|name| (name.text, name.kind))
            .collect())
    }

    /// Returns the entry of that name, with links not followed; `None` if there is none.
    pub fn look(&self, name: &str) -> Result<Option<WalkEntry>, DiskError> {
        let path = self.path.join(name);
        let stat = stat_at(&self.handle, name, &path)?;
        Ok(stat.map(|stat| WalkEntry::new(path, stat)))
    }

    /// Returns the entry of that name; fails if there is none.
    pub fn look_at(&self, name: &str) -> Result<WalkEntry, DiskError> {
        let path = self.path.join(name);
        self.look(name)?.ok_or(DiskError::NotFound { path })
    }

    /// Returns the same as an [`Entry`], for further work on it.
    pub fn entry(&self, name: &str) -> Result<Entry, DiskError> {
        let path = self.path.join(name);
        let place = Place::new(Arc::clone(&self.handle), name.to_owned(), path);
        match place.stat()? {
            Some(stat) => Ok(Entry::new(place, &stat)),
            None => Err(DiskError::NotFound { path: place.path }),
        }
    }

    /// Returns the time when an entry last came or went, in seconds since 1970.
    pub fn changed(&self) -> Result<i64, DiskError> {
        let stat = rustix::fs::fstat(&self.handle)
            .map_err(|error| DiskError::of("look at", &self.path, error))?;
        Ok(stat.st_mtime)
    }

    /// Opens the regular file of that name for reading.
    pub fn open(&self, name: &str) -> Result<File, DiskError> {
        open_file(&self.handle, name, &self.path.join(name))
    }

    /// Makes a new file of that name and gives it to be written.
    pub fn create(&self, name: &str, executable: bool) -> Result<File, DiskError> {
        create_file(
            &self.handle,
            name,
            file_mode(executable),
            &self.path.join(name),
        )
    }
}

/// Reads the names in an open directory, from its beginning.
pub(super) fn names_of(handle: &OwnedFd) -> rustix::io::Result<Vec<Name>> {
    rustix::fs::seek(handle, SeekFrom::Start(0))?;
    let mut buffer = [MaybeUninit::uninit(); BUFFER];
    let mut entries = RawDir::new(handle, &mut buffer);
    let mut names = Vec::new();
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let Ok(text) = entry.file_name().to_str() else {
            continue;
        };
        if matches!(text, "." | "..") {
            continue;
        }
        let kind = match entry.file_type() {
            // Some file systems do not say.
            FileType::Unknown => {
                let flags = AtFlags::SYMLINK_NOFOLLOW;
                match rustix::fs::statat(handle, entry.file_name(), flags) {
                    Ok(stat) => kind_of(&stat),
                    // Gone since it was named.
                    Err(_) => continue,
                }
            }
            kind => kind_of_type(kind),
        };
        names.push(Name {
            text: text.to_owned(),
            kind,
        });
    }
    Ok(names)
}
