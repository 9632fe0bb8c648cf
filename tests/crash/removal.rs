//! A directory with many files is removed behind the answer; the server is killed meanwhile.

use std::path::Path;

use serde_json::json;

use crate::kills::setup;
use fileshed_test_support::on_disk::{staged, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, pause, wait_until};

const USER: &str = "marie";

/// More than what goes before the answer.
const FILES: usize = 1500;

/// Longest time from the call to the kill, in microseconds.
const LONGEST: u64 = 40_000;

/// Brings a directory of many files while nobody looks, and has it counted.
fn furnish(server: &Server, home: &Path) {
    let directory = home.join("Storage/data/many");
    for part in ["a", "b/c"] {
        let part = directory.join(part);
        std::fs::create_dir_all(&part).unwrap();
        for number in 0..FILES / 2 {
            std::fs::write(part.join(format!("{number}.txt")), "one line\n").unwrap();
        }
    }
    let call = json!({"zone": "storage", "cmd": "touch", "args": ["kept.txt"], "timeout": 300});
    Wire::open(server, USER, "work").data("shed_exec", &call);
}

#[test]
fn what_is_removed_is_gone_or_whole_whenever_the_server_is_killed() {
    let mut rng = Rng::new(seed());
    let mut server = setup("relaxed").start();
    let home = server.data().join("users").join(USER);
    let (mut answered, mut left) = (0, 0);
    let rounds = rounds();
    for round in 0..rounds {
        furnish(&server, &home);
        let before = tree(&home.join("Storage/data"));
        let address = server.address().to_owned();
        let moment = rng.below(LONGEST);
        let after_the_answer = round.is_multiple_of(2);
        let is_answered = std::thread::scope(|scope| {
            let call = scope.spawn(|| {
                let mut wire = Wire::connect(&address, USER, "work").ok()?;
                let call = json!({"zone": "storage", "path": "many"});
                wire.call("shed_delete", &call).ok()
            });
            if after_the_answer {
                wait_until("there is an answer", || call.is_finished());
                pause(moment / 20);
            } else {
                pause(moment);
            }
            server.kill();
            let answer = call.join().unwrap();
            if let Some((status, answer)) = &answer {
                assert_eq!(*status, 200, "{answer}");
            }
            answer.is_some()
        });
        left += usize::from(is_answered && !staged(&home).is_empty());
        answered += usize::from(is_answered);
        server = server.again();
        let stats = Wire::open(&server, USER, "other").data("shed_stats", &json!({}));
        assert_eq!(staged(&home), Vec::<String>::new(), "round {round}");
        let found = tree(&home.join("Storage/data"));
        if is_answered || !found.contains_key("many/a/0.txt") {
            assert_eq!(found.len(), 1, "round {round}: it is gone");
        } else {
            assert_eq!(found, before, "round {round}: it is whole");
        }
        let counted = |name: &str| stats["storage"][name].as_u64().unwrap();
        let registry = (counted("size_bytes"), counted("files"));
        assert_eq!(registry, totals(&found), "round {round}");
    }
    assert!(answered > 0, "calls were answered");
    println!("{rounds} kills, {answered} answered, {left} with files that were still to go");
}

#[test]
fn what_is_removed_is_gone_for_everybody_with_the_answer_and_from_the_disk_soon_after() {
    let server = setup("relaxed").start();
    let home = server.data().join("users").join(USER);
    furnish(&server, &home);
    let mut wire = Wire::open(&server, USER, "work");
    wire.data("shed_delete", &json!({"zone": "storage", "path": "many"}));
    assert_eq!(tree(&home.join("Storage/data")).len(), 1);
    let stats = wire.data("shed_stats", &json!({}));
    assert_eq!(stats["storage"]["files"], 1);
    wait_until("the files are gone", || staged(&home).is_empty());
}

#[test]
fn what_a_server_that_stops_did_not_get_to_goes_with_the_next_one() {
    let mut server = setup("relaxed").start();
    let home = server.data().join("users").join(USER);
    furnish(&server, &home);
    let call = json!({"zone": "storage", "path": "many"});
    Wire::open(&server, USER, "work").data("shed_delete", &call);
    server.terminate();
    assert_eq!(server.wait(), Some(0));
    let server = server.again();
    Wire::open(&server, USER, "other").data("shed_stats", &json!({}));
    assert_eq!(staged(&home), Vec::<String>::new());
    assert_eq!(tree(&home.join("Storage/data")).len(), 1);
}
