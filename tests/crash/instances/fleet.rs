//! Three servers on one directory and one database, and what can happen to them.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde_json::json;

use rustix::process::{Signal, kill_process};

use super::paused::wait_for_takeover;
use crate::kills::setup;
use fileshed_test_servers::{Forwarder, Postgres};
use fileshed_test_support::on_disk::{Repository, staged, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, Setup, eventually, skip, wait_until};

pub(crate) const SERVERS: usize = 3;

/// The user whose storage and documents all callers use, each in a conversation of its own.
pub(crate) const USER: &str = "emmy";

/// The group whose members all callers are, each as a user.
pub(crate) const GROUP: &str = "team";

/// A user by the number of a caller.
pub(crate) fn member(who: usize) -> String {
    format!("member{who}")
}

/// Calls while a fault lasts, at most: some of them find a server that does not answer.
const MEANWHILE: u64 = 20;

/// Returns the name of a server in the registry.
fn label(number: usize) -> String {
    format!("server-{number}")
}

/// A fault during the calls of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// A server dies.
    Kill,
    /// A server sleeps until others have taken over, and goes on.
    Sleep,
    /// A server sleeps for less than that.
    Doze,
    /// The connections of a server to the database end, and none begins for a while.
    Cut,
    /// Messages between a server and the database do not arrive for a while.
    Silence,
    /// The database crashes.
    Database,
    /// The clock of a server is an hour early, or late.
    Clock,
    /// All servers die at once.
    KillAll,
}

pub(crate) const FAULTS: [Fault; 8] = [
    Fault::Kill,
    Fault::Sleep,
    Fault::Cut,
    Fault::Database,
    Fault::Clock,
    Fault::Silence,
    Fault::KillAll,
    Fault::Doze,
];

/// Current addresses of the servers.
#[derive(Debug, Default)]
pub(crate) struct Addresses(Mutex<Vec<String>>);

impl Addresses {
    pub(crate) fn of(&self, server: usize) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)[server].clone()
    }

    fn set(&self, server: usize, address: &str) {
        let mut addresses = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        addresses.resize(SERVERS, String::new());
        address.clone_into(&mut addresses[server]);
    }
}

pub(crate) struct Fleet<'a> {
    addresses: &'a Addresses,
    // They end before the database.
    servers: Vec<Server>,
    setups: Vec<Setup>,
    /// The server whose clock is wrong.
    wrong_clock: Option<usize>,
    ways: Vec<Forwarder>,
    database: String,
    postgres: Postgres,
}

impl<'a> Fleet<'a> {
    /// Starts the servers, with a group of so many members; `None` if PostgreSQL is not installed.
    pub(crate) fn start(addresses: &'a Addresses, members: usize) -> Option<Self> {
        let postgres = Postgres::start()?;
        let database = postgres.new_database();
        let ways: Vec<Forwarder> = (0..SERVERS)
            .map(|_| Forwarder::to(&postgres.socket()))
            .collect();
        // A file is read whole however much is written while a fault lasts.
        let all = setup("relaxed").env("FILESHED_MAX_OUTPUT_GATEWAY", "5000000");
        let setups: Vec<Setup> = ways
            .iter()
            .enumerate()
            .map(|(number, way)| {
                let url = format!("postgres://fileshed@127.0.0.1:{}/{database}", way.port());
                let setup = all.clone().env("FILESHED_REGISTRY", &url);
                setup.env("FILESHED_INSTANCE_NAME", &label(number))
            })
            .collect();
        let servers: Vec<Server> = setups.iter().map(|setup| setup.clone().start()).collect();
        for (number, server) in servers.iter().enumerate() {
            addresses.set(number, server.address());
        }
        let members: Vec<String> = (0..members).map(member).collect();
        let group = [
            "group",
            "create",
            "--id",
            GROUP,
            "--name",
            GROUP,
            "--members",
        ];
        let made = servers[0].run(&[group.as_slice(), &[&members.join(",")]].concat());
        assert_eq!(made.code, Some(0), "{made:?}");
        Some(Self {
            addresses,
            servers,
            setups,
            wrong_clock: None,
            ways,
            database,
            postgres,
        })
    }

    /// Lets it happen, and ends it after some calls, for which `meanwhile` waits.
    pub(crate) fn suffer(&mut self, fault: Fault, rng: &mut Rng, meanwhile: &dyn Fn(u64)) {
        let number = rng.below(SERVERS as u64) as usize;
        let calls = 1 + rng.below(MEANWHILE);
        let outlasts_the_lease = rng.below(2) == 0;
        match fault {
            Fault::Kill => {
                self.servers[number].kill();
                meanwhile(calls);
                self.start_again(number);
            }
            Fault::KillAll => {
                for server in &mut self.servers {
                    server.kill();
                }
                for number in 0..SERVERS {
                    self.start_again(number);
                }
            }
            Fault::Sleep => {
                self.signal(number, Signal::STOP);
                self.wait_for_takeover(number);
                meanwhile(calls);
                self.signal(number, Signal::CONT);
                let sleeper = &mut self.servers[number];
                assert_eq!(sleeper.wait(), Some(1), "{}", sleeper.log());
                assert!(sleeper.logged("stood still for too long"));
            }
            Fault::Doze => {
                self.signal(number, Signal::STOP);
                meanwhile(calls);
                self.signal(number, Signal::CONT);
            }
            Fault::Cut => {
                self.ways[number].cut();
                if outlasts_the_lease {
                    self.wait_for_takeover(number);
                }
                meanwhile(calls);
                self.ways[number].heal();
            }
            Fault::Silence => {
                self.ways[number].stop();
                if outlasts_the_lease {
                    self.wait_for_takeover(number);
                }
                meanwhile(calls);
                self.ways[number].heal();
            }
            Fault::Database => {
                self.postgres.crash();
                meanwhile(calls);
                self.postgres.go_on();
            }
            Fault::Clock => {
                let Some(library) = faketime() else {
                    skip("libfaketime is not installed");
                    return;
                };
                let hours = ["-1h", "+1h"][rng.below(2) as usize];
                self.servers[number].kill();
                let setup = self.setups[number].clone();
                let wrong = setup
                    .env("LD_PRELOAD", &library.display().to_string())
                    .env("FAKETIME", hours)
                    .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
                self.replace(number, wrong.start());
                self.wrong_clock = Some(number);
            }
        }
    }

    fn wait_for_takeover(&self, number: usize) {
        wait_for_takeover(&self.postgres, &self.database, &label(number));
    }

    fn signal(&self, number: usize, signal: Signal) {
        kill_process(self.servers[number].process(), signal).unwrap();
    }

    fn start_again(&mut self, number: usize) {
        let server = self.setups[number].clone().start();
        self.replace(number, server);
    }

    fn replace(&mut self, number: usize, server: Server) {
        self.addresses.set(number, server.address());
        let before = std::mem::replace(&mut self.servers[number], server);
        assert!(!before.log().contains("panicked"), "{}", before.log());
    }

    /// Waits until all of them work, and starts those that ended. A clock that was wrong is right again.
    pub(crate) fn recover(&mut self) {
        for number in 0..SERVERS {
            wait_until("every server is ready", || {
                let server = &mut self.servers[number];
                if server.is_over() {
                    let said = server.logged("stood still for too long");
                    assert!(said, "{}", server.log());
                    self.start_again(number);
                }
                is_ready(&self.servers[number])
            });
        }
        if let Some(number) = self.wrong_clock.take() {
            self.servers[number].terminate();
            assert_eq!(self.servers[number].wait(), Some(0));
            self.start_again(number);
        }
    }

    /// Returns the answer to a query on the registry.
    pub(crate) fn ask(&self, sql: &str) -> String {
        let sql = format!("SET search_path TO fileshed; {sql}");
        self.postgres.run(&self.database, &sql)
    }

    /// Waits until no change is in progress, and no server that is gone has a lease to write.
    pub(crate) fn assert_at_rest(&self) {
        eventually("nothing is under way", || {
            // Only a call finishes the changes of a server that died.
            for who in [USER.to_owned(), member(0)] {
                let mut wire = Wire::open(&self.servers[0], &who, "rest");
                wire.data("shed_stats", &json!({}));
            }
            (self.ask("SELECT count(*) FROM intents") == "0").then_some(())
        });
        wait_until("nobody who is gone may write", || {
            let gone = "SELECT count(*) FROM write_leases
                WHERE instance NOT IN (SELECT name FROM instances)";
            self.ask(gone) == "0"
        });
        for home in self.homes() {
            wait_until("nothing is staged", || staged(&home).is_empty());
        }
    }

    fn homes(&self) -> [PathBuf; 2] {
        let data = self.servers[0].data();
        [
            data.join("users").join(USER),
            data.join("groups").join(GROUP),
        ]
    }

    /// The lines of files of the group.
    pub(crate) fn lines_of_group(&self, files: &[&str]) -> BTreeSet<String> {
        let [_, group] = self.homes();
        let content = |file: &&str| std::fs::read_to_string(group.join("data").join(file)).unwrap();
        let texts: String = files.iter().map(content).collect();
        let lines: BTreeSet<String> = texts.lines().map(str::to_owned).collect();
        assert_eq!(lines.len(), texts.lines().count(), "{texts}");
        lines
    }

    /// Histories are sound and have what is there; the registry counts what is there.
    pub(crate) fn assert_sound(&self) {
        for (who, zone) in [(USER.to_owned(), "documents"), (member(0), "group")] {
            let mut wire = Wire::open(&self.servers[0], &who, "rest");
            let status = ["status", "--porcelain"];
            let git = json!({"zone": zone, "group": GROUP, "cmd": "git", "args": status});
            assert_eq!(wire.data("shed_exec", &git)["stdout"], "", "{zone}");
        }
        let [home, group] = self.homes();
        if home.join("Documents/repo.git/refs/heads/main").exists() {
            Repository::of(&home).assert_sound();
        }
        Repository::at(&group.join("repo.git"), &group.join("data")).assert_sound();
        let zones = [
            (
                format!("users/{USER}"),
                "storage",
                home.join("Storage/data"),
            ),
            (
                format!("users/{USER}"),
                "documents",
                home.join("Documents/data"),
            ),
            (format!("groups/{GROUP}"), "group", group.join("data")),
        ];
        for (tenant, zone, data) in zones {
            let used = "SELECT bytes || ' ' || files FROM usage WHERE home =";
            let counted = self.ask(&format!("{used} '{tenant}' AND zone = '{zone}'"));
            let (bytes, files) = totals(&tree(&data));
            assert_eq!(counted, format!("{bytes} {files}"), "{tenant} {zone}");
        }
    }
}

/// Returns `true` if the server reports that it is ready; a server that just ended gives no answer.
fn is_ready(server: &Server) -> bool {
    server
        .try_raw(b"GET /ready HTTP/1.0\r\nHost: localhost\r\n\r\n")
        .is_ok_and(|answer| answer.contains(" 200 "))
}

/// The library that shows another time to a program.
fn faketime() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("FILESHED_TEST_FAKETIME") {
        return Some(named.into());
    }
    let places = std::fs::read_dir("/usr/lib").ok()?.flatten();
    let mut libraries = places.map(|place| place.path().join("faketime/libfaketime.so.1"));
    libraries.find(|library| library.exists())
}
