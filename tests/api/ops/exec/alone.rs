//! A command that changes something has a zone with history for itself, and shares storage.

use serde_json::{Value, json};

use crate::ops::stage::small;
use fileshed_test_support::commands::{kill, running};
use fileshed_test_support::{Answer, Client, TestApp, wait_until, within};

/// Calls `then` while a command changes a file of the zone, in so many rounds, by which it is found.
/// Returns how the command ended.
fn while_one_runs(
    server: &TestApp,
    (zone, rounds): (&str, &str),
    then: impl FnOnce(&Client<'_>),
) -> Answer {
    let alice = server.as_user("alice");
    let file = within(zone, json!({"path": "slow", "content": "x"}));
    alice.call("shed_create_file", &file).data();
    std::thread::scope(|scope| {
        let runner = alice.clone();
        let args = json!(["-n", rounds, "slow"]);
        let line = within(zone, json!({"cmd": "shred", "args": args, "timeout": 300}));
        let command = scope.spawn(move || runner.call("shed_exec", &line));
        wait_until("the command runs", || !running(rounds).is_empty());
        then(&alice);
        assert!(!running(rounds).is_empty(), "it goes on");
        kill(rounds);
        command.join().unwrap()
    })
}

fn create(client: &Client<'_>, zone: &str) -> Answer {
    let file = within(zone, json!({"path": "new", "content": "x"}));
    client.call("shed_create_file", &file)
}

fn exec(client: &Client<'_>, zone: &str, line: &[&str]) -> Value {
    let (cmd, args) = line.split_first().unwrap();
    let line = within(zone, json!({"cmd": cmd, "args": args}));
    client.call("shed_exec", &line).data().clone()
}

#[test]
fn who_waits_for_a_command_is_told_which_it_is_and_how_it_ends() {
    let server = small().app();
    for zone in ["documents", "group"] {
        let ended = while_one_runs(&server, (zone, "9999983"), |alice| {
            // Whatever only reads waits for nobody.
            assert_eq!(exec(alice, zone, &["ls"])["stdout"], "slow\n");
            let busy = std::thread::scope(|scope| {
                let late = scope.spawn(|| create(alice, zone));
                wait_until("who waits is told", || {
                    server.advance(1);
                    late.is_finished()
                });
                late.join().unwrap()
            });
            busy.refused(429, "BUSY");
            let error = &busy.body["error"];
            let detail = |name: &str| error["details"][name].as_str().unwrap().to_owned();
            let (since, id) = (detail("since"), detail("id"));
            assert_eq!(detail("command"), "shred");
            assert!(since.starts_with("20") && since.ends_with('Z'), "{since}");
            let said = error["message"].as_str().unwrap();
            assert!(said.contains("`shred`") && said.contains(&since), "{said}");
            let hint = error["hint"].as_str().unwrap();
            assert!(hint.contains(&format!("`{id}`")), "{hint}");
        });
        assert_ne!(ended.data()["returncode"], 0, "{}", ended.text);
        create(&server.as_user("alice"), zone).data();
    }
}

#[test]
fn commands_run_side_by_side_in_storage() {
    let server = small().app();
    let zone = "storage";
    while_one_runs(&server, (zone, "9999989"), |alice| {
        create(alice, zone).data();
        exec(alice, zone, &["cp", "new", "copy"]);
        exec(alice, zone, &["rm", "new"]);
        assert_eq!(exec(alice, zone, &["ls"])["stdout"], "copy\nslow\n");
    });
}

/// Opening a history removes what a dead process left in it, so a look at an undo waits as a writer does.
#[test]
fn a_look_at_an_undo_leaves_the_locks_of_a_running_git_alone() {
    let server = small().app();
    while_one_runs(&server, ("documents", "9999987"), |alice| {
        let lock = server
            .data()
            .join("users/alice/Documents/repo.git/index.lock");
        std::fs::write(&lock, "").unwrap();
        let busy = std::thread::scope(|scope| {
            let undo = json!({"path": "documents/slow", "dry_run": true});
            let late = scope.spawn(move || alice.call("shed_undo", &undo));
            wait_until("the look has waited", || {
                server.advance(1);
                late.is_finished()
            });
            late.join().unwrap()
        });
        busy.refused(429, "BUSY");
        assert!(lock.exists());
        std::fs::remove_file(&lock).unwrap();
    });
}
