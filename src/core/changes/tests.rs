//! Space to the byte, changes that undo themselves, and one writer at a time.

#![expect(
    clippy::disallowed_methods,
    reason = "tests look at the disk from outside"
)]

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags};
use tempfile::TempDir;

use super::change_request::ChangeRequest;
use super::cross_zone::{relocate, writers};
use super::open_ended::OpenEndedRequest;
use crate::repair::Repairs;
use crate::{lockedit, open_ended};
use fileshed_history::History;
use fileshed_rules::Growth;
use fileshed_storage::{Totals, Weight};
use fileshed_types::caller::Chat;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::timings::{milliseconds, minutes};
use fileshed_types::{Caller, Clock, Code, Error, Settings, ZonePath};
use fileshed_zones::store::Store;
use fileshed_zones::zone::Zone;

/// Longer than any wait for a write lock should take.
const PATIENCE: Duration = minutes(5);

struct Scene {
    base: TempDir,
    store: Store,
    caller: Caller,
}

impl Scene {
    /// A store where one user may have 1 MiB.
    fn new() -> Self {
        let base = TempDir::new().expect("a directory");
        let mut settings = Settings::new(base.path());
        settings.quota_per_user_mb = 1;
        Self {
            store: Repairs::open(settings, Clock::SYSTEM).expect("opens"),
            caller: Caller::shared(Chat::default()),
            base,
        }
    }

    fn zone(&self, name: &str) -> Zone<'_> {
        self.store.zone(&self.caller, name, None).expect("a zone")
    }

    fn used(&self, zone: &str) -> Totals {
        let (usage, _) = self.store.usage(&self.caller).expect("known");
        let found = usage.into_iter().find(|usage| usage.zone == zone);
        found.expect("measured").totals
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base.path().join("shared").join(path)
    }

    /// Returns the names in the staging directory, without the files of turns.
    fn staged(&self) -> Vec<String> {
        let listing = fs::read_dir(self.at("staging")).expect("listed");
        let names = listing.map(|item| item.expect("an item").file_name());
        let names = names.map(|name| name.to_string_lossy().into_owned());
        names.filter(|name| name.contains('-')).collect()
    }

    /// Unfinished changes in the registry.
    fn intents(&self) -> i64 {
        let registry = self.base.path().join(fileshed_registry::FILE_NAME);
        rusqlite::Connection::open(registry)
            .and_then(|it| it.query_row("SELECT count(*) FROM intents", [], |row| row.get(0)))
            .expect("counted")
    }
}

fn path(text: &str) -> ZonePath {
    ZonePath::parse("path", text).expect("a path")
}

fn write(zone: &Zone<'_>, at: &str, content: &[u8]) -> Result<(), Error> {
    let writer = crate::writer(zone, "test")?;
    let staged = writer.staging().write(content)?;
    let target = zone.target("path", &path(at))?;
    writer.write(staged, target, None, "write")?;
    Ok(())
}

#[test]
fn the_quota_holds_to_the_byte_over_all_zones() {
    let scene = Scene::new();
    let (storage, documents) = (scene.zone("storage"), scene.zone("documents"));
    let half = vec![b'x'; (MEBIBYTE / 2) as usize];
    write(&storage, "a", &half).expect("fits");
    write(&documents, "b", &half).expect("fits exactly");
    for (zone, name) in [(&storage, "c"), (&documents, "c")] {
        let error = write(zone, name, b"1").expect_err("one byte too much");
        assert_eq!(error.code(), Code::QuotaExceeded);
        assert_eq!(error.details()["used_bytes"], MEBIBYTE);
        assert_eq!(error.details()["needed_bytes"], 1);
    }
    // The refused writes left no trace: no file, no space, no intent.
    assert!(!scene.at("Storage/data/c").exists());
    assert_eq!(scene.used("storage").files, 1);
    assert_eq!(scene.intents(), 0);
    // Writes that take no additional space still succeed.
    write(&storage, "empty", b"").expect("takes nothing");
    write(&storage, "a", &half).expect("as large as before");
    write(&storage, "a", &half[1..]).expect("smaller");
    write(&documents, "c", b"1").expect("the byte that is free now");
    write(&documents, "d", b"1").expect_err("full again");
    assert_eq!(scene.used("storage").bytes, MEBIBYTE / 2 - 1);
    assert_eq!(scene.used("documents").files, 2);
}

#[test]
fn writers_at_once_do_not_pass_the_quota() {
    let scene = Scene::new();
    let piece = vec![b'x'; (MEBIBYTE / 10) as usize];
    let fitted = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (scene, piece, fitted) = (&scene, &piece, &fitted);
            scope.spawn(move || {
                let zone = scene.zone(["storage", "documents"][thread % 2]);
                for number in 0..5 {
                    match write(&zone, &format!("{thread}-{number}"), piece) {
                        Ok(()) => {
                            fitted.fetch_add(1, Ordering::Relaxed);
                        }
                        Err(error) => assert_eq!(error.code(), Code::QuotaExceeded),
                    }
                }
            });
        }
    });
    assert_eq!(fitted.into_inner(), 10);
}

#[test]
fn a_permit_that_is_not_used_gives_its_space_back() {
    let scene = Scene::new();
    let zone = scene.zone("storage");
    let target = zone.target("path", &path("a")).expect("free");
    let writer = crate::writer(&zone, "test").expect("a turn");
    let permit = writer
        .guard(ChangeRequest::install(
            &target,
            &Weight::of_file(1000),
            Totals::default(),
        ))
        .expect("fits");
    assert_eq!(
        scene.used("storage").bytes,
        1000,
        "entered before it happens"
    );
    assert_eq!(scene.intents(), 1);
    drop(permit);
    assert_eq!(scene.used("storage"), Totals::default());
    assert_eq!(scene.intents(), 0);
}

#[test]
fn a_change_that_is_not_committed_undoes_itself() {
    let scene = Scene::new();
    let zone = scene.zone("storage");
    write(&zone, "a", b"old").expect("written");
    let before = scene.used("storage");

    let writer = crate::writer(&zone, "test").expect("a turn");
    let staged = writer.staging().write(b"newer").expect("staged");
    let target = zone.target("path", &path("a")).expect("there");
    let permit = writer
        .guard(ChangeRequest::install(
            &target,
            &Weight::of_file(5),
            Totals::default(),
        ))
        .expect("fits");
    let change = permit.install(staged, target).expect("installed");
    assert_eq!(
        fs::read(scene.at("Storage/data/a")).expect("read"),
        b"newer"
    );
    drop(change);
    assert_eq!(fs::read(scene.at("Storage/data/a")).expect("read"), b"old");

    let writer = crate::writer(&zone, "test").expect("a turn");
    let entry = zone.entry_itself(&path("a")).expect("there");
    let totals = zone.totals(&entry).expect("counted");
    let permit = writer
        .guard(ChangeRequest::remove(&entry, totals))
        .expect("may go");
    let change = permit.remove(&entry).expect("removed");
    assert!(!scene.at("Storage/data/a").exists());
    drop(change);

    let writer = crate::writer(&zone, "test").expect("a turn");
    let vacancy = zone.vacancy("path", &path("b/c")).expect("free");
    let change = writer.rename(&entry, vacancy);
    assert!(scene.at("Storage/data/b/c").exists());
    drop(change.expect("renamed"));

    assert_eq!(fs::read(scene.at("Storage/data/a")).expect("read"), b"old");
    assert!(!scene.at("Storage/data/b").exists());
    assert_eq!(scene.used("storage"), before);
    assert_eq!(scene.intents(), 0);
}

#[test]
fn a_lock_is_in_everybodys_way() {
    let scene = Scene::new();
    let zone = scene.zone("storage");
    write(&zone, "d/a", b"old").expect("written");
    lockedit::open(&zone, &path("d/a")).expect("opened");
    let error = write(&zone, "d/a", b"new").expect_err("locked");
    assert_eq!(error.code(), Code::FileLocked);
    // The directory above may neither go nor move.
    let entry = zone.entry_itself(&path("d")).expect("there");
    let writer = crate::writer(&zone, "test").expect("a turn");
    let error = writer.guard(ChangeRequest::remove(&entry, Totals::default()));
    assert_eq!(error.expect_err("locked").code(), Code::FileLocked);
    let vacancy = zone.vacancy("path", &path("e")).expect("free");
    let writer = crate::writer(&zone, "test").expect("a turn");
    let error = writer.guard(ChangeRequest::rename(&entry, &vacancy));
    assert_eq!(error.expect_err("locked").code(), Code::FileLocked);
    write(&zone, "d/ab", b"beside").expect("a name that only begins alike");
    assert_eq!(scene.intents(), 0);
}

#[test]
fn one_turn_at_a_time() {
    let scene = Scene::new();
    let inside = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let zone = scene.zone("storage");
                for _ in 0..50 {
                    let write_lock = crate::hold(&zone).expect("a turn");
                    assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0, "alone");
                    std::thread::yield_now();
                    inside.fetch_sub(1, Ordering::SeqCst);
                    drop(write_lock);
                }
            });
        }
    });
    // Another zone has another write lock.
    let (storage, documents) = (scene.zone("storage"), scene.zone("documents"));
    let _write_locks = (
        crate::hold(&storage).expect("one"),
        crate::hold(&documents).expect("two"),
    );
}

#[test]
fn a_turn_waits_for_another_process() {
    let scene = Scene::new();
    let zone = scene.zone("storage");
    drop(crate::hold(&zone).expect("makes the file"));
    // Another process is another open file: the lock belongs to it.
    let file = scene.at("staging/storage.lock");
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let other = rustix::fs::open(file, flags, Mode::empty()).expect("there");
    rustix::fs::flock(&other, FlockOperation::NonBlockingLockExclusive).expect("free");
    let released = AtomicBool::new(false);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        let (released, store) = (&released, &scene);
        scope.spawn(move || {
            let write_lock = crate::hold(&store.zone("storage")).map(|_| ());
            sender.send((released.load(Ordering::SeqCst), write_lock))
        });
        let early = Clock::SYSTEM.receive(&receiver, milliseconds(50));
        assert!(early.is_err(), "{early:?}");
        released.store(true, Ordering::SeqCst);
        drop(other);
        let (was_released, write_lock) =
            Clock::SYSTEM.receive(&receiver, PATIENCE).expect("in time");
        write_lock.expect("a turn");
        assert!(was_released);
    });
}

#[test]
fn directories_arrive_with_their_space_and_one_commit() {
    let scene = Scene::new();
    for name in ["storage", "documents"] {
        let zone = scene.zone(name);
        let install = |files: &[&str], keep: bool| {
            let writer = crate::writer(&zone, "test")?;
            let staged = writer.staging().directory()?;
            for file in files {
                let mut file = staged.create_file(&path(file), false)?;
                std::io::Write::write_all(&mut file, b"12345").expect("written");
            }
            let change = if let Ok(there) = zone.data.entry(&path("d/e")) {
                let merge = staged.merge_into(&zone.data, &there)?;
                writer.merge(merge, Totals::default())?
            } else {
                let target = zone.target("path", &path("d/e"))?;
                writer.install(staged, target)?
            };
            if keep {
                change.commit(None, "Add")?;
            }
            Ok::<(), Error>(())
        };
        for (files, keep, expected) in [
            (&["a", "b/c"], false, 0),
            (&["a", "b/c"], true, 2),
            (&["f", "b/g"], false, 2),
            (&["f", "b/g"], true, 4),
        ] {
            install(files, keep).expect("fits");
            let totals = Totals {
                bytes: expected * 5,
                files: expected,
            };
            assert_eq!(scene.used(name), totals, "{name} {files:?}");
            assert_eq!(
                zone.store
                    .measure(&zone.tenant, zone.name)
                    .expect("measured"),
                totals,
                "{name} {files:?}"
            );
        }
        let error = install(&["a", "n"], true).expect_err("in the way");
        assert_eq!(error.code(), Code::FileExists);
        assert_eq!(error.details()["paths"], serde_json::json!(["d/e/a"]));
        assert_eq!(scene.used(name).files, 4);
        lockedit::open(&zone, &path("d/e/a")).expect("opened");
        install(&["o"], true).expect("a lock beside is not in the way");
        assert_eq!(scene.intents(), 0);
    }
    let documents = scene.zone("documents");
    let found = documents.history(History::find).expect("compared");
    assert_eq!(found.changes(), Vec::new(), "all is committed");
    assert_eq!(scene.staged(), Vec::<String>::new());
}

#[test]
fn the_largest_file_of_a_directory_counts() {
    let base = TempDir::new().expect("a directory");
    let mut settings = Settings::new(base.path());
    settings.max_file_size_mb = 1;
    let store = Repairs::open(settings, Clock::SYSTEM).expect("opens");
    let caller = Caller::shared(Chat::default());
    let zone = store.zone(&caller, "storage", None).expect("a zone");
    let writer = crate::writer(&zone, "test").expect("a turn");
    let staged = writer.staging().directory().expect("made");
    let file = staged.create_file(&path("b/large"), false).expect("made");
    file.set_len(MEBIBYTE + 1).expect("grown");
    let target = zone.target("path", &path("d")).expect("free");
    let weight = staged.weight().expect("weighed");
    let error = writer.guard(ChangeRequest::install(&target, &weight, Totals::default()));
    let error = error.expect_err("too large");
    assert_eq!(error.code(), Code::FileTooLarge);
    assert_eq!(error.details()["path"], "d/b/large");
}

#[test]
fn a_crossing_that_is_not_committed_undoes_itself_in_both_zones() {
    let scene = Scene::new();
    let (storage, documents) = (scene.zone("storage"), scene.zone("documents"));
    write(&documents, "d/a", b"from documents").expect("written");
    write(&storage, "old/b", b"from storage").expect("written");
    let before = (scene.used("storage"), scene.used("documents"));
    for (dest, keep) in [("x/new", false), ("old", false), ("old", true)] {
        let writers = writers(&documents, &storage, "test").expect("two turns");
        let entry = documents.entry_itself(&path("d")).expect("there");
        let weight = documents.data.weigh(&entry, |_| false).expect("weighed");
        let target = storage.destination("dest", &path(dest)).expect("a place");
        let replaced = target.entry().map(|entry| storage.totals(entry));
        let replaced = replaced.transpose().expect("counted").unwrap_or_default();
        let change = relocate(writers, &entry, &weight, (target, replaced)).expect("moved");
        assert_eq!(scene.intents(), 2);
        assert!(!scene.at("Documents/data/d").exists());
        assert!(scene.at("Storage/data").join(dest).join("a").exists());
        if keep {
            let commit = change.commit(None, "Move").expect("committed");
            assert!(commit.is_some(), "the removal is a commit");
            assert!(!scene.at("Storage/data/old/b").exists());
            assert_eq!(scene.used("documents"), Totals::default());
            assert_eq!(scene.used("storage"), before.1);
        } else {
            drop(change);
            assert!(scene.at("Documents/data/d/a").exists());
            assert!(scene.at("Storage/data/old/b").exists());
            assert!(!scene.at("Storage/data/x").exists());
            assert_eq!((scene.used("storage"), scene.used("documents")), before);
        }
        assert_eq!(scene.intents(), 0);
        assert_eq!(scene.staged(), Vec::<String>::new());
    }
}

#[test]
fn a_history_that_an_unfinished_command_moved_back_grows_again() {
    let scene = Scene::new();
    let zone = scene.zone("documents");
    let branch = scene.at("Documents/repo.git/refs/heads/main");
    let tip = || fs::read_to_string(&branch).expect("a branch");
    write(&zone, "a.md", b"one").expect("written");
    let first = tip();
    write(&zone, "a.md", b"two").expect("written");
    let last = zone.history(History::position).expect("known");
    let request = OpenEndedRequest {
        operation: "test",
        command: "git",
        growth: Growth::Either,
        message: "git reset".to_owned(),
    };
    let hold = crate::hold(&zone).expect("a turn");
    let permit = open_ended::begin(&zone, request, Some(hold)).expect("a permit");
    fs::write(&branch, &first).expect("moved back");
    fs::write(scene.at("Documents/data/a.md"), b"one").expect("written");
    drop(permit);
    let zone = scene.zone("documents");
    assert_ne!(tip(), first);
    let grown = zone.history(|history| history.has_only_grown(&last));
    assert!(grown.expect("known"));
    let now = zone.history(History::position).expect("known");
    assert_ne!(now.commit, last.commit, "what is on disk is a new commit");
}
