//! Setting of the race: a zone whose directories are swapped, and files outside that must stay untouched.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rustix::fs::{CWD, RenameFlags};

use super::tally::Tally;
use fileshed_test_support::{pause, variables};

/// Content of files outside.
pub(crate) const CANARY: &str = "CANARY-4f1c-MUST-NOT-BE-READ";

/// A name that exists outside only.
pub(crate) const NAME: &str = "known-outside-only";

/// Size of a file outside: a measurement that counts it is far too large.
pub(crate) const LARGE: u64 = 1 << 40;

/// Names that are swapped with links; the other side of each has `.spare` behind the name.
const SWAPPED: [&str; 3] = ["dir", "other", "file"];

/// Rounds of calls of all threads, unless `FILESHED_TEST_CALLS` says otherwise.
const ENOUGH: u64 = 100;

/// Most rounds, if some kind of call has not yet met both sides.
const MOST: u64 = 200_000;

/// Contents, identities and times of everything below a directory.
type Snapshot = BTreeMap<PathBuf, (u64, u32, u64, i64, i64, i64, Vec<u8>)>;

/// The zone and its surroundings.
pub(crate) struct Field {
    pub(crate) zone: PathBuf,
    outside: [PathBuf; 2],
    before: Vec<Snapshot>,
    pub(crate) tally: Tally,
    enough: u64,
    done: AtomicBool,
    calls: AtomicU64,
}

impl Field {
    /// Furnishes the zone that lies at `zone`. `stranger` is another user's zone; `kinds` are of the
    /// calls that must meet both sides.
    pub(crate) fn new(
        [zone, stranger, outside]: [&Path; 3],
        kinds: &'static [&'static str],
    ) -> Self {
        for place in [stranger, outside] {
            fs::create_dir_all(place.join("sub")).unwrap();
            for name in ["inside.txt", "victim.txt", "sub/deep.txt"] {
                fs::write(place.join(name), format!("{CANARY} {name}\n")).unwrap();
            }
            fs::write(place.join(NAME), CANARY).unwrap();
            let large = fs::File::create(place.join("sub").join("large")).unwrap();
            large.set_len(LARGE).unwrap();
        }
        for name in ["dir", "other"] {
            fs::create_dir_all(zone.join(name).join("sub")).unwrap();
            fs::write(zone.join(name).join("inside.txt"), "harmless\n").unwrap();
            fs::write(zone.join(name).join("victim.txt"), "harmless\n").unwrap();
            fs::write(zone.join(name).join("sub/deep.txt"), "harmless\n").unwrap();
        }
        fs::write(zone.join("file"), "harmless\n").unwrap();
        symlink(outside, zone.join("dir.spare")).unwrap();
        symlink(stranger, zone.join("other.spare")).unwrap();
        symlink(outside.join("inside.txt"), zone.join("file.spare")).unwrap();
        let outside = [stranger.to_owned(), outside.to_owned()];
        Self {
            zone: zone.to_owned(),
            before: outside.iter().map(|place| snapshot(place)).collect(),
            outside,
            tally: Tally::of(kinds),
            enough: variables::calls(ENOUGH),
            done: AtomicBool::new(false),
            calls: AtomicU64::new(0),
        }
    }

    /// Swaps until nobody works any more.
    pub(crate) fn swap(&self) {
        for swaps in 0_u64.. {
            if self.done.load(Ordering::Relaxed) {
                return;
            }
            for name in SWAPPED {
                let (a, b) = (
                    self.zone.join(name),
                    self.zone.join(format!("{name}.spare")),
                );
                rustix::fs::renameat_with(CWD, &a, CWD, &b, RenameFlags::EXCHANGE).unwrap();
            }
            // Slow calls, too, should meet a side that lasts: an odd count, so that it is now one
            // and now the other.
            if swaps.is_multiple_of(17) {
                pause(1000 * (swaps / 17 % 8));
            }
        }
    }

    /// Returns `true` if another round of calls is needed.
    pub(crate) fn goes_on(&self) -> bool {
        let calls = self.calls.fetch_add(1, Ordering::Relaxed);
        let is_wanted = calls < self.enough || (calls < MOST && !self.tally.has_raced());
        is_wanted && !self.done.load(Ordering::Relaxed)
    }

    /// Ends the swapping.
    pub(crate) fn end(&self) {
        self.done.store(true, Ordering::Relaxed);
    }

    /// Asserts that nothing outside differs from what it was, and nothing of it came in.
    #[track_caller]
    pub(crate) fn assert_untouched(&self, home: &Path) {
        for (place, before) in self.outside.iter().zip(&self.before) {
            let now = snapshot(place);
            for (path, is) in &now {
                assert_eq!(before.get(path), Some(is), "{}", path.display());
            }
            assert_eq!(now.len(), before.len());
        }
        for (path, entry) in snapshot(home) {
            assert!(!contains(&entry.6, CANARY), "{} has it", path.display());
            assert!(!path.ends_with(NAME), "{} has it", path.display());
        }
    }
}

fn snapshot(place: &Path) -> Snapshot {
    let mut snapshot = Snapshot::new();
    let mut pending = vec![place.to_owned()];
    while let Some(path) = pending.pop() {
        let Ok(stat) = fs::symlink_metadata(&path) else {
            continue;
        };
        let content = if stat.is_file() && stat.len() < LARGE {
            fs::read(&path).unwrap_or_default()
        } else {
            Vec::new()
        };
        if stat.is_dir() {
            pending.extend(
                fs::read_dir(&path)
                    .unwrap()
                    .map(|item| item.unwrap().path()),
            );
        }
        let about = (
            stat.ino(),
            stat.mode(),
            stat.len(),
            stat.mtime(),
            stat.mtime_nsec(),
            stat.ctime_nsec(),
            content,
        );
        snapshot.insert(path, about);
    }
    snapshot
}

/// Returns `true` if the bytes contain a text.
pub(crate) fn contains(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Asserts that a text shows nothing from outside.
#[track_caller]
pub(crate) fn assert_clean(text: &[u8]) {
    for secret in [CANARY, NAME] {
        assert!(
            !contains(text, secret),
            "leaked: {}",
            String::from_utf8_lossy(text)
        );
    }
}
