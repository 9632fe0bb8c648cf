//! Objects, trees and branches that are written here, as libgit2 and git read them.

use std::fs;

use git2::{ObjectType, Oid};
use proptest::prelude::*;

use super::{Zone, ana, moment, zone_path};
use crate::damage::Remedy;
use crate::directory::{Directory, Edit};
use crate::loose_objects::LooseObjects;
use crate::object;
use crate::{HistoryError, Prepared};

/// Bytes in no order.
fn noise(bytes: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    (0..bytes).map(|_| next()).collect()
}

#[test]
fn an_object_of_any_size_is_read_by_libgit2_and_here() {
    let zone = Zone::new();
    let history = zone.history();
    let repository = &history.repository;
    let mut objects = LooseObjects::new(repository).expect("begins");
    for size in [0, 1, 100, 4070, 4073, 4074, 4075, 4096, 8192, 70_000] {
        for content in [vec![b'x'; size], noise(size), vec![0xff; size]] {
            let id = objects.write(ObjectType::Blob, &content).expect("written");
            assert_eq!(
                id,
                Oid::hash_object(ObjectType::Blob, &content).expect("named")
            );
            assert!(object::has_file(repository, id));
            let blob = object::blob(repository, id).expect("whole");
            assert!(blob.content() == content, "{size}");
            assert!(objects.read(id, ObjectType::Blob).expect("read") == content);
            let damaged = objects.read(id, ObjectType::Tree);
            assert!(matches!(damaged, Err(HistoryError::Damaged { .. })));
            let written = objects.written();
            objects.write(ObjectType::Blob, &content).expect("there");
            assert_eq!(objects.written(), written);
        }
    }
    assert_eq!(zone.git(&["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn an_object_that_is_not_whole_is_damage_until_it_is_written_again() {
    let zone = Zone::new();
    let history = zone.history();
    let mut objects = LooseObjects::new(&history.repository).expect("begins");
    for content in [noise(100), noise(10_000)] {
        let id = objects.write(ObjectType::Blob, &content).expect("written");
        let file = object::file(&history.repository, id);
        let whole = fs::read(&file).expect("there");
        let mut flipped = whole.clone();
        flipped[60] ^= 1;
        let longer = [&*whole, b"x"].concat();
        for left in [
            &whole[..0],
            &whole[..50],
            &whole[..whole.len() - 1],
            &flipped,
        ] {
            fs::remove_file(&file).expect("removed");
            fs::write(&file, left).expect("written");
            let damaged = objects.read(id, ObjectType::Blob);
            assert!(matches!(damaged, Err(HistoryError::Damaged { .. })));
            objects.write(ObjectType::Blob, &content).expect("anew");
            assert!(objects.read(id, ObjectType::Blob).expect("read") == content);
        }
        fs::remove_file(&file).expect("removed");
        fs::write(&file, longer).expect("written");
        assert!(objects.read(id, ObjectType::Blob).expect("read") == content);
    }
}

#[test]
fn what_a_dead_process_left_of_an_object_is_in_nobodys_way() {
    let zone = Zone::new();
    let history = zone.history();
    let mut objects = LooseObjects::new(&history.repository).expect("begins");
    let id = Oid::hash_object(ObjectType::Blob, b"text").expect("named");
    let directory = object::file(&history.repository, id);
    let directory = directory.parent().expect("a directory");
    fs::create_dir(directory).expect("made");
    fs::write(directory.join("tmp_obj_new"), "half").expect("written");
    objects.write(ObjectType::Blob, b"text").expect("written");
    let names = fs::read_dir(directory).expect("there").count();
    assert_eq!(names, 1);
}

/// The commits of the branch, the latest first.
fn log(zone: &Zone) -> Vec<String> {
    let log = zone.git(&["log", "--format=%H"]);
    log.lines().map(str::to_owned).collect()
}

#[test]
fn a_branch_moves_wherever_it_is_kept() {
    let zone = Zone::new();
    for number in 0..4 {
        zone.write("a.md", format!("{number}"));
        let commit = zone.commit(&["a.md"]).expect("a commit");
        let log = log(&zone);
        assert_eq!((log.len(), &log[0]), (number + 1, &commit.to_string()));
        let id = commit.to_string();
        let commands: &[&[&str]] = match number {
            0 => &[&["pack-refs", "--all"]],
            1 => &[&["update-ref", "--no-deref", "HEAD", &id]],
            2 => &[
                &["branch", "other/branch"],
                &["symbolic-ref", "HEAD", "refs/heads/other/branch"],
            ],
            _ => &[],
        };
        for command in commands {
            zone.git(command);
        }
    }
    zone.check();
    let heads = zone.git(&["for-each-ref", "--format=%(refname)"]);
    assert_eq!(heads, "refs/heads/main\nrefs/heads/other/branch\n");
    assert!(!zone.git_dir().join("refs/heads/other/branch.lock").exists());
}

#[test]
fn a_branch_that_git_has_locked_is_not_moved() {
    let zone = Zone::new();
    zone.write("a.md", "one");
    zone.commit(&["a.md"]).expect("a commit");
    let before = log(&zone);
    let history = zone.history();
    let lock = zone.git_dir().join("refs/heads/main.lock");
    fs::write(&lock, "").expect("locked");
    zone.write("a.md", "two");
    let paths = [zone_path("a.md")];
    let commit = || history.commit_paths(&paths, &Prepared::default(), "two", &ana(), moment());
    assert!(matches!(commit(), Err(HistoryError::Git { .. })));
    assert!(lock.exists());
    assert_eq!(log(&zone), before);
    fs::remove_file(lock).expect("unlocked");
    commit().expect("commits");
    assert_eq!(log(&zone)[1..], before);
}

#[test]
fn packed_branches_that_nobody_can_read_are_damage() {
    let zone = Zone::new();
    zone.write("a.md", "one");
    zone.commit(&["a.md"]).expect("a commit");
    fs::write(zone.git_dir().join("packed-refs"), b"\0\xffgarbage\n").expect("written");
    zone.write("a.md", "two");
    let paths = [zone_path("a.md")];
    let commit = zone
        .history()
        .commit_paths(&paths, &Prepared::default(), "two", &ana(), moment());
    let error = commit.expect_err("damaged");
    assert_eq!(error.remedy(), Remedy::Another);
}

fn any_edit() -> impl Strategy<Value = (String, u8)> {
    ("[ab][.\\-0a]{0,2}", 0_u8..5)
}

proptest! {
    #[test]
    fn a_changed_tree_is_what_libgit2_makes_of_it(
        first in prop::collection::vec(any_edit(), 0..20),
        second in prop::collection::vec(any_edit(), 0..20),
    ) {
        let zone = Zone::new();
        let history = zone.history();
        let repository = &history.repository;
        let blob = repository.blob(b"x").expect("stored");
        let empty = repository.treebuilder(None).expect("begins").write().expect("written");
        let mut content = Vec::new();
        let mut builder = repository.treebuilder(None).expect("begins");
        for edits in [first, second] {
            // One edit of a name at a time, as commits have it.
            let mut unique = std::collections::BTreeMap::new();
            unique.extend(edits);
            for (name, kind) in &unique {
                let is_tree = builder.get(name).expect("asked").map(|old| old.kind() == Some(ObjectType::Tree));
                match (kind, is_tree) {
                    (0, Some(_)) | (1, Some(true)) => builder.remove(name).expect("removed"),
                    (2, _) => drop(builder.insert(name, empty, 0o040_000).expect("put")),
                    (3, _) => drop(builder.insert(name, blob, 0o100_644).expect("put")),
                    (4, _) => drop(builder.insert(name, blob, 0o100_755).expect("put")),
                    _ => {}
                }
            }
            let edits = unique.into_iter().map(|(name, kind)| (name, match kind {
                0 => Edit::Remove,
                1 => Edit::Directory(None),
                2 => Edit::Directory(Some(empty)),
                3 => Edit::Put(blob, 0o100_644),
                _ => Edit::Put(blob, 0o100_755),
            }));
            content = Directory::read(&content).expect("whole").edited(edits.collect());
            let expected = builder.write().expect("written");
            prop_assert_eq!(Oid::hash_object(ObjectType::Tree, &content).expect("named"), expected);
        }
    }
}
