//! Tests of a history after a power cut that lost unflushed writes, in every order.

use std::fs;
use std::path::PathBuf;

use super::{Zone, moment};
use crate::content::MANY;
use crate::{head, power_cut};

/// A start of the kernel that was before this one.
const EARLIER: &str = "00000000-0000-4000-8000-000000000000";

/// State of a file that was not flushed.
#[derive(Clone, Copy, Debug)]
enum Left {
    Missing,
    Empty,
    Cut,
    Zeroes,
}

const EVERY_WAY: [Left; 4] = [Left::Missing, Left::Empty, Left::Cut, Left::Zeroes];

impl Left {
    fn leave(self, file: &PathBuf) {
        let content = fs::read(file).expect("read");
        let left = match self {
            Self::Missing => return fs::remove_file(file).expect("removed"),
            Self::Empty => Vec::new(),
            Self::Cut => content[..content.len() / 2].to_vec(),
            Self::Zeroes => vec![0; content.len()],
        };
        // Objects may not be written to.
        fs::remove_file(file).expect("removed");
        fs::write(file, left).expect("written");
    }
}

impl Zone {
    fn objects_there(&self) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for directory in fs::read_dir(self.git_dir().join("objects")).expect("objects") {
            let directory = directory.expect("an item").path();
            if directory.file_name().is_some_and(|name| name.len() == 2) {
                let items = fs::read_dir(directory).expect("objects");
                found.extend(items.map(|item| item.expect("an item").path()));
            }
        }
        found.sort();
        found
    }

    /// Files of objects that were written since.
    fn written_since(&self, before: &[PathBuf]) -> Vec<PathBuf> {
        let mut written = self.objects_there();
        written.retain(|file| !before.contains(file));
        written
    }

    /// The machine starts again.
    fn start_again(&self) {
        fs::write(self.git_dir().join("fileshed/boot"), EARLIER).expect("written");
        assert!(!power_cut::is_whole(&self.parent));
    }

    fn recover(&self) {
        assert!(self.history().recover(moment()).expect("recovers"));
        assert!(power_cut::is_whole(&self.parent));
        assert_eq!(
            self.git(&["fsck", "--strict", "--full", "--no-dangling"]),
            ""
        );
        assert_eq!(self.head_files(), self.disk_files());
        assert_eq!(self.status(), "");
    }

    fn remembered(&self) -> PathBuf {
        self.git_dir().join("fileshed/head")
    }
}

/// Two commits that were flushed, and two that were not, with the objects of these.
fn zone() -> (Zone, Vec<PathBuf>, String) {
    let zone = Zone::new();
    zone.write("notes/a.md", "one\n");
    zone.commit(&["notes/a.md"]);
    zone.write("notes/b.md", "two\n");
    zone.commit(&["notes/b.md"]);
    let flushed = zone.git(&["rev-parse", "HEAD"]);
    let before = zone.objects_there();
    for text in ["three\n", "four\n"] {
        zone.write("notes/deep/c.md", text);
        zone.commit(&["notes/deep/c.md"]);
    }
    let written = zone.written_since(&before);
    assert_eq!(written.len(), 10);
    (zone, written, flushed)
}

#[test]
fn every_object_that_was_not_flushed_may_be_lost() {
    for left in EVERY_WAY {
        for number in 0..10 {
            let (zone, written, flushed) = zone();
            left.leave(&written[number]);
            zone.start_again();
            zone.recover();
            let log = zone.git(&["log", "--format=%H"]);
            assert!(log.contains(flushed.trim()), "{left:?} {number}");
        }
    }
}

#[test]
fn everything_that_was_not_flushed_may_be_lost_at_once() {
    for left in EVERY_WAY {
        let (zone, written, flushed) = zone();
        for file in &written {
            left.leave(file);
        }
        left.leave(&zone.git_dir().join("refs/heads/main"));
        let lines = fs::read_to_string(zone.remembered()).expect("lines");
        let kept: String = lines.split_inclusive('\n').take(2).collect();
        fs::write(zone.remembered(), kept + "\0\0\0refs/hea").expect("written");
        zone.start_again();
        zone.recover();
        assert_eq!(zone.git(&["rev-parse", "HEAD^"]), flushed, "{left:?}");
        // And nothing stands in the way of what comes.
        zone.write("notes/d.md", "five\n");
        assert!(zone.commit(&["notes/d.md"]).is_some());
    }
}

#[test]
fn a_branch_that_is_older_than_the_zone_is_caught_up_with() {
    let (zone, written, flushed) = zone();
    fs::write(zone.git_dir().join("refs/heads/main"), &flushed).expect("written");
    for file in &written {
        Left::Missing.leave(file);
    }
    zone.start_again();
    zone.recover();
    assert_eq!(zone.git(&["rev-parse", "HEAD^"]), flushed);
    assert_eq!(
        zone.git(&["log", "-1", "--format=%an %s"]),
        "fileshed Recovered after the machine stopped\n"
    );
}

#[test]
fn a_history_that_lost_nothing_stays_as_it_is() {
    let (zone, _, _) = zone();
    let log = zone.git(&["log", "--format=%H"]);
    zone.start_again();
    zone.recover();
    assert_eq!(zone.git(&["log", "--format=%H"]), log);
    assert!(!zone.history().recover(moment()).expect("nothing to do"));
}

#[test]
fn objects_that_a_pack_names_were_flushed_with_it() {
    let (zone, _, _) = zone();
    assert!(zone.pack(super::packing::ALL) > 0);
    let before = zone.objects_there();
    zone.write("notes/e.md", "six\n");
    zone.commit(&["notes/e.md"]);
    for file in zone.written_since(&before) {
        Left::Empty.leave(&file);
    }
    zone.start_again();
    zone.recover();
}

#[test]
fn what_is_remembered_stays_short() {
    let zone = Zone::new();
    zone.write("a.md", "one\n");
    zone.commit(&["a.md"]);
    let line = fs::read_to_string(zone.remembered()).expect("a line");
    fs::write(zone.remembered(), line.repeat(6000)).expect("written");
    zone.write("a.md", "two\n");
    zone.commit(&["a.md"]);
    let head = zone.git(&["rev-parse", "HEAD"]);
    let kept = fs::read_to_string(zone.remembered()).expect("a line");
    assert_eq!(kept, format!("{} {head}", head::BRANCH));
}

#[test]
fn a_detached_head_is_put_back_too() {
    let (zone, written, flushed) = zone();
    zone.status();
    zone.git(&["checkout", "-q", "--detach", flushed.trim()]);
    zone.write("notes/f.md", "six\n");
    zone.commit(&["notes/f.md"]);
    let kept = zone.git(&["rev-parse", "HEAD"]);
    let before = zone.objects_there();
    zone.write("notes/f.md", "seven\n");
    zone.commit(&["notes/f.md"]);
    for file in zone.written_since(&before) {
        Left::Cut.leave(&file);
    }
    assert!(written.iter().all(|file| file.exists()));
    zone.start_again();
    zone.recover();
    assert_eq!(zone.git(&["rev-parse", "HEAD^"]), kept);
}

#[test]
fn contents_of_many_files_are_committed_anew_where_the_names_of_their_pack_are_lost() {
    for lost in [&["pack", "idx"][..], &["pack"], &["idx"]] {
        let zone = Zone::new();
        zone.write("first", "1\n");
        zone.commit(&["first"]).expect("a commit");
        for number in 0..MANY {
            zone.write(&format!("many/{number}"), format!("{number}\n"));
        }
        zone.commit(&["many"]).expect("a commit");
        for item in fs::read_dir(zone.git_dir().join("objects/pack")).expect("packs") {
            let file = item.expect("an item").path();
            if lost
                .iter()
                .any(|part| file.extension().is_some_and(|end| end == *part))
            {
                fs::remove_file(file).expect("removed");
            }
        }
        zone.start_again();
        zone.recover();
    }
}
