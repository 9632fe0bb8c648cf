//! Contents that are prepared before the lock, and large ones at all.

use std::fs::{self, File};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;

use super::{Zone, ana, moment};
use crate::PreparedContent;
use crate::content::zone_path;
use fileshed_storage::Staging;

const LARGE: usize = 5 << 20;

fn text(seed: usize) -> String {
    let lines = (0..LARGE / 16).map(|line| format!("{:015}\n", line * seed));
    lines.collect()
}

impl Zone {
    fn staging(&self) -> Staging {
        let place = self
            .parent
            .subdirectory("staging")
            .expect("a place to stage");
        Staging::new(place, "test")
    }

    fn prepare(&self, path: &str) -> Option<PreparedContent> {
        let file = File::open(self.at(path)).expect("there");
        PreparedContent::of(&file, &self.staging()).expect("prepared")
    }

    fn commit_prepared(&self, path: &str, prepared: &[PreparedContent]) {
        self.history()
            .commit_paths(&[zone_path(path)], prepared, "large", &ana(), moment())
            .expect("commits")
            .expect("a commit");
    }

    fn staged(&self) -> Vec<PathBuf> {
        let items = fs::read_dir(self.base.path().join("staging")).expect("listed");
        items.map(|item| item.expect("an item").path()).collect()
    }

    /// The file of the object that the path has in the last commit.
    fn object(&self, path: &str) -> PathBuf {
        let id = self.git(&["rev-parse", &format!("HEAD:{path}")]);
        let (directory, name) = id.trim().split_at(2);
        self.git_dir().join("objects").join(directory).join(name)
    }

    fn expect_whole(&self, path: &str, content: &str) {
        assert!(self.git(&["cat-file", "blob", &format!("HEAD:{path}")]) == content);
        self.git(&["fsck", "--strict"]);
        assert_eq!(self.status(), "");
    }
}

#[test]
fn what_was_prepared_is_taken_as_it_is() {
    let zone = Zone::new();
    let content = text(1);
    zone.write("arrives", &content);
    let prepared = zone.prepare("arrives").expect("large");
    let [made] = &zone.staged()[..] else {
        panic!("one object is staged")
    };
    let made = fs::metadata(made).expect("there").ino();
    // It gets its name, and other rights, after it was prepared.
    fs::create_dir(zone.at("in")).expect("made");
    fs::rename(zone.at("arrives"), zone.at("in/a.csv")).expect("moved");
    zone.commit_prepared("in/a.csv", &[prepared]);
    let object = fs::metadata(zone.object("in/a.csv")).expect("an object");
    assert_eq!((object.ino(), object.mode() & 0o777), (made, 0o444));
    assert_eq!(zone.staged(), Vec::<PathBuf>::new());
    zone.expect_whole("in/a.csv", &content);
}

#[test]
fn what_changed_since_it_was_prepared_is_taken_in_anew() {
    let zone = Zone::new();
    zone.write("a.csv", text(1));
    let prepared = vec![zone.prepare("a.csv").expect("large")];
    let other = text(2);
    zone.write("beside", &other);
    fs::rename(zone.at("beside"), zone.at("a.csv")).expect("replaced");
    zone.commit_prepared("a.csv", &prepared);
    zone.expect_whole("a.csv", &other);

    // The same file, changed where it lies.
    let prepared = vec![zone.prepare("a.csv").expect("large")];
    let third = text(3);
    zone.write("a.csv", &third);
    zone.commit_prepared("a.csv", &prepared);
    zone.expect_whole("a.csv", &third);
}

#[test]
fn what_is_there_already_is_not_stored_again() {
    let zone = Zone::new();
    let content = text(1);
    zone.write("a.csv", &content);
    zone.commit(&["a.csv"]);
    let first = fs::metadata(zone.object("a.csv")).expect("an object").ino();
    zone.write("b.csv", &content);
    let prepared = vec![zone.prepare("b.csv").expect("large")];
    zone.commit_prepared("b.csv", &prepared);
    zone.expect_whole("b.csv", &content);
    let second = fs::metadata(zone.object("b.csv")).expect("an object").ino();
    assert_eq!(second, first);
}

#[test]
fn small_contents_are_not_prepared() {
    let zone = Zone::new();
    zone.write("a.txt", "small");
    assert!(zone.prepare("a.txt").is_none());
    assert_eq!(zone.staged(), Vec::<PathBuf>::new());
}

#[test]
fn what_a_crash_left_of_an_object_is_in_nobodys_way() {
    let zone = Zone::new();
    let content = text(1);
    zone.write("a.csv", &content);
    zone.history();
    let file = File::open(zone.at("a.csv")).expect("there");
    let id = crate::large::identify(&file).expect("a name");
    let left = zone.git_dir().join(format!("objects/tmp_obj_{id}"));
    fs::write(&left, "half an object").expect("written");
    zone.commit(&["a.csv"]);
    assert!(!left.exists());
    zone.expect_whole("a.csv", &content);
}
