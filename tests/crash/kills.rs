//! Kills at random moments.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::load::Worker;
use crate::outside::{Repository, assert_same, staged, totals, tree};
use crate::rng::Rng;
use crate::support::{Server, Setup};
use crate::wire::Wire;

const USERS: [&str; 3] = ["ada", "grace", "linus"];

/// Rounds of load, kill, start and comparison, unless `FILESHED_TEST_ROUNDS` says otherwise.
const ROUNDS: u64 = 40;

/// Longest time from the first call to the kill.
const LONGEST: u64 = 350;

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

pub(crate) fn rounds() -> u64 {
    number("FILESHED_TEST_ROUNDS").unwrap_or(ROUNDS)
}

pub(crate) fn seed() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let seed = number("FILESHED_TEST_SEED").unwrap_or(now.as_secs());
    println!("FILESHED_TEST_SEED={seed} repeats the calls and the moments");
    seed
}

/// The server, whose data tells whose is whose.
pub(crate) fn setup() -> Setup {
    Server::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
}

fn home(server: &Server, user: &str) -> PathBuf {
    server.data().join("users").join(user)
}

#[test]
fn a_killed_server_loses_nothing_that_it_acknowledged() {
    let mut rng = Rng::new(seed());
    let rounds = rounds();
    let mut workers: Vec<Worker> = USERS
        .into_iter()
        .flat_map(|user| ["storage", "documents"].map(|zone| (user, zone)))
        .map(|(user, zone)| Worker::new(user, zone, rng.split()))
        .collect();
    let mut server = setup().start();
    let mut repairs = 0;
    for round in 0..rounds {
        let moment = Duration::from_millis(5 + rng.below(LONGEST));
        load_and_kill(&mut server, &mut workers, moment);
        server = server.again();
        if rng.below(3) == 0 {
            // And once more, while it repairs.
            let moment = Duration::from_micros(rng.below(40_000));
            touch_and_kill(&mut server, moment);
            server = server.again();
        }
        for user in USERS {
            Wire::open(&server, user, "other").data("shed_stats", &json!({}));
            assert_eq!(staged(&home(&server, user)), Vec::<String>::new(), "{user}");
        }
        for worker in &mut workers {
            worker.settle(&server, &home(&server, worker.user));
        }
        for user in USERS {
            compare(&server, user, &workers, round);
        }
        repairs += server.log().matches("repaired a zone").count();
    }
    let acknowledged: u64 = workers.iter().map(|worker| worker.acknowledged).sum();
    println!("{rounds} kills, {acknowledged} acknowledged calls, {repairs} zones repaired");
    assert!(acknowledged > rounds * 10, "the server worked");
    assert!(repairs > 0, "calls were interrupted");
}

fn load_and_kill(server: &mut Server, workers: &mut [Worker], moment: Duration) {
    let address = server.address().to_owned();
    std::thread::scope(|scope| {
        for worker in workers {
            let address = &address;
            scope.spawn(move || worker.work(address));
        }
        std::thread::sleep(moment);
        server.kill();
    });
}

/// The first access repairs; the server dies in it, or shortly before or after.
fn touch_and_kill(server: &mut Server, moment: Duration) {
    let address = server.address().to_owned();
    std::thread::scope(|scope| {
        for user in USERS {
            let address = &address;
            scope.spawn(move || {
                let mut wire = Wire::connect(address, user, "other").ok()?;
                wire.call("shed_stats", &json!({})).ok()
            });
        }
        std::thread::sleep(moment);
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
        let ledger = (counted("size_bytes"), counted("files"));
        assert_eq!(ledger, totals(&found), "round {round}: {user} {zone}");
    }
    let request = json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]});
    let answer = wire.data("shed_exec", &request);
    assert_eq!(answer["stdout"], "", "round {round}: {user}");
    check_history(&home, user);
}

fn check_history(home: &Path, user: &str) {
    if !home.join("Documents/repo.git/refs/heads/main").exists() {
        return;
    }
    let repository = Repository::of(home);
    repository.assert_sound();
    let authors = repository.text(&["log", "--format=%an <%ae>|%cn"]);
    let own = format!("{user} <{user}@localhost>|fileshed");
    assert!(authors.lines().all(|line| line == own), "{authors}");
}

#[test]
fn a_command_ends_with_its_server() {
    let mut server = setup().start();
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
        assert!(eventually(|| is_running(duration)), "the command runs");
        server.kill();
        assert!(eventually(|| !is_running(duration)), "the command ended");
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

fn eventually(condition: impl Fn() -> bool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        if condition() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

#[test]
fn a_strict_server_survives_too() {
    let mut rng = Rng::new(seed());
    let mut workers = vec![
        Worker::new("ada", "storage", rng.split()),
        Worker::new("ada", "documents", rng.split()),
    ];
    let mut server = setup().env("FILESHED_DURABILITY", "strict").start();
    for round in 0..3 {
        load_and_kill(&mut server, &mut workers, Duration::from_millis(300));
        server = server.again();
        Wire::open(&server, "ada", "other").data("shed_stats", &json!({}));
        for worker in &mut workers {
            worker.settle(&server, &home(&server, "ada"));
        }
        compare(&server, "ada", &workers, round);
    }
    assert!(workers.iter().all(|worker| worker.acknowledged > 3));
}
