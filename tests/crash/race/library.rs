//! The core, used as a library: as fast as calls can be.

use std::path::PathBuf;

use fileshed_core::changes;
use fileshed_core::command::{self, CommandLine};
use fileshed_core::settings::NamespaceStyle;
use fileshed_core::storage::{Kind, WalkEntry};
use fileshed_core::{Caller, Core, Error, Runs, Settings, UserId, Zone, ZonePath};

use crate::race::field::{CANARY, Field, LARGE, NAME, assert_clean};
use crate::race::tally::Tally;
use fileshed_test_support::on_disk::Repository;

type Work = fn(&Runs, &Zone<'_>, &Tally, u64);

#[test]
fn links_lead_nowhere_in_storage() {
    race("storage", "Storage");
}

#[test]
fn links_lead_nowhere_in_documents() {
    race("documents", "Documents");
}

fn race(zone: &'static str, directory: &str) {
    let place = tempfile::tempdir().unwrap();
    let data = place.path().join("data");
    let mut settings = Settings::new(&data);
    settings.namespace = NamespaceStyle::Plain;
    settings.helper = PathBuf::from(env!("CARGO_BIN_EXE_fileshed"));
    settings.quota_per_user_mb = 10_000;
    let core = Core::open(settings).unwrap();
    let caller = Caller {
        user: Some(UserId::parse("ada").unwrap()),
        ..Caller::default()
    };
    let home = data.join("users/ada");
    core.store.zone(&caller, zone, None).unwrap();
    let places = [
        &*home.join(directory).join("data"),
        &data.join("users/grace").join(directory).join("data"),
        &place.path().join("outside"),
    ];
    let field = Field::new(places, &["read", "create", "replace", "list"]);
    let works: [Work; 4] = [read, write, survey, run];
    std::thread::scope(|scope| {
        let swapping = scope.spawn(|| field.swap());
        let threads: Vec<_> = works
            .into_iter()
            .map(|work| {
                let (field, core, caller) = (&field, &core, &caller);
                scope.spawn(move || {
                    let mut round = 0;
                    while field.goes_on() {
                        let zone = core.store.zone(caller, zone, None).unwrap();
                        work(&core.runs, &zone, &field.tally, round);
                        round += 1;
                    }
                })
            })
            .collect();
        for thread in threads {
            let joined = thread.join();
            field.end();
            joined.unwrap();
        }
        swapping.join().unwrap();
    });
    field.tally.assert_raced(zone);
    field.assert_untouched(&home);
    if zone == "documents" {
        let repository = Repository::of(&home);
        let history = repository.bytes(&["log", "-p", "--text", "--format=%B"]);
        // Links themselves are kept in the history, with the place that they name.
        assert!(!crate::race::field::contains(&history, CANARY));
        assert!(!crate::race::field::contains(&history, NAME));
    }
    // The registry is in order, too: no repair is pending, and the space is that of the files.
    run_one(
        &core.runs,
        &core.store.zone(&caller, zone, None).unwrap(),
        "touch",
        &["last"],
    )
    .unwrap();
    let (usage, _) = core.store.usage(&caller).unwrap();
    let usage = usage.iter().find(|usage| usage.zone == zone).unwrap();
    assert!(usage.totals.bytes < LARGE, "{usage:?}");
    let registry = rusqlite::Connection::open(data.join("access_auth.sqlite")).unwrap();
    let left: i64 = registry
        .query_row("SELECT count(*) FROM intents", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 0, "every change is settled");
}

fn path(text: &str) -> ZonePath {
    ZonePath::parse("path", text).unwrap()
}

fn read(_runs: &Runs, zone: &Zone<'_>, tally: &Tally, _round: u64) {
    for name in [
        "dir/inside.txt",
        "dir/sub/deep.txt",
        "other/inside.txt",
        "file",
    ] {
        let outcome = zone
            .entry(&path(name))
            .and_then(|entry| entry.content().map_err(Error::from));
        if let Some(content) = tally.count("read", outcome) {
            assert_clean(&content);
        }
        let outcome = zone.data.read(&path(name)).map(std::io::read_to_string);
        if let Some(content) = tally.count("open", outcome) {
            assert_clean(content.unwrap().as_bytes());
        }
    }
}

fn write(_runs: &Runs, zone: &Zone<'_>, tally: &Tally, round: u64) {
    let name = |number: u64| format!("dir/new/{}/file", number % 50);
    tally.count("create", put(zone, &name(round), b"made\n"));
    for victim in ["dir/victim.txt", "other/sub/deep.txt", "file"] {
        tally.count("replace", put(zone, victim, b"harmless again\n"));
    }
    let moved = format!("other/sub/moved-{}", round % 50);
    tally.count("rename", rename(zone, &name(round), &moved));
    tally.count("remove", remove(zone, &moved));
    if round.is_multiple_of(100) {
        // Files that were created but not moved.
        tally.count("remove", remove(zone, "dir/new"));
    }
}

fn put(zone: &Zone<'_>, name: &str, content: &[u8]) -> Result<(), Error> {
    let staged = zone.stage(content)?;
    let writer = changes::writer(zone, "race")?;
    let target = zone.target("path", &path(name))?;
    writer.write(staged, target, None, "put")?;
    Ok(())
}

fn rename(zone: &Zone<'_>, from: &str, to: &str) -> Result<(), Error> {
    let writer = changes::writer(zone, "race")?;
    let entry = zone.entry_itself(&path(from))?;
    let vacancy = zone.vacancy("path", &path(to))?;
    writer.rename(&entry, vacancy)?.commit(None, "rename")?;
    Ok(())
}

fn remove(zone: &Zone<'_>, name: &str) -> Result<(), Error> {
    let writer = changes::remover(zone, "race")?;
    let entry = zone.entry_itself(&path(name))?;
    writer.remove(&entry)?.commit(None, "remove")?;
    Ok(())
}

fn survey(_runs: &Runs, zone: &Zone<'_>, tally: &Tally, _round: u64) {
    for name in ["dir", "dir/sub", "other"] {
        let outcome = zone.data.list(&path(name));
        for found in tally.count("list", outcome).unwrap_or_default() {
            check(&found);
        }
    }
    let outcome = zone.data.walk(&ZonePath::root(), |found| {
        check(found);
        Ok(found.kind == Kind::Directory)
    });
    tally.count("walk", outcome);
    if let Some(totals) = tally.count("measure", zone.data.measure()) {
        assert!(totals.bytes < LARGE, "{totals:?}");
    }
}

fn check(found: &WalkEntry) {
    assert_ne!(found.path.name(), Some(NAME));
    assert!(found.size() < LARGE);
}

fn run(runs: &Runs, zone: &Zone<'_>, tally: &Tally, round: u64) {
    let (kind, command, arguments): (_, _, &[&str]) = match round % 4 {
        0 => (
            "cat",
            "cat",
            &["dir/inside.txt", "other/sub/deep.txt", "file"],
        ),
        1 => ("grep", "grep", &["-r", "CANARY", "."]),
        2 => ("cp", "cp", &["dir/inside.txt", "other/victim.txt"]),
        _ => ("ls", "ls", &["-R", "dir/", "other/"]),
    };
    if let Some(text) = tally.count(kind, run_one(runs, zone, command, arguments)) {
        assert_clean(text.as_bytes());
    }
}

/// Runs a command; returns its output, or its error output in failure.
fn run_one(
    runs: &Runs,
    zone: &Zone<'_>,
    command: &str,
    arguments: &[&str],
) -> Result<String, String> {
    let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
    let line = CommandLine {
        command,
        arguments: &arguments,
        max_output: Some(0),
        ..CommandLine::default()
    };
    let ran = command::run(runs, zone, &line).map_err(|error| error.message().to_string())?;
    assert_clean(ran.stderr.as_bytes());
    assert_clean(ran.stdout.as_bytes());
    if ran.status == 0 {
        Ok(ran.stdout)
    } else {
        Err(ran.stderr)
    }
}
