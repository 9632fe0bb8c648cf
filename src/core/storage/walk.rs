//! Reading whole trees: names, sizes, and what changed.
//!
//! A walk opens every directory anew from the root, by openat2 without links, so that it holds one
//! handle at any depth and never leaves the zone. Its cost grows with the tree; only what must see
//! everything walks (`shed_tree`, a measurement after a command, a search for changes).

use std::collections::HashSet;
use std::ffi::{CStr, CString};
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;

use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;

use super::handle::open_raw;
use super::kind::kind_of;
use super::rights::{DIRECTORY, FILE, SPECIAL};
use super::{DiskError, Entry, Kind, Root, Stamp};
use fileshed_types::zone::{PATH_MAX_BYTES, ZonePath};

/// One entry of a walk.
#[derive(Debug)]
pub struct WalkEntry {
    /// Path below the walked root.
    pub path: ZonePath,
    /// Its kind.
    pub kind: Kind,
    /// The kernel's metadata of the entry.
    pub stat: Stat,
}

impl WalkEntry {
    pub(super) fn new(path: ZonePath, stat: Stat) -> Self {
        let kind = kind_of(&stat);
        Self { path, kind, stat }
    }

    /// Returns the size of a file in bytes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.stat.st_size as u64
    }

    /// Returns its state.
    #[must_use]
    pub fn stamp(&self) -> Stamp {
        Stamp::of(&self.stat)
    }

    /// Returns the time of the last change, in seconds since 1970.
    #[must_use]
    pub fn modified(&self) -> f64 {
        self.stat.st_mtime as f64 + self.stat.st_mtime_nsec as f64 / 1e9
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

impl Totals {
    /// Adds one file.
    fn add(&mut self, size: u64) {
        self.bytes += size;
        self.files += 1;
    }
}

/// Everything below a root, and the time of its last change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeSummary {
    /// Space of all files.
    pub totals: Totals,
    /// Number of files, directories and whatever else.
    pub entries: u64,
    /// Number of directories.
    pub directories: u64,
    /// Time of the last change here or below, in seconds since 1970: of content, names or permissions.
    /// No program can set this time.
    pub last_change: i64,
}

/// Space that a tree takes, and the largest file in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weight {
    /// The space.
    pub totals: Totals,
    /// Path, below the weighed entry, and size of the largest file; `None` if there is no file.
    pub largest: Option<(ZonePath, u64)>,
}

impl Weight {
    /// Returns the weight of one file.
    #[must_use]
    pub fn of_file(size: u64) -> Self {
        let mut weight = Self::default();
        weight.add(&ZonePath::root(), size);
        weight
    }

    /// Adds one file, `path` below the top.
    fn add(&mut self, path: &ZonePath, size: u64) {
        self.totals.add(size);
        if self.largest.as_ref().is_none_or(|(_, most)| size > *most) {
            self.largest = Some((path.clone(), size));
        }
    }
}

impl Root {
    /// Returns the entries of one directory, unordered. Names that are not UTF-8 are left out, because
    /// no path can hold them.
    pub fn list(&self, path: &ZonePath) -> Result<Vec<WalkEntry>, DiskError> {
        self.hold(path)?.list()
    }

    /// Visits every entry below `path`, parents before children. Directories that vanish meanwhile or
    /// belong to another account are left out. `visit` decides for a directory whether the walk goes
    /// into it.
    pub fn walk(
        &self,
        path: &ZonePath,
        mut visit: impl FnMut(&WalkEntry) -> Result<bool, DiskError>,
    ) -> Result<(), DiskError> {
        let mut pending = vec![path.clone()];
        let mut first = true;
        while let Some(directory) = pending.pop() {
            let entries = match self.list(&directory) {
                // Directories nested deeper than a path can say are left out, too.
                Err(DiskError::TooDeep { .. } | DiskError::Denied { .. }) if !first => continue,
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

    /// Returns the space of everything below the root, whatever its names. Files with several names
    /// count once for each.
    pub fn measure(&self) -> Result<Totals, DiskError> {
        self.measure_below(&ZonePath::root())
    }

    /// Returns the paths of all directories below the root.
    pub fn directories(&self) -> Result<HashSet<Box<[u8]>>, DiskError> {
        let mut directories = HashSet::new();
        self.survey(&ZonePath::root(), |path, kind, _| {
            if kind == Kind::Directory {
                directories.insert(path.into());
            }
        })?;
        Ok(directories)
    }

    /// Returns the space and number of everything below the root, and the time of its last change, from
    /// one walk.
    pub fn summary(&self) -> Result<TreeSummary, DiskError> {
        let stat = rustix::fs::fstat(self.handle());
        let stat = stat.map_err(|error| DiskError::of("look at", &ZonePath::root(), error))?;
        let mut summary = TreeSummary {
            totals: Totals::default(),
            entries: 0,
            directories: 0,
            last_change: stat.st_ctime,
        };
        self.survey(&ZonePath::root(), |_, kind, stat| {
            summary.entries += 1;
            summary.last_change = summary.last_change.max(stat.st_ctime);
            match kind {
                Kind::File => summary.totals.add(stat.st_size as u64),
                Kind::Directory => summary.directories += 1,
                Kind::Symlink | Kind::Special => {}
            }
        })?;
        Ok(summary)
    }

    /// Returns the space of an entry: a file's own, or that of everything below a directory.
    pub fn totals(&self, entry: &Entry) -> Result<Totals, DiskError> {
        match entry.kind() {
            Kind::File => Ok(Totals {
                bytes: entry.size(),
                files: 1,
            }),
            Kind::Directory => self.measure_below(entry.path()),
            Kind::Symlink | Kind::Special => Ok(Totals::default()),
        }
    }

    fn measure_below(&self, path: &ZonePath) -> Result<Totals, DiskError> {
        let mut totals = Totals::default();
        self.survey(path, |_, kind, stat| {
            if kind == Kind::File {
                totals.add(stat.st_size as u64);
            }
        })?;
        Ok(totals)
    }

    /// Returns the size of the files and directories that move with an entry to another place. `skip`
    /// gets the path below the entry and returns `true` if the entry there stays behind, with everything
    /// below it. Fails at a link, at a special file and at a name that no path can hold.
    pub fn weigh(
        &self,
        entry: &Entry,
        mut skip: impl FnMut(&ZonePath) -> bool,
    ) -> Result<Weight, DiskError> {
        let mut weight = Weight::default();
        let above = entry.path().as_str().len() + usize::from(!entry.path().is_root());
        let mut fault = None;
        let mut look = |path: &[u8], kind: Kind, size: u64| {
            let place = String::from_utf8_lossy(path);
            let inside = ZonePath::found(place.get(above..).unwrap_or_default().to_owned());
            if fault.is_some() || skip(&inside) {
                return;
            }
            match expect_movable(path, kind, entry) {
                Err(error) => fault = Some(error),
                Ok(()) if kind == Kind::File => weight.add(&inside, size),
                Ok(()) => {}
            }
        };
        look(entry.path().as_str().as_bytes(), entry.kind(), entry.size());
        let mut closed = Vec::new();
        if entry.kind() == Kind::Directory {
            closed = self.survey(entry.path(), |path, kind, stat| {
                look(path, kind, stat.st_size as u64);
            })?;
        }
        if let Some(path) = closed.first() {
            let path = lossy(path);
            fault = fault.or(Some(DiskError::Denied { path }));
        }
        fault.map_or(Ok(weight), Err)
    }

    /// Visits every name below one directory, even if it is not UTF-8. Paths are below the root, without
    /// a leading slash. Returns the directories that belong to another account and that the server may
    /// not open.
    pub fn survey(
        &self,
        path: &ZonePath,
        mut visit: impl FnMut(&[u8], Kind, &Stat),
    ) -> Result<Vec<Vec<u8>>, DiskError> {
        let mut pending = vec![Below::at(path.as_str().as_bytes())];
        let mut closed = Vec::new();
        while let Some(below) = pending.pop() {
            let directory = match self.open_below(&below) {
                // Gone since it was seen, or something else now.
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => continue,
                Err(Errno::ACCESS | Errno::PERM) => {
                    closed.push(below.path);
                    continue;
                }
                other => {
                    other.map_err(|error| DiskError::of("measure", &lossy(&below.path), error))?
                }
            };
            let directory = Rc::new(directory);
            let looked = each(&directory, &ZonePath::root(), |name, stat| {
                let inside = below.child(&directory, name.to_bytes());
                let kind = kind_of(&stat);
                visit(&inside.path, kind, &stat);
                if kind == Kind::Directory {
                    pending.push(inside);
                }
            });
            match looked {
                Err(DiskError::Denied { .. }) => closed.push(below.path),
                other => other?,
            }
        }
        Ok(closed)
    }

    /// Restores the bits that the server needs on every file and directory, after a command that may
    /// have removed them.
    pub fn grant_owner(&self) -> Result<(), DiskError> {
        let mut lacking = Vec::new();
        self.survey(&ZonePath::root(), |path, kind, stat| {
            let needed = match kind {
                Kind::File => FILE,
                Kind::Directory => DIRECTORY,
                Kind::Symlink | Kind::Special => return,
            };
            let lacks = stat.st_mode & needed != needed || stat.st_mode & SPECIAL != 0;
            if let (true, Ok(path)) = (lacks, std::str::from_utf8(path)) {
                let mode = (stat.st_mode & 0o777) | needed | 0o044;
                lacking.push((path.to_owned(), mode));
            }
        })?;
        for (path, mode) in lacking {
            match self.entry(&ZonePath::found(path)) {
                Err(error) if error.is_gone() => {}
                entry => entry?.set_mode(mode)?,
            }
        }
        Ok(())
    }

    pub(super) fn open_below(&self, below: &Below) -> Result<OwnedFd, Errno> {
        let base = below
            .base
            .as_ref()
            .map_or(self.handle(), |base| base.as_fd());
        let relative = CString::new(&*below.relative).map_err(|_| Errno::INVAL)?;
        open_raw(base, &relative)
    }
}

/// Returns a path that may be no text, for messages.
fn lossy(path: &[u8]) -> ZonePath {
    ZonePath::found(String::from_utf8_lossy(path).into_owned())
}

/// Fails unless what has this path, which is `entry` or below it, goes with it to another place.
pub(super) fn expect_movable(path: &[u8], kind: Kind, entry: &Entry) -> Result<(), DiskError> {
    let stays = |what| {
        let path = lossy(path);
        Err(DiskError::Stays { path, what })
    };
    match kind {
        _ if std::str::from_utf8(path).is_err() => stays("has a name that is not UTF-8"),
        Kind::File | Kind::Directory if path.len() > PATH_MAX_BYTES => Err(DiskError::TooDeep {
            path: entry.path().clone(),
        }),
        Kind::File | Kind::Directory => Ok(()),
        Kind::Symlink => stays("is a symbolic link"),
        Kind::Special => stays("is a special file"),
    }
}

/// A directory that is yet to be looked into. A path may be longer than the kernel takes at
/// once: it then begins at a directory on the way.
#[derive(Clone)]
pub(super) struct Below {
    base: Option<Rc<OwnedFd>>,
    relative: Vec<u8>,
    /// From the root.
    pub(super) path: Vec<u8>,
}

impl Below {
    /// Creates the path of a directory, which may be no text, and is no longer than the kernel allows.
    pub(super) fn at(path: &[u8]) -> Self {
        let relative = if path.is_empty() { b"." } else { path };
        Self {
            base: None,
            relative: relative.to_vec(),
            path: path.to_vec(),
        }
    }

    pub(super) fn child(&self, directory: &Rc<OwnedFd>, name: &[u8]) -> Self {
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

pub(super) fn each(
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
