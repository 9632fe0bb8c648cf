//! What lay in a zone at one moment, and the way back to no more than that.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, CString};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::kind::kind_of;
use super::walk::{Below, each};
use super::{DiskError, Kind, Root, Totals, rights};
use fileshed_types::zone::ZonePath;

/// Every name at one moment, with what it stood for. A copy shares what is the same: it costs as
/// much as there are directories, and that only once one of the two changes.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// By the path of their directory.
    listings: Arc<HashMap<Box<[u8]>, Arc<Listing>>>,
    totals: Totals,
    directories: u64,
    /// What came by a command while others ran, which may have been one of these.
    fresh: Arc<HashSet<u64>>,
    /// The same by inode, once that was asked for.
    inodes: Arc<OnceLock<HashMap<u64, Known>>>,
}

/// The names in one directory.
type Listing = HashMap<Box<[u8]>, Known>;

/// What a name stood for.
#[derive(Clone, Copy, Debug)]
struct Known {
    inode: u64,
    kind: Kind,
    /// Of a file.
    size: u64,
    changed: (i64, u64),
    /// Whether a file has other names besides.
    is_linked: bool,
}

impl Known {
    fn of(stat: &Stat) -> Self {
        let kind = kind_of(stat);
        let is_file = kind == Kind::File;
        Self {
            inode: stat.st_ino,
            kind,
            size: if is_file { stat.st_size as u64 } else { 0 },
            changed: changed(stat),
            is_linked: is_file && stat.st_nlink > 1,
        }
    }
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
        self.known(path).is_some()
    }

    /// The size of the file that had this path.
    #[must_use]
    pub fn file_size(&self, path: &[u8]) -> Option<u64> {
        let known = self.known(path);
        known
            .filter(|known| known.kind == Kind::File)
            .map(|known| known.size)
    }

    /// Whether it is still what it was, unchanged.
    #[must_use]
    pub fn is_same(&self, stat: &Stat) -> bool {
        self.inodes()
            .get(&stat.st_ino)
            .is_some_and(|known| known.changed == changed(stat))
    }

    /// What had this path: its inode and what it was.
    pub(super) fn what_had(&self, path: &[u8]) -> Option<(u64, Kind)> {
        self.known(path).map(|known| (known.inode, known.kind))
    }

    /// Whether a path stood for this, unchanged since.
    pub(super) fn has(&self, path: &[u8], stat: &Stat) -> bool {
        self.known(path)
            .is_some_and(|known| known.inode == stat.st_ino && known.changed == changed(stat))
    }

    /// Every path of a file with this inode.
    pub(super) fn paths_of(&self, inode: u64) -> Vec<Box<[u8]>> {
        let mut paths = Vec::new();
        for (above, listing) in self.listings.iter() {
            let names = listing.iter().filter(|(_, known)| known.inode == inode);
            paths.extend(names.map(|(name, _)| join(above, name)));
        }
        paths
    }

    /// Every path, with what is known of it.
    #[cfg(test)]
    pub(super) fn names(&self) -> std::collections::BTreeMap<String, (u64, Kind)> {
        let mut names = std::collections::BTreeMap::new();
        for (above, listing) in self.listings.iter() {
            for (name, known) in listing.iter() {
                let path = String::from_utf8_lossy(&join(above, name)).into_owned();
                names.insert(path, (known.size, known.kind));
            }
        }
        names
    }

    fn known(&self, path: &[u8]) -> Option<&Known> {
        let (above, name) = split(path);
        self.listings.get(above)?.get(name)
    }

    fn inodes(&self) -> &HashMap<u64, Known> {
        self.inodes.get_or_init(|| {
            let all = self.listings.values().flat_map(|listing| listing.values());
            all.map(|known| (known.inode, *known)).collect()
        })
    }

    /// Enters what has a path now.
    pub(super) fn add(&mut self, path: &[u8], stat: &Stat) {
        let known = Known::of(stat);
        if self.fresh.contains(&known.inode) {
            Arc::make_mut(&mut self.fresh).remove(&known.inode);
        }
        let (above, name) = split(path);
        let listings = Arc::make_mut(&mut self.listings);
        let before = if let Some(listing) = listings.get_mut(above) {
            Arc::make_mut(listing).insert(name.into(), known)
        } else {
            let listing = Listing::from([(name.into(), known)]);
            listings.insert(above.into(), Arc::new(listing));
            None
        };
        self.count(before, Some(known));
    }

    fn count(&mut self, before: Option<Known>, now: Option<Known>) {
        if self.inodes.get().is_some() {
            self.inodes = Arc::default();
        }
        if let Some(known) = before {
            self.totals.bytes -= known.size;
            self.totals.files -= u64::from(known.kind == Kind::File);
            self.directories -= u64::from(known.kind == Kind::Directory);
        }
        if let Some(known) = now {
            self.totals.bytes += known.size;
            self.totals.files += u64::from(known.kind == Kind::File);
            self.directories += u64::from(known.kind == Kind::Directory);
        }
    }

    /// What of this came after `earlier` may belong to a command that still runs.
    #[must_use]
    pub fn after(mut self, earlier: &Self) -> Self {
        let mut fresh: HashSet<u64> = HashSet::new();
        let mut before: HashSet<u64> = HashSet::new();
        // What a name was moved from differs, too; another name of a file need not.
        let mut look_everywhere = false;
        for (path, listing) in self.listings.iter() {
            let known = earlier.listings.get(path);
            if known.is_some_and(|known| Arc::ptr_eq(known, listing)) {
                continue;
            }
            for (name, now) in listing.iter() {
                let then = known.and_then(|known| known.get(name));
                if then.is_none_or(|then| then.inode != now.inode) {
                    fresh.insert(now.inode);
                    look_everywhere |= now.is_linked;
                }
            }
        }
        if look_everywhere {
            fresh.retain(|inode| !earlier.inodes().contains_key(inode));
        } else if !fresh.is_empty() {
            for (path, listing) in earlier.listings.iter() {
                let now = self.listings.get(path);
                if now.is_none_or(|now| !Arc::ptr_eq(now, listing)) {
                    before.extend(listing.values().map(|known| known.inode));
                }
            }
            fresh.retain(|inode| !before.contains(inode));
        }
        fresh.extend(earlier.fresh.iter());
        self.fresh = Arc::new(fresh);
        self
    }

    /// Whether it came while others ran and grew since.
    fn is_unfinished(&self, stat: &Stat) -> bool {
        self.fresh.contains(&stat.st_ino)
            && self
                .inodes()
                .get(&stat.st_ino)
                .is_some_and(|known| stat.st_size as u64 > known.size)
    }

    /// Nothing has this path any more.
    pub(super) fn forget(&mut self, gone: &[u8]) {
        let (above, name) = split(gone);
        let listings = Arc::make_mut(&mut self.listings);
        let before = listings
            .get_mut(above)
            .filter(|above| above.contains_key(name));
        let before = before.and_then(|above| Arc::make_mut(above).remove(name));
        let mut below: Vec<Known> = before.into_iter().collect();
        if before.is_some_and(|before| before.kind == Kind::Directory) {
            listings.retain(|path, listing| {
                let is_below = is_at_or_below(path, gone);
                if is_below {
                    below.extend(listing.values());
                }
                !is_below
            });
        }
        for known in below {
            self.count(Some(known), None);
        }
    }

    /// The size that a file had, by itself or by its name.
    fn size(&self, path: &[u8], stat: &Stat) -> Option<u64> {
        let known = self.inodes().get(&stat.st_ino).or_else(|| self.known(path));
        known.map(|known| known.size)
    }
}

/// The directory of a path, and the name there.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// The path of a name in a directory.
pub(super) fn join(above: &[u8], name: &[u8]) -> Box<[u8]> {
    match above {
        b"" => name.into(),
        above => [above, b"/", name].concat().into(),
    }
}

/// Whether a path is another one, or lies below it.
pub(super) fn is_at_or_below(path: &[u8], above: &[u8]) -> bool {
    path.strip_prefix(above)
        .is_some_and(|rest| rest.first().is_none_or(|next| *next == b'/'))
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
        let known = snapshot.inodes().clone();
        self.survey(&ZonePath::root(), |path, kind, stat| {
            let is_empty = kind == Kind::Directory || stat.st_size == 0;
            if is_empty && !known.contains_key(&stat.st_ino) {
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
                        if known.is_none() && !spare(&inside.path, kind, false) {
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
