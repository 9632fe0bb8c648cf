use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use proptest::prelude::*;

use super::*;

fn begin(root: &Root) -> Watch {
    Watch::begin(root, |name| name == "noted").expect("a watch")
}

/// Fails unless the index, and the names of interest in it, are what a walk finds.
fn expect_true(watch: &Watch, root: &Root) {
    let (mut walked, mut noted) = (NameTable::default(), Vec::new());
    root.survey(&ZonePath::root(), |path, _, stat| {
        walked.add(path, stat);
        let path = String::from_utf8(path.to_vec()).expect("a path");
        if path.ends_with("noted") {
            noted.push((path, FileIdentity::of(stat)));
        }
    })
    .expect("walked");
    assert_eq!(watch.table.names(), walked.names());
    assert_eq!(watch.totals(), walked.totals);
    assert_eq!(watch.directories(), walked.directories);
    let directories = watch.directory_paths().count() as u64;
    assert_eq!(directories, walked.directories + 1);
    noted.sort();
    let known: Vec<_> = watch.noted().clone().into_iter().collect();
    assert_eq!(known, noted);
}

/// A change of a tree, by any program. It has no effect if it cannot be made.
fn act(place: &std::path::Path, act: u8, one: &str, other: &str, open: &mut Vec<fs::File>) {
    let (one, other) = (place.join(one), place.join(other));
    let _may_fail = match act {
        0 => fs::write(&one, other.as_os_str().as_encoded_bytes()),
        1 => fs::create_dir_all(&one),
        2 => fs::remove_file(&one),
        3 => fs::remove_dir_all(&one),
        4 => fs::rename(&one, &other),
        5 => fs::hard_link(&one, &other),
        6 => symlink("a", &one),
        7 => fs::set_permissions(&one, fs::Permissions::from_mode(0o700)),
        8 => fs::OpenOptions::new()
            .append(true)
            .open(&one)
            .and_then(|mut file| {
                let written = std::io::Write::write_all(&mut file, b"more");
                // It may stay open.
                open.push(file);
                written
            }),
        _ => {
            open.clear();
            Ok(())
        }
    };
}

fn name() -> impl Strategy<Value = &'static str> {
    prop_oneof![Just("a"), Just("b"), Just("noted")]
}

fn path() -> impl Strategy<Value = String> {
    prop::collection::vec(name(), 1..4).prop_map(|names| names.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_is_known_is_what_a_walk_finds(
        rounds in prop::collection::vec(
            prop::collection::vec((0_u8..10, path(), path()), 0..12),
            1..6,
        ),
    ) {
        let place = tempfile::tempdir().expect("a directory");
        let root = Root::open_ambient(place.path()).expect("opens");
        let mut watch = begin(&root);
        let mut open = Vec::new();
        for round in rounds {
            let before = watch.table.names();
            for (number, one, other) in &round {
                act(place.path(), *number, one, other, &mut open);
            }
            let changed = watch.refresh(&root).expect("known");
            expect_true(&watch, &root);
            for (path, state) in watch.table.names() {
                let same = before.get(&path) == Some(&state);
                let named = changed.keys().any(|one| is_at_or_below(path.as_bytes(), one));
                prop_assert!(same || named || state.1 == Kind::Directory, "{path} {changed:?}");
            }
            prop_assert!(watch.refresh(&root).expect("known").is_empty());
        }
    }
}

#[test]
fn nothing_happened_is_known() {
    let place = tempfile::tempdir().expect("a directory");
    fs::create_dir_all(place.path().join("a/b")).expect("made");
    fs::write(place.path().join("a/b/c"), "x").expect("written");
    let root = Root::open_ambient(place.path()).expect("opens");
    let mut watch = begin(&root);
    expect_true(&watch, &root);
    fs::read(place.path().join("a/b/c")).expect("read");
    assert!(watch.refresh(&root).expect("known").is_empty());
}

#[test]
fn a_file_that_grows_by_another_name_is_seen() {
    let place = tempfile::tempdir().expect("a directory");
    let at = |path: &str| place.path().join(path);
    for directory in ["one", "two"] {
        fs::create_dir(at(directory)).expect("made");
    }
    fs::write(at("one/file"), "x").expect("written");
    let root = Root::open_ambient(place.path()).expect("opens");
    let mut watch = begin(&root);
    fs::hard_link(at("one/file"), at("two/file")).expect("linked");
    watch.refresh(&root).expect("known");
    fs::write(at("two/file"), "longer").expect("written");
    watch.refresh(&root).expect("known");
    expect_true(&watch, &root);
}

#[test]
fn another_name_in_a_directory_that_came_is_told_once() {
    let place = tempfile::tempdir().expect("a directory");
    let at = |path: &str| place.path().join(path);
    fs::write(at("file"), "x").expect("written");
    let root = Root::open_ambient(place.path()).expect("opens");
    let mut watch = begin(&root);
    fs::create_dir(at("new")).expect("made");
    fs::hard_link(at("file"), at("new/other")).expect("linked");
    let changed = watch.refresh(&root).expect("known");
    let changed: Vec<_> = changed.keys().map(|path| &**path).collect();
    assert_eq!(changed, [&b"file"[..], b"new"]);
    assert!(watch.refresh(&root).expect("known").is_empty());
}

#[test]
fn more_than_the_kernel_tells_ends_it() {
    let place = tempfile::tempdir().expect("a directory");
    let root = Root::open_ambient(place.path()).expect("opens");
    let mut watch = begin(&root);
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").expect("a limit");
    let most: usize = most.trim().parse().expect("a number");
    for number in 0..=most / 2 {
        fs::write(place.path().join(format!("{}", number % 64)), "x").expect("written");
    }
    assert!(watch.refresh(&root).is_none());
}

#[test]
fn another_root_is_another_tree() {
    let place = tempfile::tempdir().expect("a directory");
    let one = Root::open_ambient(&place.path().join("one")).expect("opens");
    let two = Root::open_ambient(&place.path().join("two")).expect("opens");
    let mut watch = begin(&one);
    assert!(watch.refresh(&two).is_none());
}
