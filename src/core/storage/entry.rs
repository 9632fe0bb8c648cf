//! Something on disk, or a free name: a parent handle and one name.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use rustix::fs::{AtFlags, Mode, OFlags, Stat, StatxFlags, Timespec, Timestamps, UTIME_OMIT};
use rustix::io::Errno;
use rustix::process::{Flock, FlockOffsetType, FlockType};

use super::handle::{DIRECTORY, create_at, open_at, stat_at};
use super::kind::kind_of;
use super::{DiskError, Kind, Stamp, rights};
use fileshed_types::zone::ZonePath;

/// One name in one open directory.
#[derive(Clone, Debug)]
pub struct Place {
    pub(super) parent: Arc<OwnedFd>,
    pub(super) name: String,
    pub(super) path: ZonePath,
}

impl Place {
    pub(super) fn new(parent: impl Into<Arc<OwnedFd>>, name: String, path: ZonePath) -> Self {
        let parent = parent.into();
        Self { parent, name, path }
    }

    pub(super) fn stat(&self) -> Result<Option<Stat>, DiskError> {
        stat_at(&self.parent, &self.name, &self.path)
    }

    pub(super) fn inode(&self) -> Result<Option<u64>, DiskError> {
        Ok(self.stat()?.map(|stat| stat.st_ino))
    }

    pub(super) fn is_directory(&self) -> Result<bool, DiskError> {
        let stat = self.stat()?;
        Ok(stat.is_some_and(|stat| kind_of(&stat) == Kind::Directory))
    }
}

/// Something that was on disk when it was looked at.
#[derive(Debug)]
pub struct Entry {
    place: Place,
    kind: Kind,
    stamp: Stamp,
    mode: u32,
}

impl Entry {
    pub(super) fn new(place: Place, stat: &Stat) -> Self {
        Self {
            place,
            kind: kind_of(stat),
            stamp: Stamp::of(stat),
            mode: stat.st_mode & 0o777,
        }
    }

    /// Returns the root itself: a directory that can be listed and nothing else.
    pub(super) fn of_root(directory: OwnedFd) -> Result<Self, DiskError> {
        let path = ZonePath::root();
        let stat = rustix::fs::fstat(&directory)
            .map_err(|error| DiskError::of("look at", &path, error))?;
        Ok(Self::new(
            Place::new(directory, ".".to_owned(), path),
            &stat,
        ))
    }

    /// Returns its path, without links.
    #[must_use]
    pub fn path(&self) -> &ZonePath {
        &self.place.path
    }

    /// Returns its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Returns the size of a file in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.stamp.size()
    }

    /// Returns the stamp of its state, which differs from those of other states.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Returns the permission bits.
    #[must_use]
    pub fn mode(&self) -> u32 {
        self.mode
    }

    /// Returns its inode number, which does not depend on its name; `None` if it is gone.
    pub fn inode(&self) -> Result<Option<u64>, DiskError> {
        self.place.inode()
    }

    /// Returns the time when it was created, in seconds and nanoseconds, if the file system knows it.
    #[must_use]
    pub fn born(&self) -> Option<(i64, u32)> {
        let (flags, wanted) = (AtFlags::SYMLINK_NOFOLLOW, StatxFlags::BTIME);
        let about = rustix::fs::statx(&self.place.parent, &*self.place.name, flags, wanted).ok()?;
        let known = StatxFlags::from_bits_retain(about.stx_mask).contains(StatxFlags::BTIME);
        known.then_some((about.stx_btime.tv_sec, about.stx_btime.tv_nsec))
    }

    /// Returns its place, for effects.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// Fails unless this is a regular file.
    pub fn expect_file(&self) -> Result<(), DiskError> {
        if self.kind == Kind::File {
            Ok(())
        } else {
            Err(DiskError::not_a_file(self.path(), self.kind))
        }
    }

    /// Opens the regular file for reading. A pipe that took its place in the meantime is refused
    /// without waiting for its writer.
    pub fn open(&self) -> Result<File, DiskError> {
        self.expect_file()?;
        open_file(&self.place.parent, &self.place.name, &self.place.path)
    }

    /// Returns the present state of the regular file, and its first bytes: together they show whether it
    /// was changed in place.
    pub fn state_and_beginning(&self) -> Result<(Stamp, Vec<u8>), DiskError> {
        let file = self.open()?;
        let stamp = Stamp::of_file(&file)?;
        let mut beginning = Vec::new();
        file.take(BEGINNING)
            .read_to_end(&mut beginning)
            .map_err(|error| DiskError::of("look at", &self.place.path, error))?;
        Ok((stamp, beginning))
    }

    /// Returns `true` if the regular file begins with these bytes.
    pub fn begins_with(&self, bytes: &[u8]) -> Result<bool, DiskError> {
        begins_with(&self.open()?, bytes, &self.place.path)
    }

    /// Returns `true` if a process has a lock on this byte of the regular file.
    pub fn is_locked(&self, at: u64) -> Result<bool, DiskError> {
        let wanted = Flock {
            start: at,
            length: 1,
            pid: None,
            typ: FlockType::WriteLock,
            offset_type: FlockOffsetType::Set,
        };
        rustix::process::fcntl_getlk(self.open()?, &wanted)
            .map(|lock| lock.is_some())
            .map_err(|error| DiskError::of("look at", &self.place.path, error))
    }

    /// Returns the target of the symbolic link, which need be neither UTF-8 nor an existing path.
    pub fn link_target(&self) -> Result<Vec<u8>, DiskError> {
        rustix::fs::readlinkat(&self.place.parent, &*self.place.name, Vec::new())
            .map(std::ffi::CString::into_bytes)
            .map_err(|error| DiskError::of("read", &self.place.path, error))
    }

    /// Sets the permission bits. A link that took its place meanwhile is not followed.
    pub fn set_mode(&self, mode: u32) -> Result<(), DiskError> {
        rights::set_mode(&self.place.parent, &self.place.name, mode)
            .map_err(|error| DiskError::of("change", self.path(), error))
    }

    /// Sets the time of the last change, in seconds since 1970. A link that took its place meanwhile is
    /// not followed.
    pub fn set_modified(&self, seconds: i64) -> Result<(), DiskError> {
        let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
        let times = Timestamps {
            last_access: time(0, UTIME_OMIT),
            last_modification: time(seconds, 0),
        };
        let (parent, name) = (&self.place.parent, &*self.place.name);
        rustix::fs::utimensat(parent, name, &times, AtFlags::SYMLINK_NOFOLLOW)
            .map_err(|error| DiskError::of("change", self.path(), error))
    }

    /// Returns the whole content of the regular file.
    pub fn content(&self) -> Result<Vec<u8>, DiskError> {
        let mut content = Vec::with_capacity(self.size() as usize + 1);
        self.open()?
            .read_to_end(&mut content)
            .map_err(|error| DiskError::of("read", &self.place.path, error))?;
        Ok(content)
    }
}

/// Returns `true` if an open file begins with these bytes. The file offset does not change.
pub(super) fn begins_with(file: &File, bytes: &[u8], path: &ZonePath) -> Result<bool, DiskError> {
    let mut beginning = vec![0; bytes.len()];
    match file.read_exact_at(&mut beginning, 0) {
        Ok(()) => Ok(beginning == bytes),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(DiskError::of("read", path, error)),
    }
}

/// Opens what is a regular file, and nothing else.
pub(super) fn open_file(parent: &OwnedFd, name: &str, path: &ZonePath) -> Result<File, DiskError> {
    let attempt = || open_at(parent, name, OFlags::RDONLY | OFlags::NONBLOCK);
    let handle = rights::with_rights(|| rights::give(parent, name, rights::READ), attempt)
        .map_err(|error| match error {
            Errno::LOOP => DiskError::not_a_file(path, Kind::Symlink),
            error => DiskError::of("open", path, error),
        })?;
    regular_file(handle, path)
}

/// Returns the open file at `path`; fails unless it is a regular file.
pub(super) fn regular_file(handle: OwnedFd, path: &ZonePath) -> Result<File, DiskError> {
    let stat = rustix::fs::fstat(&handle).map_err(|error| DiskError::of("look at", path, error))?;
    match kind_of(&stat) {
        Kind::File => Ok(File::from(handle)),
        other => Err(DiskError::not_a_file(path, other)),
    }
}

/// Makes a new file, to be read and written.
pub(super) fn create_file(
    parent: &OwnedFd,
    name: &str,
    mode: Mode,
    path: &ZonePath,
) -> Result<File, DiskError> {
    create_at(parent, name, mode).map_err(|error| DiskError::of("create", path, error))
}

/// Returns the permission bits of a new file.
pub(super) fn file_mode(executable: bool) -> Mode {
    Mode::from_raw_mode(if executable { 0o755 } else { 0o644 })
}

/// Bytes of the header of a database, which counts its changes.
const BEGINNING: u64 = 100;

/// A free name, and the directories above it that are still missing.
#[derive(Debug)]
pub struct Vacancy {
    place: Place,
    missing: Vec<String>,
    existing: usize,
}

impl Vacancy {
    /// Creates a vacancy. `place.parent` is the lowest directory that exists, with `existing` segments
    /// above it.
    pub(super) fn new(place: Place, missing: Vec<String>, existing: usize) -> Self {
        Self {
            place,
            missing,
            existing,
        }
    }

    /// Returns the path that will be filled.
    #[must_use]
    pub fn path(&self) -> &ZonePath {
        &self.place.path
    }

    /// Returns the number of leading segments that are on disk already.
    #[must_use]
    pub fn existing_segments(&self) -> usize {
        self.existing
    }

    /// Makes the directories that are missing. Returns the place, and those that were made, deepest
    /// last.
    pub(super) fn make_directories(self) -> Result<(Place, Vec<Place>), DiskError> {
        let mut place = self.place;
        let mut made = Vec::new();
        for name in self.missing {
            let fail = |error| DiskError::of("create", &place.path, error);
            match rustix::fs::mkdirat(&place.parent, &*name, DIRECTORY_MODE) {
                Ok(()) => {
                    let parent = Arc::clone(&place.parent);
                    made.push(Place::new(parent, name.clone(), ZonePath::root()));
                }
                Err(Errno::EXIST) => {}
                Err(error) => {
                    remove_made(&made);
                    return Err(fail(error));
                }
            }
            let directory = open_at(&place.parent, &*name, DIRECTORY).map_err(fail)?;
            place.parent = Arc::new(directory);
        }
        Ok((place, made))
    }
}

impl Entry {
    /// Removes a directory if it is empty; returns `true` if it did.
    pub fn remove_if_empty(&self) -> Result<bool, DiskError> {
        let place = self.place();
        match rustix::fs::unlinkat(&place.parent, &*place.name, AtFlags::REMOVEDIR) {
            Ok(()) => Ok(true),
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::NOENT | Errno::NOTDIR) => Ok(false),
            Err(error) => Err(DiskError::of("remove", self.path(), error)),
        }
    }
}

/// Permission bits of a new directory.
pub(super) const DIRECTORY_MODE: Mode = Mode::from_raw_mode(0o755);

/// Removes directories that were made and that nobody used.
pub(super) fn remove_made(made: &[Place]) {
    for place in made.iter().rev() {
        let _kept_when_used = rustix::fs::unlinkat(&place.parent, &*place.name, AtFlags::REMOVEDIR);
    }
}

/// A file to write: there already, or not yet.
#[derive(Debug)]
pub enum Target {
    /// To be replaced.
    Entry(Entry),
    /// To be created.
    Vacancy(Vacancy),
}

impl Target {
    /// Returns the path without links.
    #[must_use]
    pub fn path(&self) -> &ZonePath {
        match self {
            Self::Entry(entry) => entry.path(),
            Self::Vacancy(vacancy) => vacancy.path(),
        }
    }

    /// Returns the entry, if there is one.
    #[must_use]
    pub fn entry(&self) -> Option<&Entry> {
        match self {
            Self::Entry(entry) => Some(entry),
            Self::Vacancy(_) => None,
        }
    }

    /// Returns the size in bytes of the existing file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.entry().map_or(0, Entry::size)
    }

    /// Fails if something else than a file is in the way.
    pub fn expect_file(&self) -> Result<(), DiskError> {
        self.entry().map_or(Ok(()), Entry::expect_file)
    }
}
