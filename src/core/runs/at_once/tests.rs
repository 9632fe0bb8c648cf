//! Tests of reads without blocking: which are answered, and which are left to the usual way.

#![expect(
    clippy::disallowed_methods,
    reason = "a test makes files, and is another process to the registry"
)]

use fileshed_types::Clock;
use std::fs;
use std::sync::Arc;

use rusqlite::Connection;
use tempfile::TempDir;

use crate::at_once;
use fileshed_changes::listing::DirectoryListing;
use fileshed_changes::repair::Repairs;
use fileshed_types::{Caller, Chat, Scope, Settings, UserId, ZoneName, ZonePath};
use fileshed_zones::store::Store;
use fileshed_zones::view::View;

struct Scene {
    base: TempDir,
    store: Arc<Store>,
    caller: Caller,
}

impl Scene {
    /// A store in which `ada` has a file in her storage and one in her documents.
    fn new() -> Self {
        let base = TempDir::new().expect("a directory");
        let mut settings = Settings::new(base.path());
        settings.namespace = fileshed_types::settings::NamespaceStyle::Plain;
        let store = Arc::new(Repairs::open(settings, Clock::SYSTEM).expect("opens"));
        let mut caller = Caller::known(UserId::parse("ada").expect("an id"), Chat::default());
        caller.name = Some("Ada".to_owned());
        let scene = Self {
            base,
            store,
            caller,
        };
        for (zone, directory) in [("storage", "Storage"), ("documents", "Documents")] {
            scene.make_ready(zone);
            let data = scene.base.path().join("users/ada").join(directory);
            fs::write(data.join("data/a.txt"), directory).expect("written");
            assert!(scene.data(zone).is_file());
        }
        scene
    }

    fn data(&self, zone: &str) -> std::path::PathBuf {
        let zone = ZoneName::parse(zone).expect("a zone");
        let directory = zone.directory().expect("a directory");
        self.base
            .path()
            .join(format!("users/ada/{directory}/data/a.txt"))
    }

    fn make_ready(&self, zone: &str) {
        self.store.zone(&self.caller, zone, None).expect("a zone");
    }

    fn read(&self, zone: &str) -> Option<Vec<u8>> {
        let zone = ZoneName::parse(zone).expect("a zone");
        let path = ZonePath::parse("path", "a.txt").expect("a path");
        let file = at_once::file_at_once(&self.store, &self.caller, zone, &path);
        file.map(|file| file.bytes)
    }

    /// The registry as another process has it.
    fn registry(&self) -> Connection {
        Connection::open(self.base.path().join(fileshed_registry::FILE_NAME)).expect("opens")
    }

    fn change(&self, statement: &str) {
        let changed = self.registry().execute(statement, []);
        assert!(changed.expect("changed") > 0, "{statement}");
    }
}

#[test]
fn who_is_known_reads_without_a_thread() {
    let scene = Scene::new();
    assert_eq!(scene.read("storage").as_deref(), Some(&b"Storage"[..]));
    assert_eq!(scene.read("documents").as_deref(), Some(&b"Documents"[..]));
    let view = View {
        store: &scene.store,
        caller: &scene.caller,
    };
    for text in ["/storage/a.txt", "a.txt", "~/x/../a.txt"] {
        let (at, file) = at_once::view_file_at_once(&view, text).expect(text);
        assert_eq!(at.as_str(), "/storage/a.txt");
        assert_eq!(file.bytes, b"Storage");
    }
    view.set_cwd("directory", "/documents").expect("set");
    let (at, _) = at_once::view_file_at_once(&view, "a.txt").expect("read");
    assert_eq!(at.as_str(), "/documents/a.txt");
    for text in [
        "/",
        "/storage",
        "/uploads/a.txt",
        "/groups/g/a.txt",
        "/etc/passwd",
        "b.txt",
    ] {
        assert!(at_once::view_file_at_once(&view, text).is_none(), "{text}");
    }
}

#[test]
fn who_is_known_lists_without_a_thread() {
    let mut scene = Scene::new();
    fs::create_dir(scene.base.path().join("users/ada/Documents/data/below")).expect("made");
    for scope in [Scope::Write, Scope::Read] {
        scene.caller.scope = scope;
        let view = View {
            store: &scene.store,
            caller: &scene.caller,
        };
        let mut listed = Vec::new();
        for (text, zone) in [
            ("/storage", "storage"),
            (".", "storage"),
            ("/documents", "documents"),
        ] {
            let _looked_through = at_once::view_directory_at_once(&view, text);
            let (at, listing) = at_once::view_directory_at_once(&view, text).expect(text);
            assert_eq!(at.as_str(), format!("/{zone}"));
            assert_eq!(listing.is_writable, scope == Scope::Write);
            let opened = scene.store.zone(&scene.caller, zone, None).expect("a zone");
            let walked = DirectoryListing::of(&opened, &ZonePath::root()).expect("listed");
            assert_eq!(said(&listing), said(&walked));
            listed.push(listing.entries.len());
        }
        assert_eq!(listed, [1, 1, 2], "without git's own");
    }
    let view = View {
        store: &scene.store,
        caller: &scene.caller,
    };
    for text in ["/", "/uploads", "/groups", "/groups/g", "a.txt", "/etc"] {
        for _ in 0..2 {
            assert!(
                at_once::view_directory_at_once(&view, text).is_none(),
                "{text}"
            );
        }
    }
    scene.change("UPDATE users SET suspended_at = 1 WHERE id = 'ada'");
    assert!(
        at_once::view_directory_at_once(&view, "/storage").is_none(),
        "suspended"
    );
}

/// Path, size, writability and presence of an owner of each entry of a listing.
fn said(listing: &DirectoryListing) -> Vec<(String, u64, bool, bool)> {
    let entries = listing.entries.iter();
    entries
        .map(|entry| {
            let found = &entry.found;
            let path = found.path.as_str().to_owned();
            let has_owner = entry.owner.is_some();
            (path, found.size(), entry.is_writable, has_owner)
        })
        .collect()
}

#[test]
fn nobody_else_is_answered() {
    let scene = Scene::new();
    let other = Caller::known(UserId::parse("bob").expect("an id"), Chat::default());
    let path = ZonePath::parse("path", "../ada/Storage/data/a.txt");
    assert!(path.is_err(), "no path leads out of a zone");
    let path = ZonePath::parse("path", "a.txt").expect("a path");
    let read = |caller: &Caller| {
        let file = at_once::file_at_once(&scene.store, caller, ZoneName::Storage, &path);
        file.is_some()
    };
    assert!(!read(&other), "of bob nothing is known");
    scene.store.zone(&other, "storage", None).expect("a zone");
    assert!(!read(&other), "bob has no such file");
    assert!(!read(&Caller::shared(Chat::default())));
    let renamed = Caller {
        name: Some("Ada B.".to_owned()),
        ..scene.caller.clone()
    };
    assert!(!read(&renamed), "the name is to be noted first");
    scene.store.zone(&renamed, "storage", None).expect("a zone");
    assert!(read(&renamed));
}

#[test]
fn what_another_process_changes_holds_at_once() {
    let scene = Scene::new();
    assert!(scene.read("storage").is_some());
    scene.change("UPDATE users SET suspended_at = 1 WHERE id = 'ada'");
    assert!(scene.read("storage").is_none(), "suspended");
    scene.change("UPDATE users SET suspended_at = NULL WHERE id = 'ada'");
    assert!(scene.read("storage").is_some());
    scene.change(
        "INSERT INTO intents (home, zone, instance, operation, author_name, author_email)
         VALUES ('users/ada', 'storage', '', 'test', '', '')",
    );
    assert!(scene.read("storage").is_none(), "to be repaired");
    scene.make_ready("storage");
    assert!(scene.read("storage").is_some(), "repaired");
    scene.change("DELETE FROM usage WHERE home = 'users/ada'");
    assert!(scene.read("storage").is_none(), "to be measured");
    scene.make_ready("storage");
    assert!(scene.read("storage").is_some());
}

#[test]
fn a_read_waits_for_nobody_who_writes() {
    let scene = Scene::new();
    let other = scene.registry();
    other.execute_batch("BEGIN IMMEDIATE").expect("begun");
    assert!(scene.read("storage").is_some(), "a transaction is open");
    other.execute_batch("ROLLBACK").expect("ended");
    let zone = scene.store.zone(&scene.caller, "storage", None);
    let zone = zone.expect("a zone");
    let _writer = fileshed_changes::writer(&zone, "test").expect("the write lock");
    assert!(scene.read("storage").is_some(), "somebody has the lock");
}
