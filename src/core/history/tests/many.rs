//! Many files at once: their contents are in one pack, which git reads as any other.

use std::fs;
use std::path::PathBuf;

use super::Zone;
use super::packing::ALL;
use crate::content::MANY;

/// Contents of all sizes that a pack writes in another way, some of them twice.
fn content(number: usize) -> Vec<u8> {
    let mut state = number as u64 / 2 + 1;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state as u8
    };
    match number % 5 {
        0 => (0..number * 37).map(|_| noise()).collect(),
        1 => b"one line\n".repeat(number * 11),
        2 => number.to_string().into_bytes(),
        3 => vec![b'x'; 15 + number % 3],
        _ => Vec::new(),
    }
}

impl Zone {
    fn write_many(&self, directory: &str) {
        for number in 0..MANY {
            self.write(
                &format!("{directory}/{}/{number}", number % 7),
                content(number),
            );
        }
    }

    /// A file in the directory where packs of contents are made.
    fn work(&self, name: &str) -> PathBuf {
        self.git_dir().join("fileshed/contents").join(name)
    }

    fn assert_cleared(&self) {
        let left = fs::read_dir(self.work("")).expect("a directory");
        assert_eq!(left.count(), 0);
    }

    /// The files of the one pack, and its name.
    fn the_pack(&self) -> (PathBuf, PathBuf) {
        let items = fs::read_dir(self.objects().join("pack")).expect("packs");
        let files: Vec<PathBuf> = items.map(|item| item.expect("an item").path()).collect();
        let find = |ending: &str| {
            let ends = |file: &&PathBuf| file.extension().is_some_and(|end| end == ending);
            files.iter().find(ends).expect("a part").clone()
        };
        (find("pack"), find("idx"))
    }
}

#[test]
fn a_commit_of_many_files_is_one_pack() {
    let zone = Zone::new();
    zone.write("first", "1\n");
    zone.commit(&["first"]).expect("a commit");
    zone.write_many("a");
    let before = zone.loose();
    zone.commit(&["a"]).expect("a commit");
    assert_eq!(zone.packs(".pack"), 1);
    // Directories and the commit have files, as ever.
    assert_eq!(zone.loose() - before, 7 + 2 + 1);
    zone.assert_sound();
    assert_eq!(zone.head_files(), zone.disk_files());
    let index = zone.the_pack().1;
    let index = index.to_str().expect("a path");
    zone.git(&["verify-pack", index]);
    zone.assert_cleared();

    // Objects that are there already are not written again, whichever file brings them.
    zone.write_many("b");
    zone.capture().commit.expect("a commit");
    assert_eq!(zone.packs(".pack"), 1);
    zone.write("b/0/new", "another\n");
    zone.write_many("c");
    zone.write("c/0/new", "another one\n");
    zone.capture().commit.expect("a commit");
    assert_eq!(zone.packs(".pack"), 2);
    zone.assert_sound();
    assert_eq!(zone.head_files(), zone.disk_files());
    assert_eq!(zone.status(), "");
}

#[test]
fn a_damaged_object_is_written_anew_with_many() {
    let zone = Zone::new();
    zone.write("first", content(1));
    zone.commit(&["first"]).expect("a commit");
    let id = zone.git(&["rev-parse", "HEAD:first"]);
    let (above, name) = id.trim().split_at(2);
    let object = zone.objects().join(above).join(name);
    fs::remove_file(&object).expect("removed");
    fs::write(&object, "cut").expect("written");
    zone.write_many("a");
    zone.commit(&["a"]).expect("a commit");
    zone.assert_sound();
    assert_eq!(zone.head_files(), zone.disk_files());
}

#[test]
fn what_is_left_of_a_pack_that_was_not_finished_goes() {
    let zone = Zone::new();
    zone.write_many("a");
    zone.commit(&["a"]).expect("a commit");
    let (pack, index) = zone.the_pack();
    let name = pack.file_name().expect("a name").to_str().expect("text");
    let hash = name
        .strip_prefix("pack-")
        .and_then(|name| name.strip_suffix(".pack"));
    let note = format!("installing-{}", hash.expect("a checksum"));
    // Died before the pack had its name.
    fs::write(zone.work("pack-1.pack"), b"PACK").expect("written");
    drop(zone.history());
    zone.assert_cleared();
    assert_eq!(zone.packs(".pack"), 1);

    // Died when both had their names.
    fs::write(zone.work(&note), "").expect("written");
    drop(zone.history());
    zone.assert_cleared();
    assert_eq!(zone.packs(".pack"), 1);
    zone.assert_sound();

    // Died between the names: nothing names its objects yet, and what the commit brought is there.
    fs::write(zone.work(&note), "").expect("written");
    let beside = index.file_name().expect("a name").to_str().expect("text");
    fs::rename(&index, zone.work(beside)).expect("renamed");
    fs::remove_dir_all(zone.git_dir().join("refs")).expect("removed");
    fs::remove_file(zone.git_dir().join("fileshed/head")).expect("removed");
    zone.commit(&["a"]).expect("a commit");
    assert_eq!(zone.packs(".pack"), 1);
    assert_eq!(zone.packs(".idx"), 1);
    zone.assert_cleared();
    zone.assert_sound();
}

#[test]
fn packs_of_many_commits_become_one() {
    const COMMITS: usize = 34;
    let zone = Zone::new();
    for commit in 0..COMMITS {
        for number in 0..MANY {
            zone.write(
                &format!("{commit}/{number}"),
                format!("{commit} {number}\n"),
            );
        }
        zone.commit(&[&commit.to_string()]).expect("a commit");
    }
    assert_eq!(zone.packs(".idx"), COMMITS);
    assert!(zone.pack(ALL) > 0);
    assert_eq!(zone.packs(".idx"), 1);
    zone.assert_sound();
    assert_eq!(zone.head_files(), zone.disk_files());
}
