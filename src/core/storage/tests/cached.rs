//! Files that are read, and directories that are listed, without waiting.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use rustix::fs::{Mode, mkfifoat};

use fileshed_types::ZonePath;

use super::Scene;
use crate::{CachedReader, Stamp, WalkEntry};

#[test]
fn a_small_file_in_memory_is_read_whole() {
    let scene = Scene::new();
    fs::create_dir_all(scene.at("notes/deep")).expect("made");
    for (name, content) in [("a.txt", "first"), ("deep/b.txt", "second"), ("empty", "")] {
        fs::write(scene.at("notes").join(name), content).expect("written");
        let reader = CachedReader::new(&scene.data).expect("opens");
        let path = format!("notes/{name}");
        // Opening the file brings its names to memory.
        let on_disk = fs::File::open(scene.at(&path)).expect("there");
        let read = reader.read(&path, 6).expect("read");
        assert_eq!(read.bytes, content.as_bytes());
        assert_eq!(read.stamp, Stamp::of_file(&on_disk).expect("looked at"));
    }
    let reader = CachedReader::new(&scene.data).expect("opens");
    assert!(reader.read("notes/deep/b.txt", 5).is_none(), "too large");
    fs::write(scene.at("notes/a.txt"), "changed").expect("written");
    let read = reader.read("notes/a.txt", 100).expect("read");
    assert_eq!(read.bytes, b"changed");
}

#[test]
fn whatever_is_not_plain_is_left_to_who_may_block() {
    let scene = Scene::new();
    let outside = scene.base.path().join("secret");
    fs::write(&outside, "secret").expect("written");
    fs::write(scene.at("file"), "file").expect("written");
    fs::create_dir(scene.at("directory")).expect("made");
    symlink("file", scene.at("link")).expect("made");
    symlink("directory", scene.at("way")).expect("made");
    symlink(&outside, scene.at("out")).expect("made");
    fs::write(scene.at("directory/file"), "file").expect("written");
    let _socket = UnixListener::bind(scene.at("socket")).expect("bound");
    mkfifoat(scene.data.handle(), "pipe", Mode::RWXU).expect("made");
    let reader = CachedReader::new(&scene.data).expect("opens");
    for path in [
        "link",
        "out",
        "way/file",
        "directory",
        "socket",
        "pipe",
        "missing",
        "file/below",
        "../secret",
        "/etc/hostname",
        "",
    ] {
        assert!(reader.read(path, 1000).is_none(), "{path}");
    }
    let absolute = outside.to_str().expect("text");
    assert!(reader.read(absolute, 1000).is_none());
    assert_eq!(reader.read("file", 1000).expect("read").bytes, b"file");
}

#[test]
fn a_small_directory_is_listed_when_it_was_looked_through_before() {
    let scene = Scene::new();
    fs::create_dir_all(scene.at("notes/deep")).expect("made");
    fs::write(scene.at("notes/a.txt"), "first").expect("written");
    fs::write(scene.at("notes").join(OsStr::from_bytes(b"\xff")), "").expect("written");
    symlink("a.txt", scene.at("notes/link")).expect("made");
    let reader = CachedReader::new(&scene.data).expect("opens");
    let path = ZonePath::parse("path", "notes").expect("a path");
    let list = || reader.list("notes", &path);
    assert!(list().is_none(), "nobody looked through it");
    let of = |found: Vec<WalkEntry>| {
        let mut found: Vec<_> = found
            .iter()
            .map(|found| (found.path.clone(), found.kind, found.stamp()))
            .collect();
        found.sort_by(|one, other| one.0.cmp(&other.0));
        found
    };
    let walked = of(scene.data.list(&path).expect("listed"));
    assert_eq!(walked.len(), 3, "without what is not text");
    assert_eq!(of(list().expect("listed")), walked);
    fs::write(scene.at("notes/b.txt"), "second").expect("written");
    fs::remove_dir(scene.at("notes/deep")).expect("removed");
    let walked = of(scene.data.list(&path).expect("listed"));
    assert_eq!(of(list().expect("listed")), walked);
    for other in ["missing", "notes/a.txt", "notes/link", "../data", "/etc"] {
        for _ in 0..2 {
            assert!(reader.list(other, &path).is_none(), "{other}");
        }
    }
}

#[test]
fn a_large_directory_is_left_to_who_may_block() {
    let scene = Scene::new();
    let reader = CachedReader::new(&scene.data).expect("opens");
    let mut lists = 0;
    for number in 0..600 {
        fs::write(scene.at(&format!("file-{number:036}")), "").expect("written");
        if let Some(found) = reader.list(".", &ZonePath::root()) {
            assert_eq!(found.len(), number + 1);
            lists += 1;
        }
    }
    assert!((100..500).contains(&lists), "{lists}");
}
