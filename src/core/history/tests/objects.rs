//! Objects and branches that are written here, as libgit2 and git read them.

use std::fs;

use git2::{ObjectType, Oid};

use super::{Zone, ana, moment, zone_path};
use crate::HistoryError;
use crate::damage::Remedy;
use crate::object;

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
    for size in [0, 1, 100, 4070, 4073, 4074, 4075, 4096, 8192, 70_000] {
        for content in [vec![b'x'; size], noise(size), vec![0xff; size]] {
            let id = object::write(repository, ObjectType::Blob, &content).expect("written");
            assert_eq!(
                id,
                Oid::hash_object(ObjectType::Blob, &content).expect("named")
            );
            assert!(object::has_file(repository, id));
            let blob = object::blob(repository, id).expect("whole");
            assert!(blob.content() == content, "{size}");
            object::write(repository, ObjectType::Blob, &content).expect("there");
        }
    }
    assert_eq!(zone.git(&["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn an_object_that_is_not_whole_is_damage_until_it_is_written_again() {
    let zone = Zone::new();
    let history = zone.history();
    let repository = &history.repository;
    for content in [noise(100), noise(10_000)] {
        let id = object::write(repository, ObjectType::Blob, &content).expect("written");
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
            &longer,
        ] {
            fs::remove_file(&file).expect("removed");
            fs::write(&file, left).expect("written");
            let damaged = object::blob(repository, id);
            assert!(matches!(damaged, Err(HistoryError::Damaged { .. })));
            object::write(repository, ObjectType::Blob, &content).expect("anew");
            let blob = object::blob(repository, id).expect("read");
            assert!(blob.content() == content);
        }
    }
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
    let commit = || history.commit_paths(&paths, &[], "two", &ana(), moment());
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
        .commit_paths(&paths, &[], "two", &ana(), moment());
    let error = commit.expect_err("damaged");
    assert_eq!(error.remedy(), Remedy::Another);
}
