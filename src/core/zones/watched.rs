//! Zones of which this process is told what changes, so that a command costs no more than what it did.
//!
//! A zone is watched from its first command on, and the zones without a command for the longest time are
//! dropped. If a zone cannot be watched, nothing is known of it, and callers walk it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::tenant::ZoneRoots;
use fileshed_storage::{ChangedPaths, DiskError, FileIdentity, Kind, Root, Totals, Watch};
use fileshed_types::zone::{ZonePath, is_never_made};
use fileshed_types::{Clock, Mutex, Settings, ZoneName};

/// Zones that are watched at a time: the kernel bounds how many one account may watch.
const ZONES_MOST: usize = 32;

/// Files and directories of all watched zones together: each takes some hundred bytes of memory.
const NAMES_MOST: u64 = 250_000;

/// Paths that are remembered until a change has them; of more, only that there are some.
const UNSETTLED_MOST: usize = 4_096;

/// The file of a zone with history that leads git to the repository beside it.
const POINTER: &str = ".git";

/// A tenant and a zone of it.
type WatchKey = (String, ZoneName);

/// All watched zones of this process.
#[derive(Debug)]
pub struct WatchedZones {
    zones: Mutex<Zones>,
    clock: Clock,
    /// Time after which the server tries again to watch a zone that could not be watched.
    again_after: Duration,
}

#[derive(Debug, Default)]
struct Zones {
    watched: HashMap<WatchKey, WatchEntry>,
    /// Counts uses.
    uses: u64,
}

/// One zone among all.
#[derive(Debug, Default)]
struct WatchEntry {
    /// When it was used last.
    used: u64,
    /// Files and directories in it.
    names: u64,
    zone: Arc<Mutex<WatchedZone>>,
}

#[derive(Debug, Default)]
struct WatchedZone {
    watch: Option<Watch>,
    /// Time of the next attempt, if the zone could not be watched.
    again: Option<Instant>,
    /// Changes that history may not have yet; `None` if it is not known whether history ever had everything.
    unsettled: Option<ChangedPaths>,
    /// `true` if it is not known because there were too many.
    is_overflow: bool,
}

/// Space that a zone takes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Extent {
    /// All files of the user. The pointer to a repository is the server's own.
    pub totals: Totals,
    /// Number of directories.
    pub directories: u64,
}

/// Changes in a watched zone.
#[derive(Debug)]
pub struct Unsettled {
    /// The size of the zone now.
    pub extent: Extent,
    /// Paths that may not be in history yet; `None` if they are not known.
    pub paths: Option<ChangedPaths>,
    /// `true` if they are not known because there were too many.
    pub is_overflow: bool,
}

impl WatchedZones {
    pub(crate) fn new(settings: &Settings, clock: &Clock) -> Self {
        Self {
            zones: Mutex::default(),
            clock: clock.clone(),
            again_after: settings.timings.history.watch,
        }
    }

    fn zone(&self, zone: &ZoneRoots<'_>) -> Arc<Mutex<WatchedZone>> {
        let mut zones = self.zones.lock();
        zones.uses += 1;
        let now = zones.uses;
        let entry = zones.watched.entry(key(zone)).or_default();
        entry.used = now;
        let found = Arc::clone(&entry.zone);
        while zones.are_too_many() {
            let oldest = zones.watched.iter().min_by_key(|(_, entry)| entry.used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                zones.watched.remove(&oldest);
            }
        }
        found
    }

    /// Applies `ask` to the known state of a zone; `None` if its state is not known.
    fn known<T>(
        &self,
        zone: &ZoneRoots<'_>,
        ask: impl FnOnce(&mut WatchedZone) -> Option<T>,
    ) -> Option<T> {
        let watched = self.zone(zone);
        let mut watched = watched.lock();
        let now = self.clock.instant();
        let names = watched.refresh(zone.data, now, now + self.again_after);
        let mut zones = self.zones.lock();
        if let Some(entry) = zones.watched.get_mut(&key(zone)) {
            entry.names = names;
        }
        drop(zones);
        ask(&mut watched)
    }

    /// Measures a zone: without a walk, if it is watched.
    pub fn extent(&self, zone: &ZoneRoots<'_>) -> Result<Extent, DiskError> {
        let known = self.known(zone, |watched| {
            let watch = watched.watch.as_ref()?;
            Some(Extent::of(watch, zone.zone))
        });
        if let Some(extent) = known {
            return Ok(extent);
        }
        let summary = zone.data.summary()?;
        let pointer = zone.data.entry(&ZonePath::root().join(POINTER)).ok();
        let pointer = pointer.filter(|pointer| pointer.kind() == Kind::File);
        let extent = Extent {
            totals: summary.totals,
            directories: summary.directories,
        };
        Ok(extent.without(zone.zone, pointer.map(|pointer| pointer.size())))
    }

    /// Returns the paths of all directories in a zone.
    pub fn directories(&self, zone: &ZoneRoots<'_>) -> Result<HashSet<Box<[u8]>>, DiskError> {
        let known = self.known(zone, |watched| {
            let paths = watched.watch.as_ref()?.directory_paths();
            Some(paths.map(Box::from).collect())
        });
        known.map_or_else(|| zone.data.directories(), Ok)
    }

    /// Returns the paths in a zone whose names are reserved for the server or for git, or that some
    /// system cannot hold, with device and inode.
    pub fn noted_names(&self, zone: &ZoneRoots<'_>) -> Option<Vec<(String, FileIdentity)>> {
        self.known(zone, |watched| {
            let noted = watched.watch.as_ref()?.noted().iter();
            let noted = noted.map(|(path, identity)| (path.clone(), *identity));
            Some(noted.collect())
        })
    }

    /// Returns what may not be in history, once: the caller commits it, or says with
    /// [`WatchedZones::unsettle`] that it could not. `None` if the zone is not watched.
    pub fn unsettled(&self, zone: &ZoneRoots<'_>) -> Option<Unsettled> {
        self.known(zone, |watched| {
            let extent = Extent::of(watched.watch.as_ref()?, zone.zone);
            let paths = watched.unsettled.replace(ChangedPaths::new());
            let is_overflow = std::mem::take(&mut watched.is_overflow);
            Some(Unsettled {
                extent,
                paths,
                is_overflow,
            })
        })
    }

    /// Marks that it is not known any more which changes history has.
    pub fn unsettle(&self, zone: &ZoneRoots<'_>) {
        let zone = self.zone(zone);
        let mut zone = zone.lock();
        (zone.unsettled, zone.is_overflow) = (None, false);
    }
}

impl Zones {
    fn are_too_many(&self) -> bool {
        let names: u64 = self.watched.values().map(|entry| entry.names).sum();
        self.watched.len() > ZONES_MOST || (self.watched.len() > 1 && names > NAMES_MOST)
    }
}

impl WatchedZone {
    /// Records the changes up to `now`. Starts a new watch if there is none, or the old one is over;
    /// after a failure, not before `again`. Returns the number of files and directories.
    fn refresh(&mut self, data: &Root, now: Instant, again: Instant) -> u64 {
        let names = self
            .refreshed(data, now, again)
            .map_or(0, |watch| watch.totals().files + watch.directories());
        if names > NAMES_MOST {
            self.watch = None;
            self.unsettled = None;
            self.again = Some(again);
            return 0;
        }
        names
    }

    fn refreshed(&mut self, data: &Root, now: Instant, again: Instant) -> Option<&Watch> {
        if let Some(watch) = &mut self.watch {
            if let Some(changed) = watch.refresh(data) {
                if let Some(unsettled) = &mut self.unsettled {
                    for (path, was) in changed {
                        // Names in a directory that came meanwhile came with it.
                        let was = was.filter(|_| !is_in_new(unsettled, &path));
                        unsettled.entry(path).or_insert(was);
                    }
                    if unsettled.len() > UNSETTLED_MOST {
                        self.unsettled = None;
                        self.is_overflow = true;
                    }
                }
                return self.watch.as_ref();
            }
            self.watch = None;
        }
        self.unsettled = None;
        if self.again.is_some_and(|again| now < again) {
            return None;
        }
        self.watch = Watch::begin(data, is_never_made);
        self.again = self.watch.is_none().then_some(again);
        self.watch.as_ref()
    }
}

impl Extent {
    fn of(watch: &Watch, zone: ZoneName) -> Self {
        let extent = Self {
            totals: watch.totals(),
            directories: watch.directories(),
        };
        extent.without(zone, watch.file_size(POINTER.as_bytes()))
    }

    fn without(mut self, zone: ZoneName, pointer: Option<u64>) -> Self {
        if let Some(size) = pointer.filter(|_| zone.is_versioned()) {
            self.totals.bytes -= size;
            self.totals.files -= 1;
        }
        self
    }
}

/// Returns `true` if a directory above a path was not there before these changes.
fn is_in_new(changed: &ChangedPaths, path: &[u8]) -> bool {
    let ends = (0..path.len()).filter(|at| path[*at] == b'/');
    let mut above = ends.map(|end| &path[..end]);
    above.any(|above| matches!(changed.get(above), Some(None)))
}

fn key(zone: &ZoneRoots<'_>) -> WatchKey {
    (zone.tenant.to_owned(), zone.zone)
}
