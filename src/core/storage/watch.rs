//! Index of the entries of a zone in memory, kept true by change events of the kernel.
//!
//! A walk costs as much as there are files, however few of them changed. A watch walks once; from then
//! on the kernel notes which names changed (inotify), and only these are examined again. If that is not
//! reliable, there is no watch, and callers walk.

mod table;

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::rc::Rc;

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, Stat};
use rustix::io::Errno;

use super::handle::is_local;
use super::kind::kind_of;
use super::walk::{Below, Totals, each};
use super::{FileIdentity, Kind, Root, Stamp};
use fileshed_types::zone::{PATH_MAX_BYTES, ZonePath};
pub use table::WatchedName;
use table::{NameTable, is_at_or_below, join, split};

/// Most directories of one watch: each takes memory of the kernel.
const DIRECTORIES_MOST: usize = 8192;

/// Most files of one watch that have several names. A change through one name is not reported for the
/// others, so these files are examined every time.
const LINKED_MOST: usize = 256;

/// A path below the root.
type Path = Box<[u8]>;

/// Paths that changed, each with what was there before; `None` if there was nothing.
pub type ChangedPaths = BTreeMap<Path, Option<WatchedName>>;

/// The tree below one root.
#[derive(Debug)]
pub struct Watch {
    notifier: OwnedFd,
    root: FileIdentity,
    paths: HashMap<i32, Path>,
    watched: HashMap<Path, i32>,
    table: NameTable,
    /// Files that have several names.
    linked: HashSet<Path>,
    is_noted: fn(&str) -> bool,
    noted: BTreeMap<String, FileIdentity>,
}

impl Watch {
    /// Walks the tree once; `is_noted` returns `true` for names of interest. `None` if changes could go
    /// unnoticed, or are more than the kernel would report.
    #[must_use]
    pub fn begin(root: &Root, is_noted: fn(&str) -> bool) -> Option<Self> {
        if !is_local(root.handle()).ok()? {
            return None;
        }
        let notifier = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let mut watch = Self {
            notifier,
            root: FileIdentity::of(&rustix::fs::fstat(root.handle()).ok()?),
            paths: HashMap::new(),
            watched: HashMap::new(),
            table: NameTable::default(),
            linked: HashSet::new(),
            is_noted,
            noted: BTreeMap::new(),
        };
        watch.scan(root, Path::default())?;
        Some(watch)
    }

    /// Returns the space of all files, as of the last refresh.
    #[must_use]
    pub fn totals(&self) -> Totals {
        self.table.totals
    }

    /// Returns the number of directories.
    #[must_use]
    pub fn directories(&self) -> u64 {
        self.table.directories
    }

    /// Returns the paths of the directories; that of the root is empty.
    pub fn directory_paths(&self) -> impl Iterator<Item = &[u8]> {
        self.watched.keys().map(|path| &**path)
    }

    /// Returns the size of the file at a path.
    #[must_use]
    pub fn file_size(&self, path: &[u8]) -> Option<u64> {
        self.table.get(path)?.size()
    }

    /// Returns the paths whose names are of interest, with their files, parents before children.
    #[must_use]
    pub fn noted(&self) -> &BTreeMap<String, FileIdentity> {
        &self.noted
    }

    /// Examines the changes since the last time, and returns their paths. `None` if they cannot be known
    /// any more: then the watch is over.
    pub fn refresh(&mut self, root: &Root) -> Option<ChangedPaths> {
        if FileIdentity::of(&rustix::fs::fstat(root.handle()).ok()?) != self.root {
            return None;
        }
        let (changed, renewed) = self.read()?;
        let with_former = changed
            .iter()
            .map(|path| (path.clone(), self.table.get(path)));
        let mut changed: ChangedPaths = with_former.collect();
        // A directory that replaced another is a new one, even if it has the same inode number.
        for path in &renewed {
            self.forget(path);
        }
        let mut parent: Option<(Path, Rc<OwnedFd>)> = None;
        let mut look: BTreeSet<Path> = changed.keys().cloned().collect();
        look.extend(self.linked.iter().cloned());
        let mut seen = BTreeSet::new();
        while let Some(path) = look.pop_first() {
            seen.insert(path.clone());
            let (above, name) = split(&path);
            if !self.watched.contains_key(above) {
                changed.remove(&path);
                continue;
            }
            let directory = match &parent {
                Some((open, handle)) if **open == *above => Rc::clone(handle),
                _ => match open(root, above)? {
                    Some(handle) => {
                        let handle = Rc::new(handle);
                        parent = Some((above.into(), Rc::clone(&handle)));
                        handle
                    }
                    // It goes with the directory above it, of which the kernel tells, too.
                    None => continue,
                },
            };
            match rustix::fs::statat(&*directory, name, AtFlags::SYMLINK_NOFOLLOW) {
                Err(Errno::NOENT) => self.forget(&path),
                Err(_) => return None,
                Ok(stat) => {
                    let was = self.table.get(&path);
                    let directory = was.filter(WatchedName::is_directory);
                    let is_same = directory.is_some_and(|was| was.stamp.inode() == stat.st_ino);
                    if is_same && !renewed.contains(&path) {
                        // Only its times or its mode are others.
                        self.table.add(&path, &stat);
                        changed.remove(&path);
                        continue;
                    }
                    if directory.is_some() {
                        self.forget(&path);
                    }
                    // By another name.
                    if was.is_none_or(|was| was.stamp != Stamp::of(&stat)) {
                        changed.entry(path.clone()).or_insert(was);
                    }
                    self.enter(&path, &stat)?;
                    match kind_of(&stat) {
                        Kind::Directory => {
                            self.scan(root, path.clone())?;
                            let linked = self.linked.iter();
                            let inside = linked.filter(|name| is_at_or_below(name, &path));
                            look.extend(inside.filter(|name| !seen.contains(*name)).cloned());
                        }
                        // The kernel does not tell that a file got another name, which its time of
                        // change shows.
                        Kind::File if stat.st_nlink > 1 => {
                            let names = self.table.paths_of(stat.st_ino);
                            self.linked.extend(names.iter().cloned());
                            look.extend(names.into_iter().filter(|name| !seen.contains(name)));
                        }
                        _ => {}
                    }
                }
            }
        }
        Some(changed)
    }

    /// Reads the events of the kernel. Returns the paths that changed, and those of them that are
    /// directories which came or went.
    fn read(&mut self) -> Option<(BTreeSet<Path>, BTreeSet<Path>)> {
        let (mut changed, mut renewed) = (BTreeSet::new(), BTreeSet::new());
        let mut buffer = [MaybeUninit::uninit(); 16 * 1024];
        let mut reader = Reader::new(&self.notifier, &mut buffer);
        let came_or_went =
            ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
        let is_over = ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT;
        let mut gone = Vec::new();
        loop {
            let event = match reader.next() {
                Ok(event) => event,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(_) => return None,
            };
            let flags = event.events();
            if flags.intersects(is_over) {
                return None;
            }
            if flags.contains(ReadFlags::IGNORED) {
                gone.push(event.wd());
                continue;
            }
            let Some(directory) = self.paths.get(&event.wd()) else {
                continue;
            };
            let Some(name) = event.file_name().filter(|name| !name.is_empty()) else {
                let moved = ReadFlags::MOVE_SELF | ReadFlags::DELETE_SELF;
                if directory.is_empty() && flags.intersects(moved) {
                    return None;
                }
                continue;
            };
            let path = join(directory, name.to_bytes());
            if flags.contains(ReadFlags::ISDIR) && flags.intersects(came_or_went) {
                renewed.insert(path.clone());
            }
            changed.insert(path);
        }
        for number in gone {
            if let Some(path) = self.paths.remove(&number)
                && self.watched.get(&path) == Some(&number)
            {
                self.watched.remove(&path);
            }
        }
        Some((changed, renewed))
    }

    /// Looks at a directory and everything below it.
    fn scan(&mut self, root: &Root, top: Path) -> Option<()> {
        let mut pending = vec![top];
        while let Some(path) = pending.pop() {
            // Gone since it was seen: the kernel tells of it.
            let Some(directory) = open(root, &path)? else {
                continue;
            };
            if self.watched.len() >= DIRECTORIES_MOST {
                return None;
            }
            let place = format!("/proc/self/fd/{}", directory.as_raw_fd());
            let flags = WatchFlags::CREATE
                | WatchFlags::DELETE
                | WatchFlags::MODIFY
                | WatchFlags::ATTRIB
                | WatchFlags::CLOSE_WRITE
                | WatchFlags::MOVE
                | WatchFlags::DELETE_SELF
                | WatchFlags::MOVE_SELF
                | WatchFlags::ONLYDIR
                | WatchFlags::EXCL_UNLINK;
            let number = inotify::add_watch(&self.notifier, place, flags).ok()?;
            // One directory has one path.
            if self.paths.insert(number, path.clone()).is_some() {
                return None;
            }
            self.watched.insert(path.clone(), number);
            let mut entered = Some(());
            each(&directory, &ZonePath::root(), |name, stat| {
                let inside = join(&path, name.to_bytes());
                entered = entered.and_then(|()| self.enter(&inside, &stat));
                if kind_of(&stat) == Kind::Directory {
                    pending.push(inside);
                }
            })
            .ok()?;
            entered?;
        }
        Some(())
    }

    fn enter(&mut self, path: &Path, stat: &Stat) -> Option<()> {
        self.table.add(path, stat);
        if kind_of(stat) == Kind::File && stat.st_nlink > 1 {
            self.linked.insert(path.clone());
            if self.linked.len() > LINKED_MOST {
                return None;
            }
        } else {
            self.linked.remove(path);
        }
        if let Ok(path) = std::str::from_utf8(path) {
            let name = path.rsplit('/').next().unwrap_or(path);
            if (self.is_noted)(name) {
                self.noted.insert(path.to_owned(), FileIdentity::of(stat));
            }
        }
        Some(())
    }

    /// Forgets a path that is gone, with everything below it.
    fn forget(&mut self, gone: &[u8]) {
        let was = self.table.get(gone);
        self.table.forget(gone);
        if !was.is_some_and(|was| was.is_directory()) {
            self.linked.remove(gone);
            if let Ok(gone) = std::str::from_utf8(gone) {
                self.noted.remove(gone);
            }
            return;
        }
        self.linked.retain(|path| !is_at_or_below(path, gone));
        self.noted
            .retain(|path, _| !is_at_or_below(path.as_bytes(), gone));
        let notifier = &self.notifier;
        let paths = &mut self.paths;
        self.watched.retain(|path, number| {
            let goes = is_at_or_below(path, gone);
            if goes {
                let _is_gone_with_its_directory = inotify::remove_watch(notifier, *number);
                paths.remove(number);
            }
            !goes
        });
    }
}

/// Opens a directory; `Some(None)` if it does not exist any more, `None` if it cannot be opened.
#[expect(clippy::option_option, reason = "gone, or not to be known")]
fn open(root: &Root, path: &[u8]) -> Option<Option<OwnedFd>> {
    if path.len() > PATH_MAX_BYTES {
        return None;
    }
    match root.open_below(&Below::at(path)) {
        Ok(directory) => Some(Some(directory)),
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Some(None),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests;
