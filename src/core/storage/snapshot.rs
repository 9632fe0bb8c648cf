//! What lay in a zone at one moment, and the way back to no more than that.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::rc::Rc;

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::kind::kind_of;
use super::walk::{Below, each};
use super::{DiskError, Kind, Root, Totals, rights};
use fileshed_types::zone::ZonePath;

/// Every name at one moment, with what it stood for.
#[derive(Debug, Default)]
pub struct Snapshot {
    inodes: HashMap<u64, Known>,
    /// Sizes by path.
    names: HashMap<Vec<u8>, u64>,
    totals: Totals,
    directories: u64,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    size: u64,
    changed: (i64, u64),
    /// Whether it came by a command while others ran, which may have been one of these.
    fresh: bool,
}

impl Snapshot {
    /// What a zone held then.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How many directories there were.
    #[must_use]
    pub fn directories(&self) -> u64 {
        self.directories
    }

    /// Whether something had this path.
    #[must_use]
    pub fn had(&self, path: &[u8]) -> bool {
        self.names.contains_key(path)
    }

    /// Whether it is still what it was, unchanged.
    #[must_use]
    pub fn is_same(&self, stat: &Stat) -> bool {
        self.inodes
            .get(&stat.st_ino)
            .is_some_and(|known| known.changed == changed(stat))
    }

    fn add(&mut self, path: &[u8], stat: &Stat) {
        let size = match kind_of(stat) {
            Kind::File => stat.st_size as u64,
            _ => 0,
        };
        let known = Known {
            size,
            changed: changed(stat),
            fresh: false,
        };
        self.inodes.insert(stat.st_ino, known);
        let before = self.names.insert(path.to_owned(), size);
        if kind_of(stat) == Kind::Directory {
            self.directories += u64::from(before.is_none());
        }
        if kind_of(stat) == Kind::File {
            self.totals.files += u64::from(before.is_none());
            self.totals.bytes = self.totals.bytes.saturating_sub(before.unwrap_or(0)) + size;
        }
    }

    /// What of this came after `earlier` may belong to a command that still runs.
    #[must_use]
    pub fn after(mut self, earlier: &Self) -> Self {
        for (inode, known) in &mut self.inodes {
            let before = earlier.inodes.get(inode);
            known.fresh = before.is_none_or(|before| before.fresh);
        }
        self
    }

    /// Whether it came while others ran and grew since.
    fn is_unfinished(&self, stat: &Stat) -> bool {
        self.inodes
            .get(&stat.st_ino)
            .is_some_and(|known| known.fresh && stat.st_size as u64 > known.size)
    }

    fn forget(&mut self, gone: &[u8]) {
        let totals = &mut self.totals;
        self.names.retain(|path, size| {
            let rest = path.strip_prefix(gone);
            let stays = rest.is_none_or(|rest| rest.first().is_some_and(|next| *next != b'/'));
            if !stays {
                totals.bytes = totals.bytes.saturating_sub(*size);
            }
            stays
        });
    }

    /// The size that a file had, by itself or by its name.
    fn size(&self, path: &[u8], stat: &Stat) -> Option<u64> {
        let known = self.inodes.get(&stat.st_ino).map(|known| known.size);
        known.or_else(|| self.names.get(path).copied())
    }
}

fn changed(stat: &Stat) -> (i64, u64) {
    (stat.st_ctime, stat.st_ctime_nsec)
}

impl Root {
    /// What is there now.
    pub fn snapshot(&self) -> Result<Snapshot, DiskError> {
        let mut snapshot = Snapshot::default();
        self.survey(&ZonePath::root(), |path, _, stat| snapshot.add(path, stat))?;
        Ok(snapshot)
    }

    /// Adds what is at `path` now, with everything below; nothing where nothing is there.
    pub fn remember(&self, path: &ZonePath, snapshot: &mut Snapshot) -> Result<(), DiskError> {
        let entry = match self.entry(path) {
            Err(error) if error.is_gone() => {
                snapshot.forget(path.as_str().as_bytes());
                return Ok(());
            }
            other => other?,
        };
        if let Some(stat) = entry.place().stat()? {
            snapshot.add(entry.path().as_str().as_bytes(), &stat);
        }
        for above in std::iter::successors(entry.path().parent(), ZonePath::parent) {
            if above.is_root() || snapshot.had(above.as_str().as_bytes()) {
                break;
            }
            if let Some(stat) = self.entry(&above)?.place().stat()? {
                snapshot.add(above.as_str().as_bytes(), &stat);
            }
        }
        if entry.kind() == Kind::Directory {
            self.survey(entry.path(), |path, _, stat| snapshot.add(path, stat))?;
        }
        Ok(())
    }

    /// Adds every directory and every file that holds nothing.
    pub fn remember_empty(&self, snapshot: &mut Snapshot) -> Result<(), DiskError> {
        self.survey(&ZonePath::root(), |path, kind, stat| {
            let is_empty = kind == Kind::Directory || stat.st_size == 0;
            if is_empty && !snapshot.inodes.contains_key(&stat.st_ino) {
                snapshot.add(path, stat);
            }
        })?;
        Ok(())
    }

    /// Removes what has come into being since, and cuts what grew to the size that it had; `spare`
    /// says what of it stays: by its path, what it is, and whether something was there. Gives the
    /// paths that were removed.
    pub fn take_back(
        &self,
        snapshot: &Snapshot,
        spare: impl Fn(&[u8], Kind, bool) -> bool,
    ) -> Result<HashSet<Vec<u8>>, DiskError> {
        let mut removed = HashSet::new();
        let mut pending = vec![Below::of(&ZonePath::root())];
        let mut made: Vec<(Below, CString)> = Vec::new();
        while let Some(below) = pending.pop() {
            let Ok(directory) = self.open_below(&below) else {
                continue;
            };
            let directory = Rc::new(directory);
            let mut listed: Vec<(CString, Stat)> = Vec::new();
            match each(&directory, &ZonePath::root(), |name, stat| {
                listed.push((name.to_owned(), stat));
            }) {
                Err(DiskError::Denied { .. }) => continue,
                other => other?,
            }
            for (name, stat) in listed {
                let inside = below.child(&directory, name.to_bytes());
                let kind = kind_of(&stat);
                let size = snapshot.size(&inside.path, &stat);
                match (kind, size) {
                    (Kind::Directory, known) => {
                        if known.is_none() {
                            made.push((below.clone(), name));
                        }
                        pending.push(inside);
                    }
                    (Kind::File, _) if snapshot.is_unfinished(&stat) => {
                        remove(&directory, &name, AtFlags::empty())?;
                        removed.insert(inside.path);
                    }
                    _ if spare(&inside.path, kind, size.is_some()) => {}
                    (Kind::File, Some(size)) if stat.st_size as u64 > size => {
                        cut(&directory, &name, size)?;
                    }
                    (_, Some(_)) => {}
                    (_, None) => {
                        remove(&directory, &name, AtFlags::empty())?;
                        removed.insert(inside.path);
                    }
                }
            }
        }
        for (above, name) in made.iter().rev() {
            if let Ok(directory) = self.open_below(above) {
                remove(&directory, name, AtFlags::REMOVEDIR)?;
            }
        }
        Ok(removed)
    }
}

fn remove(directory: &OwnedFd, name: &CStr, flags: AtFlags) -> Result<(), DiskError> {
    match rustix::fs::unlinkat(directory, name, flags) {
        // What somebody needs stays.
        Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::ISDIR | Errno::NOTDIR) => Ok(()),
        Err(error) => Err(DiskError::of("remove", &ZonePath::root(), error)),
    }
}

fn cut(directory: &OwnedFd, name: &CStr, size: u64) -> Result<(), DiskError> {
    let open = || {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        rustix::fs::openat(directory, name, flags, Mode::empty())
    };
    let file = open().or_else(|error| {
        if error == Errno::ACCESS && rights::give(directory, name, 0o600) {
            return open();
        }
        Err(error)
    });
    match file.and_then(|file| rustix::fs::ftruncate(&file, size)) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(DiskError::of("cut", &ZonePath::root(), error)),
    }
}
