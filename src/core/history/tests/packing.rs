//! Tests of packing: no object is lost, and packs are small.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::{Zone, run_git};
use crate::packing::{self, Worth};

/// Whatever there is.
pub(super) const ALL: Worth = Worth {
    objects: 1,
    bytes: u64::MAX,
};

impl Zone {
    pub(super) fn objects(&self) -> PathBuf {
        self.base.path().join("repo.git/objects")
    }

    pub(super) fn pack(&self, worth: Worth) -> usize {
        packing::pack(&self.parent, worth, &|| true).expect("packs")
    }

    pub(super) fn packs(&self, ending: &str) -> usize {
        let listing = fs::read_dir(self.objects().join("pack")).expect("packs");
        let names = listing.map(|item| item.expect("an item").file_name());
        names
            .filter(|name| name.to_string_lossy().ends_with(ending))
            .count()
    }

    /// Files of objects.
    pub(super) fn loose(&self) -> usize {
        let count = self.git(&["count-objects"]);
        let number = count.split(' ').next().expect("a number");
        number.parse().expect("a number")
    }

    /// Everything that the history says.
    fn told(&self) -> String {
        self.git(&["log", "--raw", "--no-abbrev", "--root", "-p"])
    }

    pub(super) fn assert_sound(&self) {
        let said = self.git(&["fsck", "--strict", "--full"]);
        assert_eq!(said, "");
    }

    /// Commits of text in some files, one after the other.
    fn change(&self, from: usize, to: usize) {
        for number in from..to {
            let path = format!("notes/{}/page-{}.md", number % 3, number % 7);
            let mut text = String::new();
            for line in 0..40 {
                let _written = writeln!(text, "line {line} of {}", number / (line + 1));
            }
            self.write(&path, text);
            self.commit(&[&path]);
        }
    }
}

/// Bytes on disk below a directory.
fn measure(directory: &Path) -> u64 {
    let items = fs::read_dir(directory).expect("a directory");
    let size = |item: std::io::Result<fs::DirEntry>| {
        let item = item.expect("an item");
        let metadata = item.metadata().expect("metadata");
        let below = if metadata.is_dir() {
            measure(&item.path())
        } else {
            0
        };
        below + metadata.blocks() * 512
    };
    items.map(size).sum()
}

#[test]
fn a_packed_history_says_what_it_said_and_is_at_most_twice_as_large_as_gits() {
    let zone = Zone::new();
    let worth = Worth {
        objects: 200,
        bytes: u64::MAX,
    };
    for part in 0..8 {
        zone.change(part * 50, part * 50 + 50);
        zone.pack(worth);
    }
    zone.change(400, 420);
    let told = zone.told();
    assert!(zone.pack(ALL) > 0);
    packing::tidy(&zone.parent).expect("tidied");
    zone.assert_sound();
    assert_eq!(zone.told(), told);
    assert_eq!(zone.loose(), 0);
    assert!(zone.packs(".idx") <= 4, "{} packs", zone.packs(".idx"));
    assert_eq!(zone.packs(".pack"), zone.packs(".idx"));
    let ours = measure(&zone.objects());
    run_git(
        &zone.base.path().join("data"),
        &["gc", "--quiet", "--prune=now"],
    );
    let gits = measure(&zone.objects());
    assert!(ours <= 2 * gits, "{ours} bytes, git has {gits}");
}

#[test]
fn a_commit_in_a_flat_directory_is_small_when_it_is_packed() {
    const FILES: usize = 2000;
    const COMMITS: usize = 40;
    let zone = Zone::new();
    for number in 0..FILES {
        zone.write(&format!("file-{number}.txt"), format!("file {number}\n"));
    }
    zone.commit(&[""]);
    zone.pack(ALL);
    packing::tidy(&zone.parent).expect("tidied");
    let before = measure(&zone.objects());
    for number in 0..COMMITS {
        let path = format!("file-{}.txt", number * 31 % FILES);
        zone.write(&path, format!("change {number}\n"));
        zone.commit(&[&path]);
    }
    let loose = measure(&zone.objects()) - before;
    zone.pack(ALL);
    packing::tidy(&zone.parent).expect("tidied");
    let packed = measure(&zone.objects()).saturating_sub(before);
    zone.assert_sound();
    assert!(packed * 10 < loose, "{packed} bytes packed, {loose} not");
}

#[test]
fn commits_go_on_while_a_history_is_packed() {
    let zone = Zone::new();
    zone.change(0, 30);
    let done = AtomicBool::new(false);
    let packed = std::thread::scope(|scope| {
        let packer = scope.spawn(|| {
            let mut packed = 0;
            while !done.load(Ordering::Relaxed) {
                packed += zone.pack(ALL);
            }
            packed
        });
        zone.change(30, 300);
        done.store(true, Ordering::Relaxed);
        packer.join().expect("packed")
    });
    assert!(packed > 100, "{packed}");
    zone.assert_sound();
    assert_eq!(zone.git(&["rev-list", "--count", "HEAD"]).trim(), "300");
}

#[test]
fn packing_that_is_stopped_anywhere_changes_nothing_and_is_done_later() {
    let zone = Zone::new();
    zone.change(0, 40);
    let told = zone.told();
    let (mut stopped, mut packed) = (0, 0);
    while packed == 0 {
        let left = AtomicUsize::new(stopped);
        let goes_on = || {
            let less = |left: usize| left.checked_sub(1);
            left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less)
                .is_ok()
        };
        packed = packing::pack(&zone.parent, ALL, &goes_on).expect("stops");
        if packed == 0 {
            assert_eq!(zone.packs(".pack"), 0);
        }
        stopped += 1 + stopped / 8;
    }
    assert!(stopped > 50, "{stopped}");
    zone.assert_sound();
    assert_eq!(zone.told(), told);
}

#[test]
fn what_a_packer_left_that_died_goes_with_the_next_one() {
    let zone = Zone::new();
    zone.change(0, 10);
    let work = zone.base.path().join("repo.git/fileshed/packing");
    fs::create_dir_all(&work).expect("made");
    fs::write(work.join("pack_a1b2c3"), "half of a pack").expect("written");
    fs::write(work.join("installing-1234"), "").expect("written");
    let lonely = zone.objects().join("pack/pack-1234.pack");
    fs::write(&lonely, "a pack without an index").expect("written");
    assert!(zone.pack(ALL) > 0);
    assert!(!lonely.exists());
    let left: Vec<_> = fs::read_dir(&work)
        .expect("a directory")
        .map(|item| item.expect("an item").file_name())
        .collect();
    assert_eq!(left, vec!["settings"]);
    zone.assert_sound();
}

#[test]
fn a_damaged_object_keeps_its_file_and_the_others_are_packed() {
    let zone = Zone::new();
    zone.change(0, 20);
    zone.write("lost.txt", "what the disk loses\n".repeat(50));
    zone.commit(&["lost.txt"]);
    let id = zone.git(&["rev-parse", "HEAD:lost.txt"]);
    let (directory, name) = id.trim().split_at(2);
    let file = zone.objects().join(directory).join(name);
    let content = fs::read(&file).expect("an object");
    fs::remove_file(&file).expect("removed");
    fs::write(&file, &content[..content.len() / 2]).expect("cut");
    assert!(zone.pack(ALL) > 0);
    assert_eq!(zone.loose(), 1);
    assert!(file.exists());
}

#[test]
fn a_history_that_somebody_packs_is_left_to_them() {
    let zone = Zone::new();
    zone.change(0, 10);
    zone.pack(ALL);
    zone.change(10, 20);
    let work = zone.base.path().join("repo.git/fileshed/packing");
    let held = fs::File::open(work).expect("opened");
    held.lock().expect("locked");
    assert_eq!(zone.pack(ALL), 0);
    drop(held);
    assert!(zone.pack(ALL) > 0);
}
