//! One directory held open, for work on many of its entries: it is resolved once.

use std::fs::File;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::entry::{Entry, Place, create_file, file_mode, open_file};
use super::kind::kind_of_type;
use super::walk::each;
use super::{DiskError, Found, Kind, Root};
use fileshed_types::zone::ZonePath;
use rustix::fs::{AtFlags, Dir, FileType};
use rustix::io::Errno;

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

    /// Where it is, without links.
    #[must_use]
    pub fn path(&self) -> &ZonePath {
        &self.path
    }

    /// Its entries, unordered. Names that are not UTF-8 are left out: no path can say them.
    pub fn list(&self) -> Result<Vec<Found>, DiskError> {
        let mut found = Vec::new();
        each(&self.handle, &self.path, |name, stat| {
            if let Ok(name) = name.to_str() {
                found.push(Found::new(self.path.join(name), stat));
            }
        })?;
        Ok(found)
    }

    /// The names and kinds of its entries, unordered, without those that are not UTF-8. Of many entries
    /// this takes a fraction of [`Directory::list`], which asks for the state of each.
    pub fn names(&self) -> Result<Vec<(String, Kind)>, DiskError> {
        let fail = |error: Errno| DiskError::of("list", &self.path, error);
        let mut names = Vec::new();
        for item in Dir::read_from(&self.handle).map_err(fail)? {
            let item = item.map_err(fail)?;
            let Ok(name) = item.file_name().to_str() else {
                continue;
            };
            if matches!(name, "." | "..") {
                continue;
            }
            let kind = match item.file_type() {
                // Some file systems do not say.
                FileType::Unknown => self.look(name)?.map(|found| found.kind),
                kind => Some(kind_of_type(kind)),
            };
            names.extend(kind.map(|kind| (name.to_owned(), kind)));
        }
        Ok(names)
    }

    /// The entry of that name, links not followed; nothing where there is none.
    pub fn look(&self, name: &str) -> Result<Option<Found>, DiskError> {
        let path = self.path.join(name);
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(Found::new(path, stat))),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(DiskError::of("look at", &path, error)),
        }
    }

    /// The same, for more work on it than a look.
    pub fn entry(&self, name: &str) -> Result<Entry, DiskError> {
        let path = self.path.join(name);
        let place = Place::new(Arc::clone(&self.handle), name.to_owned(), path);
        match place.stat()? {
            Some(stat) => Ok(Entry::new(place, &stat)),
            None => Err(DiskError::NotFound { path: place.path }),
        }
    }

    /// When an entry last came or went, in seconds since 1970.
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
