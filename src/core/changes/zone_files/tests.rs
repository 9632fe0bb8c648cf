//! The promises of a provider, and what outlives everything.

#![expect(
    clippy::disallowed_methods,
    reason = "what programs do to files is done from outside"
)]

use fileshed_types::Clock;
use std::path::PathBuf;

use proptest::prelude::*;
use rustix::io::Errno;
use tempfile::TempDir;

use super::ZoneFiles;
use crate::repair::Repairs;
use fileshed_files::{Provider as _, Write, conformance};
use fileshed_types::caller::Chat;
use fileshed_types::{Caller, Settings, ZonePath};
use fileshed_zones::store::Store;
use fileshed_zones::zone::Zone;

struct Scene {
    base: TempDir,
    store: Store,
    caller: Caller,
}

impl Scene {
    fn new() -> Self {
        let base = TempDir::new().expect("a directory");
        Self {
            store: Repairs::open(Settings::new(base.path()), Clock::SYSTEM).expect("opens"),
            caller: Caller::shared(Chat::default()),
            base,
        }
    }

    fn zone(&self) -> Zone<'_> {
        self.store
            .zone(&self.caller, "storage", None)
            .expect("a zone")
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base.path().join("shared/Storage/data").join(path)
    }
}

fn path(text: &str) -> ZonePath {
    ZonePath::parse("path", text).expect("a path")
}

#[test]
fn a_zone_keeps_every_promise() {
    let scene = Scene::new();
    let zone = scene.zone();
    conformance::keeps_every_promise(&ZoneFiles::new(&zone, "test"));
}

#[test]
fn a_zone_loses_no_update() {
    let scene = Scene::new();
    let zones = [scene.zone(), scene.zone(), scene.zone(), scene.zone()];
    let files = zones.each_ref().map(|zone| ZoneFiles::new(zone, "test"));
    conformance::loses_no_update(&[&files[0], &files[1], &files[2], &files[3]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn a_zone_agrees_with_memory(steps in conformance::steps(30)) {
        let scene = Scene::new();
        let zone = scene.zone();
        conformance::agrees_with_memory(&ZoneFiles::new(&zone, "test"), &steps);
    }
}

#[test]
fn metadata_outlives_renames_programs_and_restarts() {
    let mut scene = Scene::new();
    let typed = Write {
        mime_type: Some("text/x-notes".to_owned()),
        ..Write::default()
    };
    let made = {
        let zone = scene.zone();
        let files = ZoneFiles::new(&zone, "test");
        let made = files.write(&path("a/b.txt"), &mut &b"1"[..], &typed);
        made.expect("written").metadata
    };
    let same = |scene: &Scene, at: &str| {
        let zone = scene.zone();
        let files = ZoneFiles::new(&zone, "test");
        let found = files.stat(&path(at)).expect("found");
        assert_eq!(found.created_at, made.created_at, "{at}");
        assert_eq!(found.mime_type, made.mime_type, "{at}");
        let listed = files.list(&found.path.parent().expect("above"), None, 10);
        assert!(listed.expect("listed").entries.contains(&found), "{at}");
    };
    // A program renames it.
    std::fs::rename(scene.at("a/b.txt"), scene.at("c.txt")).expect("renamed");
    same(&scene, "c.txt");
    // A program writes it anew under its name, as `sed -i` does.
    std::fs::rename(scene.at("c.txt"), scene.at("a/b.txt")).expect("renamed");
    std::fs::write(scene.at("new"), "2").expect("written");
    std::fs::rename(scene.at("new"), scene.at("a/b.txt")).expect("renamed");
    same(&scene, "a/b.txt");
    // It moves with the directory above it, by an operation.
    {
        let zone = scene.zone();
        let files = ZoneFiles::new(&zone, "test");
        files.rename(&path("a"), &path("z/y")).expect("renamed");
    }
    same(&scene, "z/y/b.txt");
    // The server starts again.
    let Scene { base, store, .. } = scene;
    drop(store);
    scene = Scene {
        store: Repairs::open(Settings::new(base.path()), Clock::SYSTEM).expect("opens"),
        caller: Caller::shared(Chat::default()),
        base,
    };
    same(&scene, "z/y/b.txt");
    // No file lies beside it.
    let names = std::fs::read_dir(scene.at("z/y")).expect("listed");
    assert_eq!(names.count(), 1);
    // The registry forgets a removed file.
    {
        let zone = scene.zone();
        let files = ZoneFiles::new(&zone, "test");
        files.remove(&path("z")).expect("removed");
        std::fs::create_dir_all(scene.at("z/y")).expect("made");
        std::fs::write(scene.at("z/y/b.txt"), "3").expect("written");
        let found = files.stat(&path("z/y/b.txt")).expect("found");
        assert!(found.created_at > made.created_at);
        assert_eq!(found.mime_type, None);
    }
}

#[test]
fn what_writes_a_file_anew_keeps_when_it_came() {
    let scene = Scene::new();
    let zone = scene.zone();
    let files = ZoneFiles::new(&zone, "test");
    std::fs::write(scene.at("a"), "1").expect("written");
    let before = files.stat(&path("a")).expect("found");
    let write = files.write(&path("a"), &mut &b"2"[..], &Write::default());
    assert_eq!(
        write.expect("written").metadata.created_at,
        before.created_at
    );
    assert_ne!(
        files.stat(&path("a")).expect("found").version,
        before.version
    );
}

#[test]
fn where_a_file_keeps_nothing_the_registry_does() {
    let scene = Scene::new();
    let zone = scene.zone();
    let files = ZoneFiles::new(&zone, "test");
    let typed = Write {
        mime_type: Some("text/x-notes".to_owned()),
        ..Write::default()
    };
    let made = files.write(&path("a"), &mut &b"1"[..], &typed);
    let made = made.expect("written").metadata;
    // As on a file system that has no attributes, and under another name.
    for name in ["created_at", "mime_type", "write"] {
        let name = format!("user.fileshed.{name}");
        match rustix::fs::removexattr(scene.at("a"), &*name) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
            Err(error) => panic!("{error}"),
        }
    }
    for name in ["a", "b"] {
        if name == "b" {
            std::fs::rename(scene.at("a"), scene.at("b")).expect("renamed");
        }
        let found = files.stat(&path(name)).expect("found");
        let known = (&found.mime_type, found.created_at);
        assert_eq!(known, (&made.mime_type, made.created_at), "{name}");
    }
    // Another file with its name is another file, though it may get the same inode: it is born
    // later by the kernel's clock, which moves in steps.
    let tick = || {
        let file = tempfile::tempfile_in(scene.at("")).expect("a file");
        file.metadata()
            .and_then(|made| made.modified())
            .expect("a time")
    };
    let before = tick();
    while tick() == before {}
    std::fs::remove_file(scene.at("b")).expect("removed");
    std::fs::write(scene.at("c"), "3").expect("written");
    assert_eq!(files.stat(&path("c")).expect("found").mime_type, None);
}
