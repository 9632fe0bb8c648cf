//! Kills at random moments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use crate::load::Worker;
use fileshed_test_support::moment::{Moment, looks_at_histories};
use fileshed_test_support::on_disk::{Repository, assert_same, staged, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, Setup, pause, wait_until};

const USERS: [&str; 3] = ["ada", "grace", "linus"];

/// Answers that a round has at most before the kill is waited for.
const ANSWERS: u64 = 60;

/// The server, whose data tells whose is whose.
pub(crate) fn setup(durability: &str) -> Setup {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .env("FILESHED_DURABILITY", durability)
}

fn home(server: &Server, user: &str) -> PathBuf {
    server.data().join("users").join(user)
}

/// Objects after which a server packs that does it all the time.
const PACK_OBJECTS: &str = "8";

#[test]
fn a_killed_server_loses_nothing_that_it_acknowledged() {
    kill_and_compare("relaxed", setup("relaxed"));
}

#[test]
fn a_strict_server_loses_nothing_either() {
    kill_and_compare("strict", setup("strict"));
}

#[test]
fn a_server_that_packs_histories_all_the_time_loses_nothing_either() {
    let setup = setup("relaxed").env("FILESHED_HISTORY_PACK_OBJECTS", PACK_OBJECTS);
    let server = kill_and_compare("relaxed", setup);
    // The kill may have come before the first of them was packed.
    let mut wire = Wire::open(&server, USERS[0], "other");
    wait_until("a history is packed", || {
        let call = json!({"zone": "documents", "path": "last", "content": "x", "position": "end"});
        wire.data("shed_patch_text", &call);
        packs(&home(&server, USERS[0]).join("Documents/repo.git")) > 0
    });
}

/// Gives the server at the end.
fn kill_and_compare(durability: &str, setup: Setup) -> Server {
    let mut rng = Rng::new(seed());
    let rounds = rounds();
    let mut workers: Vec<Worker> = USERS
        .into_iter()
        .flat_map(|user| ["storage", "documents"].map(|zone| (user, zone)))
        .map(|(user, zone)| Worker::new(user, zone, rng.split()))
        .collect();
    let mut server = setup.start();
    let (mut repairs, mut enough) = (0, 0);
    for round in 0..rounds {
        let moment = Moment::draw(&mut rng, ANSWERS);
        enough += moment.enough();
        load_and_kill(&mut server, &mut workers, &moment);
        server = server.again();
        if rng.below(3) == 0 {
            // And once more, while it repairs.
            touch_and_kill(&mut server, rng.below(40_000));
            server = server.again();
        }
        // All at once, as users come back.
        std::thread::scope(|scope| {
            for user in USERS {
                let server = &server;
                scope.spawn(move || {
                    Wire::open(server, user, "other").data("shed_stats", &json!({}));
                    assert_eq!(staged(&home(server, user)), Vec::<String>::new(), "{user}");
                });
            }
        });
        std::thread::scope(|scope| {
            for worker in &mut workers {
                let server = &server;
                scope.spawn(move || worker.settle(server, &home(server, worker.user)));
            }
        });
        std::thread::scope(|scope| {
            for user in USERS {
                let (server, workers) = (&server, &workers);
                scope.spawn(move || {
                    compare(server, user, workers, round);
                    if looks_at_histories(round, rounds) {
                        check_history(&home(server, user), user);
                    }
                });
            }
        });
        let log = server.log();
        repairs += log.matches("repaired a zone").count();
        assert!(!log.contains("access_auth.sqlite-wal"), "{log}");
    }
    let sum = |count: fn(&Worker) -> u64| workers.iter().map(count).sum::<u64>();
    let (acknowledged, torn) = (sum(|it| it.acknowledged), sum(|it| it.torn));
    println!(
        "{durability}: {rounds} kills, {acknowledged} acknowledged calls, {repairs} zones \
         repaired, {torn} files that commands left half written"
    );
    assert!(acknowledged >= enough, "every round had its answers");
    assert!(repairs > 0 || rounds < 10, "calls were interrupted");
    for user in USERS {
        packs(&home(&server, user).join("Documents/repo.git"));
    }
    server
}

/// Packs that can be found, each of which is whole: no index without one.
fn packs(repository: &Path) -> usize {
    let Ok(listing) = std::fs::read_dir(repository.join("objects/pack")) else {
        return 0;
    };
    let files = listing.map(|item| item.unwrap().path());
    let indexes = files.filter(|file| file.extension().is_some_and(|end| end == "idx"));
    indexes
        .inspect(|index| assert!(index.with_extension("pack").exists(), "{}", index.display()))
        .count()
}

fn load_and_kill(server: &mut Server, workers: &mut [Worker], moment: &Moment) {
    let address = server.address().to_owned();
    std::thread::scope(|scope| {
        for worker in workers {
            let address = &address;
            scope.spawn(move || worker.work(address, moment));
        }
        moment.wait();
        server.kill();
    });
}

/// The first access repairs; the server dies in it, or shortly before or after.
fn touch_and_kill(server: &mut Server, microseconds: u64) {
    let address = server.address().to_owned();
    std::thread::scope(|scope| {
        for user in USERS {
            let address = &address;
            scope.spawn(move || {
                let mut wire = Wire::connect(address, user, "other").ok()?;
                wire.call("shed_stats", &json!({})).ok()
            });
        }
        pause(microseconds);
        server.kill();
    });
}

/// Compares ledger, history and disk of one user.
fn compare(server: &Server, user: &str, workers: &[Worker], round: u64) {
    let home = home(server, user);
    let mut wire = Wire::open(server, user, "other");
    let stats: Value = wire.data("shed_stats", &json!({}));
    let mine = workers.iter().filter(|worker| worker.user == user);
    let zones: BTreeMap<&str, &Worker> = mine.map(|worker| (worker.zone, worker)).collect();
    for (zone, worker) in &zones {
        let found = tree(&worker.directory(&home));
        assert_same(&found, worker.files(), &format!("{user} {zone}"));
        let counted = |name: &str| stats[zone][name].as_u64().unwrap();
        let registry = (counted("size_bytes"), counted("files"));
        assert_eq!(registry, totals(&found), "round {round}: {user} {zone}");
    }
    let request = json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]});
    let answer = wire.data("shed_exec", &request);
    assert_eq!(answer["stdout"], "", "round {round}: {user}");
}

fn check_history(home: &Path, user: &str) {
    if !home.join("Documents/repo.git/refs/heads/main").exists() {
        return;
    }
    // This check holds no lock of the server, and git does not expect packs to vanish while it runs.
    let work = home.join("Documents/repo.git/fileshed/packing");
    let held = work.exists().then(|| std::fs::File::open(work).unwrap());
    if let Some(held) = &held {
        held.lock().unwrap();
    }
    let repository = Repository::of(home);
    repository.assert_sound();
    let authors = repository.text(&["log", "--format=%an <%ae>|%cn"]);
    let own = format!("{user} <{user}@localhost>|fileshed");
    assert!(authors.lines().all(|line| line == own), "{authors}");
}

#[test]
fn a_command_ends_with_its_server() {
    let mut server = setup("relaxed").start();
    let address = server.address().to_owned();
    // A duration that nobody else sleeps.
    let duration = format!("{}.25", 10_000 + std::process::id());
    std::thread::scope(|scope| {
        let (address, duration) = (&address, &duration);
        scope.spawn(move || {
            let mut wire = Wire::connect(address, "ada", "work").unwrap();
            let call = json!({"zone": "storage", "cmd": "sleep", "args": [duration]});
            wire.call("shed_exec", &call).unwrap_err()
        });
        wait_until("the command runs", || is_running(duration));
        server.kill();
        wait_until("the command ended", || !is_running(duration));
    });
}

fn is_running(argument: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.flatten().any(|process| {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        line.split(|byte| *byte == 0)
            .any(|word| word == argument.as_bytes())
    })
}

/// Callers end, also where the test fails: else the scope of their threads would wait for ever.
pub(crate) struct StopAtEnd<'a>(pub(crate) &'a AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}
