//! Additions to the end of large files.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;

use super::*;

const LENGTH: usize = 2 * 1024 * 1024;

impl Scene {
    fn large(&self) -> Entry {
        let content = "0123456\n".repeat(LENGTH / 8);
        let staged = self.staging.write(content.as_bytes()).expect("staged");
        let target = self.data.target(&path("log/large.txt")).expect("a target");
        staged.install(target).expect("installed").keep();
        self.data.entry(&path("log/large.txt")).expect("there")
    }

    fn appendable(&self, entry: &Entry, added: &[u8]) -> Option<Appendable> {
        let nobody = || Ok(Vec::new());
        let found = self.staging.appendable(entry, added, nobody);
        found.expect("looked at")
    }

    fn append(&self, entry: &Entry, added: &[u8]) -> Appended {
        let appendable = self.appendable(entry, added).expect("appendable");
        let appended = self.staging.append(appendable, entry.path());
        appended.expect("appended")
    }

    fn size(&self) -> usize {
        self.data
            .entry(&path("log/large.txt"))
            .expect("there")
            .size() as usize
    }

    /// Rolls back as the next process does when it finds journals; returns their number.
    fn roll_back(&self) -> usize {
        let journals = self.staging.journals(|| Ok(Vec::new())).expect("listed");
        for journal in &journals {
            self.staging.roll_back(journal).expect("rolled back");
        }
        journals.len()
    }
}

#[test]
fn what_is_added_is_there_and_the_file_is_the_same_one() {
    let scene = Scene::new();
    let entry = scene.large();
    let inode = entry.inode().expect("an inode");
    scene.append(&entry, b"one\n").keep().expect("kept");
    scene.append(&entry, b"two\n").keep().expect("kept");
    assert!(scene.read("log/large.txt").ends_with("6\none\ntwo\n"));
    let entry = scene.data.entry(&path("log/large.txt")).expect("there");
    assert_eq!(entry.inode().expect("an inode"), inode);
    assert_eq!(scene.roll_back(), 0);
}

#[test]
fn what_is_not_kept_is_cut_by_its_process_or_by_the_next_one() {
    let scene = Scene::new();
    let entry = scene.large();
    drop(scene.append(&entry, b"one\n"));
    assert_eq!(scene.size(), LENGTH);
    // Killed at any moment: with all of it, a part, nothing.
    for written in 0..=4 {
        std::mem::forget(scene.append(&entry, b"one\n"));
        let file = scene.at("log/large.txt");
        let file = File::options().write(true).open(file).expect("opened");
        file.set_len((LENGTH + written) as u64).expect("cut");
        assert_eq!(scene.roll_back(), 1);
        assert_eq!(scene.size(), LENGTH, "{written}");
    }
}

#[test]
fn what_others_did_meanwhile_stays() {
    let scene = Scene::new();
    let entry = scene.large();
    std::mem::forget(scene.append(&entry, b"one\n"));
    let file = scene.at("log/large.txt");
    let mut other = File::options().append(true).open(&file).expect("opened");
    other.write_all(b"two\n").expect("written");
    assert_eq!(scene.roll_back(), 1);
    assert!(scene.read("log/large.txt").ends_with("one\ntwo\n"));
    // Another file took the name.
    let entry = scene.data.entry(&path("log/large.txt")).expect("there");
    std::mem::forget(scene.append(&entry, b"three\n"));
    // While something is to be undone, the next one gets a copy.
    assert!(scene.appendable(&entry, b"four\n").is_none());
    scene.large();
    assert_eq!(scene.roll_back(), 1);
    assert_eq!(scene.size(), LENGTH);
}

#[test]
fn small_files_and_those_with_several_names_are_copied() {
    let scene = Scene::new();
    let entry = scene.large();
    let added = vec![b'x'; 65 * 1024];
    assert!(scene.appendable(&entry, &added).is_none());
    let file = scene.at("log/large.txt");
    std::fs::hard_link(&file, file.with_extension("bak")).expect("linked");
    assert_eq!(file.metadata().expect("there").nlink(), 2);
    assert!(scene.appendable(&entry, b"one\n").is_none());
    std::fs::write(scene.at("small"), "small").expect("written");
    let small = scene.data.entry(&path("small")).expect("there");
    assert!(scene.appendable(&small, b"one\n").is_none());
}
