//! One user's many calls hold nobody else up, and wait for their own turn. The time that it takes is
//! measured by `benches/floors.rs`.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicUsize, Ordering};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};

use crate::groups::team::make;
use crate::server::load::hold;
use fileshed_test_support::on_disk::take_turn;
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, wait_until, within};

/// Connections of the one user.
const CONNECTIONS: usize = 128;

/// Calls of the other user.
const CALLS: usize = 5;

/// Commands of each user at the same time: more than one user's places.
const COMMANDS: usize = 6;

/// The same for transfers.
const TRANSFERS: usize = 12;

fn small_file(zone: &str, name: usize) -> Value {
    json!({"zone": zone, "path": format!("{name}.txt"), "content": "x", "overwrite": true})
}

/// As many connections as this process may have.
fn raise_open_files() {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        ..limit
    };
    setrlimit(Resource::Nofile, raised).unwrap();
}

#[test]
fn writes_behind_a_long_change_hold_nobody_up() {
    raise_open_files();
    let server = Server::with_key();
    let mut quiet = Wire::open(&server, "quiet", "work");
    quiet.data("shed_create_file", &small_file("storage", 0));
    let Some(lock) = hold(&server, "busy", "documents") else {
        return;
    };
    let sent = Barrier::new(CONNECTIONS + 1);
    let ended = AtomicUsize::new(0);
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..CONNECTIONS)
            .map(|number| {
                let (server, sent, ended) = (&server, &sent, &ended);
                scope.spawn(move || {
                    let mut wire = Wire::open(server, "busy", "work");
                    sent.wait();
                    let call = small_file("documents", number);
                    let (status, _) = wire.call("shed_create_file", &call).unwrap();
                    ended.fetch_add(1, Ordering::Relaxed);
                    status
                })
            })
            .collect();
        sent.wait();
        for _ in 0..CALLS {
            quiet.data("shed_tree", &json!({"zone": "storage"}));
        }
        // Some still wait, however many were told to come back.
        assert!(ended.load(Ordering::Relaxed) < CONNECTIONS);
        drop(lock);
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap())
            .collect()
    });
    assert!(statuses.contains(&200), "{statuses:?}");
    let known = |status: &u16| [200, 429, 503].contains(status);
    assert!(statuses.iter().all(known), "{statuses:?}");
}

/// Members of one group who write at the same time: more than the server has threads.
const MEMBERS: usize = 900;

#[test]
fn writes_of_many_members_behind_a_long_change_hold_nobody_up() {
    raise_open_files();
    let server = Server::with_key();
    let names: Vec<String> = (0..MEMBERS).map(|number| format!("m{number}")).collect();
    let members: Vec<&str> = names.iter().map(String::as_str).collect();
    make(&server, "team", "team", &members);
    let write = |name: usize| {
        within(
            "group",
            json!({"path": format!("{name}.txt"), "content": "x"}),
        )
    };
    Wire::open(&server, "m0", "work").data("shed_create_file", &write(0));
    let mut quiet = Wire::open(&server, "quiet", "work");
    quiet.data("shed_create_file", &small_file("storage", 0));
    // The lock of a writer in another process that shares the data.
    let lock = server.data().join("groups/team/staging/group.lock");
    let Some(lock) = take_turn(&lock) else {
        return;
    };
    let sent = Barrier::new(MEMBERS + 1);
    let (busy, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for (number, name) in names.iter().enumerate() {
            let (server, sent, busy, done) = (&server, &sent, &busy, &done);
            scope.spawn(move || {
                let mut wire = Wire::open(server, name, "work");
                sent.wait();
                match wire.call("shed_create_file", &write(number)).unwrap() {
                    (200, _) => done.fetch_add(1, Ordering::Relaxed),
                    (429 | 503, answer) if answer["error"]["code"] == "BUSY" => {
                        busy.fetch_add(1, Ordering::Relaxed)
                    }
                    (status, answer) => panic!("{status}: {answer}"),
                };
            });
        }
        sent.wait();
        wait_until("who is too much is told", || {
            busy.load(Ordering::Relaxed) >= MEMBERS / 2
        });
        // A caller in another zone is answered.
        quiet.data("shed_tree", &json!({"zone": "storage"}));
        assert!(busy.load(Ordering::Relaxed) < MEMBERS, "some wait");
        drop(lock);
    });
    assert!(done.load(Ordering::Relaxed) > 0);
}

/// Calls of two users at the same time, more of each than a user has places: all are answered.
fn all_are_answered(at_once: usize, call: impl Fn(&Server, &str, usize) -> u16 + Sync) {
    let server = Server::with_key();
    for user in ["ada", "bob"] {
        let mut wire = Wire::open(&server, user, "work");
        wire.data("shed_create_file", &small_file("storage", 0));
    }
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let callers: Vec<_> = (0..2 * at_once)
            .map(|number| {
                let (server, call) = (&server, &call);
                let user = ["ada", "bob"][number % 2];
                scope.spawn(move || call(server, user, number))
            })
            .collect();
        callers
            .into_iter()
            .map(|caller| caller.join().unwrap())
            .collect()
    });
    let is_success = |status: &u16| (200..300).contains(status);
    assert!(statuses.iter().all(is_success), "{statuses:?}");
}

#[test]
fn commands_beyond_the_places_of_a_user_wait() {
    all_are_answered(COMMANDS, |server, user, _| {
        let command = json!({"zone": "storage", "cmd": "sleep", "args": ["0.05"]});
        let answer = server.as_user(user).call("shed_exec", &command);
        answer.status
    });
}

#[test]
fn transfers_beyond_the_places_of_a_user_wait() {
    let content = "a line\n".repeat(10_000);
    all_are_answered(TRANSFERS, |server, user, number| {
        let address = format!("/files/content?zone=storage&path=sent/{number}.txt");
        let client = server.as_user(user);
        client.send("PUT", &address, content.as_bytes()).status
    });
}
