//! An open directory that paths are resolved below.

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::entry::{Entry, Place, Target, Vacancy};
use super::handle::{DIRECTORY, clone_handle, if_there, path_of, resolve};
use super::{DiskError, Kind};
use fileshed_types::zone::{ZonePath, has_one_spelling};

/// A directory handle: the root of a zone, of a tenant, of all data.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
    /// Its path on disk: for git and for child processes, never for responses.
    location: PathBuf,
}

impl Root {
    /// Opens a directory by its path, and creates it if it is missing. This is the only function that
    /// follows a path of the host; the path comes from the configuration.
    pub fn open_ambient(location: &Path) -> Result<Self, DiskError> {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(location)
            .map_err(DiskError::server)?;
        let location = std::fs::canonicalize(location).map_err(DiskError::server)?;
        let directory =
            rustix::fs::open(&location, DIRECTORY, Mode::empty()).map_err(DiskError::server)?;
        Ok(Self::of(directory, location))
    }

    /// Creates a root from an open directory.
    pub(super) fn of(directory: OwnedFd, location: PathBuf) -> Self {
        Self {
            directory,
            location,
        }
    }

    /// Returns the directory `name` below this one, and creates it if it is missing. `name` may have
    /// several segments; it comes from the server, not from a caller.
    pub fn subdirectory(&self, name: &str) -> Result<Self, DiskError> {
        if let Some(existing) = self.existing_subdirectory(name)? {
            return Ok(existing);
        }
        let mut place = PathBuf::new();
        for segment in name.split('/') {
            place.push(segment);
            match rustix::fs::mkdirat(&self.directory, &place, Mode::RWXU) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(DiskError::server(error)),
            }
        }
        self.existing_subdirectory(name)?
            .ok_or_else(|| DiskError::server(Errno::NOENT))
    }

    /// Returns the directory `name` below this one, if there is one.
    pub fn existing_subdirectory(&self, name: &str) -> Result<Option<Self>, DiskError> {
        let opened = if_there(self.open_directory(name)).map_err(DiskError::server)?;
        Ok(opened.map(|directory| Self::of(directory, self.location.join(name))))
    }

    /// Returns the path of the directory on disk. For git and child processes; never part of a response.
    #[must_use]
    pub fn location(&self) -> &Path {
        &self.location
    }

    /// Returns the device that it is on.
    pub fn device(&self) -> Result<u64, DiskError> {
        let stat = rustix::fs::fstat(self.handle()).map_err(DiskError::server)?;
        Ok(stat.st_dev)
    }

    /// Returns the open directory.
    #[must_use]
    pub fn handle(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Returns another handle of the same open directory.
    pub fn try_clone(&self) -> Result<Self, DiskError> {
        Ok(Self::of(
            clone_handle(&self.directory)?,
            self.location.clone(),
        ))
    }

    /// Opens the same directory once more, so that it has locks of its own.
    pub fn try_reopen(&self) -> Result<Self, DiskError> {
        let directory = self.open_directory(".").map_err(DiskError::server)?;
        Ok(Self::of(directory, self.location.clone()))
    }

    /// Returns the entry at `path` without following a link in its last segment, for removing and
    /// renaming. If there is none in NFC, returns the one in another spelling.
    pub fn entry(&self, path: &ZonePath) -> Result<Entry, DiskError> {
        match self.entry_as_given(path) {
            Err(error @ DiskError::NotFound { .. }) => self.respelled(path)?.ok_or(error),
            other => other,
        }
    }

    /// Returns the entry at `path` in NFC or as the path was given, and in no other spelling.
    pub fn entry_as_given(&self, path: &ZonePath) -> Result<Entry, DiskError> {
        match self.entry_as_named(path) {
            Err(error @ DiskError::NotFound { .. }) => match path.as_spelled() {
                Some(spelled) => self.entry_as_named(&spelled).map_err(|_| error),
                None => Err(error),
            },
            other => other,
        }
    }

    /// Returns the entry at `path`, with links followed as long as they stay inside.
    pub fn followed(&self, path: &ZonePath) -> Result<Entry, DiskError> {
        let entry = self.entry(path)?;
        if entry.kind() != Kind::Symlink {
            return Ok(entry);
        }
        let real = self.canonical(entry.path())?;
        self.entry_as_named(&real)
    }

    /// Returns a file that may be created or replaced at `path`.
    pub fn target(&self, path: &ZonePath) -> Result<Target, DiskError> {
        match self.followed(path) {
            Ok(entry) => Ok(Target::Entry(entry)),
            Err(DiskError::NotFound { .. }) => {
                // A dangling link is not followed into being.
                if let Ok(link) = self.entry(path) {
                    return Err(DiskError::Exists {
                        path: link.path().clone(),
                    });
                }
                Ok(Target::Vacancy(self.vacancy(path)?))
            }
            Err(other) => Err(other),
        }
    }

    /// Returns a free name at `path`, which no entry has in any spelling. Missing directories above it
    /// are created when the name is filled.
    pub fn vacancy(&self, path: &ZonePath) -> Result<Vacancy, DiskError> {
        let vacancy = self.vacancy_where(path, |directory| self.entry(directory))?;
        let free = vacancy.path();
        let (Some(above), Some(name)) = (free.parent(), free.name()) else {
            return Ok(vacancy);
        };
        let is_alone = vacancy.existing_segments() + 1 < free.segments().count()
            || has_one_spelling(name)
            || self.spellings_in(&above, name)?.is_empty();
        if is_alone {
            Ok(vacancy)
        } else {
            Err(DiskError::Exists { path: path.clone() })
        }
    }

    /// Returns a free name in exactly this spelling, even if other spellings exist.
    pub fn vacancy_as_named(&self, path: &ZonePath) -> Result<Vacancy, DiskError> {
        self.vacancy_where(path, |directory| self.entry_as_named(directory))
    }

    /// Returns a free name, below directories that `entry` finds.
    pub(super) fn vacancy_where(
        &self,
        path: &ZonePath,
        entry: impl Fn(&ZonePath) -> Result<Entry, DiskError>,
    ) -> Result<Vacancy, DiskError> {
        let Some(name) = path.name() else {
            return Err(DiskError::Exists { path: path.clone() });
        };
        let mut directory = path.parent().unwrap_or_else(ZonePath::root);
        let mut missing = Vec::new();
        let (parent, real) = loop {
            match self.directory(&directory) {
                Ok(found) => break found,
                Err(DiskError::NotFound { .. }) => {
                    if let Ok(there) = entry(&directory) {
                        // It has another spelling, or was made since.
                        if there.kind() == Kind::Directory {
                            directory = there.path().clone();
                            continue;
                        }
                        // A dangling link in the middle of the path is in the way.
                        return Err(DiskError::NotADirectory { path: directory });
                    }
                    missing.insert(0, directory.name().unwrap_or_default().to_owned());
                    directory = directory.parent().unwrap_or_else(ZonePath::root);
                }
                Err(other) => return Err(other),
            }
        };
        let mut full = real.clone();
        for segment in &missing {
            full = full.join(segment);
        }
        let place = Place::new(parent, name.to_owned(), full.join(name));
        if missing.is_empty() && place.stat()?.is_some() {
            return Err(DiskError::Exists { path: path.clone() });
        }
        Ok(Vacancy::new(place, missing, real.segments().count()))
    }

    /// Opens the directory at `path`, for reading names.
    pub fn directory(&self, path: &ZonePath) -> Result<(OwnedFd, ZonePath), DiskError> {
        if path.is_root() {
            return Ok((clone_handle(&self.directory)?, ZonePath::root()));
        }
        match self.open_directory(path.as_str()) {
            Ok(directory) => Ok((directory, path.clone())),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                let follow = ResolveFlags::empty();
                let directory = resolve(self.handle(), path.as_str(), DIRECTORY, follow)
                    .map_err(|error| DiskError::of("open", path, error))?;
                let real = self.place_of(&directory, path)?;
                Ok((directory, real))
            }
            Err(error) => Err(DiskError::of("open", path, error)),
        }
    }

    /// Opens the regular file at `path` for reading.
    pub fn read(&self, path: &ZonePath) -> Result<File, DiskError> {
        self.followed(path)?.open()
    }

    /// Returns the entry at `path` in exactly this spelling; `None` if there is none, or a directory
    /// above it is gone.
    pub fn existing_entry(&self, path: &ZonePath) -> Result<Option<Entry>, DiskError> {
        match self.entry_as_named(path) {
            Err(error) if error.is_gone() => Ok(None),
            found => found.map(Some),
        }
    }

    /// Returns the entry at `path` in exactly this spelling.
    pub fn entry_as_named(&self, path: &ZonePath) -> Result<Entry, DiskError> {
        let Some(name) = path.name() else {
            return Entry::of_root(clone_handle(&self.directory)?);
        };
        let (parent, real) = self
            .directory(&path.parent().unwrap_or_else(ZonePath::root))
            .map_err(|error| match error {
                DiskError::NotFound { .. } => DiskError::NotFound { path: path.clone() },
                other => other,
            })?;
        let place = Place::new(parent, name.to_owned(), real.join(name));
        match place.stat()? {
            Some(stat) => Ok(Entry::new(place, &stat)),
            None => Err(DiskError::NotFound { path: path.clone() }),
        }
    }

    /// Returns the entry of this name in an open directory below this one. `root` is the path of this
    /// one when the directory was opened. `None` if the directory is elsewhere by now, or the name does
    /// not exist.
    pub fn entry_in(
        &self,
        directory: &OwnedFd,
        root: &Path,
        name: &str,
    ) -> Result<Option<Entry>, DiskError> {
        let path = path_of(directory).map_err(DiskError::server)?;
        let below = path.strip_prefix(root).ok().and_then(Path::to_str);
        let Some(above) = below.map(|path| ZonePath::found(path.to_owned())) else {
            return Ok(None);
        };
        let own = match self.directory(&above) {
            Err(error) if error.is_gone() => return Ok(None),
            own => own?.0,
        };
        let identity = |of: &OwnedFd| {
            let stat = rustix::fs::fstat(of).map_err(DiskError::server)?;
            Ok::<_, DiskError>((stat.st_dev, stat.st_ino))
        };
        if identity(&own)? != identity(directory)? {
            return Ok(None);
        }
        let place = Place::new(own, name.to_owned(), above.join(name));
        Ok(place.stat()?.map(|stat| Entry::new(place, &stat)))
    }

    /// Returns the entry that a program finds at `text`, a path with any dots and links. A link in its
    /// last segment is not followed, and a slash at its end asks for a directory. `None` if the path
    /// ends in no name, or there is no such entry.
    pub fn entry_as_written(&self, text: &str) -> Result<Option<Entry>, DiskError> {
        let trimmed = text.trim_end_matches('/');
        let (above, name) = trimmed.rsplit_once('/').unwrap_or((".", trimmed));
        if matches!(name, "" | "." | "..") {
            return Ok(None);
        }
        let Ok(directory) = resolve(self.handle(), above, DIRECTORY, ResolveFlags::empty()) else {
            return Ok(None);
        };
        let root = path_of(self.handle()).map_err(DiskError::server)?;
        let found = self.entry_in(&directory, &root, name)?;
        let expects_directory = trimmed != text;
        Ok(found.filter(|entry| !expects_directory || entry.kind() == Kind::Directory))
    }

    /// Returns the path without links to which `path` leads.
    fn canonical(&self, path: &ZonePath) -> Result<ZonePath, DiskError> {
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let target = resolve(self.handle(), path.as_str(), flags, ResolveFlags::empty())
            .map_err(|error| DiskError::of("follow", path, error))?;
        self.place_of(&target, path)
    }

    /// Returns the path of an open file below this root, as the kernel names it.
    fn place_of(&self, handle: &OwnedFd, asked: &ZonePath) -> Result<ZonePath, DiskError> {
        let fail = |error| DiskError::of("follow", asked, error);
        let root = path_of(self.handle()).map_err(fail)?;
        let real = path_of(handle).map_err(fail)?;
        real.strip_prefix(&root)
            .ok()
            .and_then(Path::to_str)
            .map(|path| ZonePath::found(path.to_owned()))
            .ok_or_else(|| DiskError::Escape {
                path: asked.clone(),
            })
    }

    /// Returns the handle alone.
    pub(super) fn into_handle(self) -> OwnedFd {
        self.directory
    }

    /// Opens the directory of a name below this one. No link is followed.
    pub(super) fn place(&self, path: &str) -> Result<Place, Errno> {
        let (above, name) = path.rsplit_once('/').unwrap_or((".", path));
        let parent = self.open_directory(above)?;
        Ok(Place::new(parent, name.to_owned(), ZonePath::root()))
    }

    /// Opens the directory at `path`, which the server names. No link is followed.
    pub(super) fn open_directory(&self, path: &str) -> Result<OwnedFd, Errno> {
        resolve(self.handle(), path, DIRECTORY, ResolveFlags::NO_SYMLINKS)
    }
}
