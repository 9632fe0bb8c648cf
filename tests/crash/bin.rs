//! Into the bin, out of it, and out of it for good; the server is killed meanwhile.

mod undo;

use std::path::Path;

use serde_json::{Value, json};

use crate::kills::setup;
use fileshed_test_support::on_disk::{staged, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, pause, wait_until};

const USER: &str = "marie";

/// Longest time from the call to the kill, in microseconds.
const LONGEST: u64 = 40_000;

/// Makes a call and kills the server meanwhile, or every fourth time after the answer; gives whether
/// there was one.
fn cut_off(
    server: &mut Server,
    rng: &mut Rng,
    round: u64,
    (operation, call): (&str, &Value),
) -> bool {
    let address = server.address().to_owned();
    let moment = rng.below(LONGEST);
    let after_the_answer = round.is_multiple_of(4);
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let mut wire = Wire::connect(&address, USER, "work").ok()?;
            wire.call(operation, call).ok()
        });
        if after_the_answer {
            wait_until("there is an answer", || call.is_finished());
        } else {
            pause(moment);
        }
        server.kill();
        let answer = call.join().unwrap();
        if let Some((status, answer)) = &answer {
            assert_eq!(*status, 200, "{answer}");
        }
        answer.is_some()
    })
}

fn in_bin(home: &Path) -> usize {
    std::fs::read_dir(home.join("bin")).map_or(0, Iterator::count)
}

fn counted(stats: &Value, zone: &str) -> (u64, u64) {
    let number = |name: &str| stats[zone][name].as_u64().unwrap();
    (number("size_bytes"), number("files"))
}

/// Returns how many changes of the storage the list has that are newer than `last`, which becomes the newest.
fn listed_since(wire: &mut Wire, last: &mut i64) -> usize {
    let since = json!({"path": "storage", "since": last.to_string()});
    let listed = wire.data("shed_history", &since);
    let rows = listed["changes"].as_array().unwrap();
    if let Some(newest) = rows.first() {
        *last = newest["change"].as_i64().unwrap();
    }
    rows.len()
}

#[test]
fn what_is_deleted_is_where_it_was_or_in_the_bin_whenever_the_server_is_killed() {
    let mut rng = Rng::new(seed());
    let mut server = setup("relaxed").env("FILESHED_BIN_DAYS", "30").start();
    let home = server.data().join("users").join(USER);
    let mut wire = Wire::open(&server, USER, "work");
    for number in 0..20 {
        let path = format!("many/{}/{number}.txt", number % 3);
        let made = json!({"zone": "storage", "path": path, "content": "one line\n"});
        wire.data("shed_create_file", &made);
    }
    let mut last = 0;
    listed_since(&mut wire, &mut last);
    drop(wire);
    let whole = tree(&home.join("Storage/data"));
    let delete = json!({"zone": "storage", "path": "many"});
    let restore = json!({"zone": "storage", "path": "many", "restore": true});
    let (mut is_there, mut answered, mut moved) = (true, 0, 0);
    let rounds = rounds();
    for round in 0..rounds {
        let call = if is_there { &delete } else { &restore };
        let is_answered = cut_off(&mut server, &mut rng, round, ("shed_delete", call));
        answered += u64::from(is_answered);
        server = server.again();
        let mut wire = Wire::open(&server, USER, "other");
        let stats = wire.data("shed_stats", &json!({}));
        let found = tree(&home.join("Storage/data"));
        let now = !found.is_empty();
        if is_answered {
            assert_eq!(now, !is_there, "round {round}: what was answered holds");
        }
        moved += u64::from(now != is_there);
        let listed = listed_since(&mut wire, &mut last);
        assert_eq!(listed, usize::from(now != is_there), "round {round}");
        assert_eq!(in_bin(&home), usize::from(!now), "round {round}");
        assert_eq!(staged(&home), Vec::<String>::new(), "round {round}");
        if now {
            assert_eq!(found, whole, "round {round}: it is whole");
        }
        assert_eq!(counted(&stats, "storage"), totals(&found), "round {round}");
        let kept = if now { (0, 0) } else { totals(&whole) };
        assert_eq!(counted(&stats, "bin"), kept, "round {round}");
        is_there = now;
    }
    if !is_there {
        Wire::open(&server, USER, "other").data("shed_delete", &restore);
    }
    assert_eq!(tree(&home.join("Storage/data")), whole);
    assert!(answered > 0 && moved > 0, "calls had an effect");
    println!("{rounds} kills, {answered} answered, {moved} moves");
}

#[test]
fn what_makes_way_is_in_the_bin_or_gone_whenever_the_server_is_killed() {
    let mut rng = Rng::new(seed());
    let setup = setup("relaxed").env("FILESHED_BIN_DAYS", "30");
    let mut server = setup.env("FILESHED_QUOTA_PER_USER_MB", "1").start();
    let home = server.data().join("users").join(USER);
    let content = "x".repeat(300 * 1024);
    let made = json!({"zone": "storage", "path": "large", "content": content});
    let rounds = rounds();
    for round in 0..rounds {
        let mut wire = Wire::open(&server, USER, "work");
        while in_bin(&home) < 3 {
            wire.data("shed_create_file", &made);
            wire.data("shed_delete", &json!({"zone": "storage", "path": "large"}));
        }
        drop(wire);
        cut_off(&mut server, &mut rng, round, ("shed_create_file", &made));
        server = server.again();
        let mut wire = Wire::open(&server, USER, "other");
        let stats = wire.data("shed_stats", &json!({}));
        let found = tree(&home.join("Storage/data"));
        assert_eq!(counted(&stats, "storage"), totals(&found), "round {round}");
        let kept = in_bin(&home) as u64;
        let expected = (kept * content.len() as u64, kept);
        assert_eq!(counted(&stats, "bin"), expected, "round {round}");
        assert_eq!(staged(&home), Vec::<String>::new(), "round {round}");
        if !found.is_empty() {
            wire.data("shed_delete", &json!({"zone": "storage", "path": "large"}));
        }
    }
}

/// Contents of the files in the bin, in order.
fn binned(home: &Path) -> Vec<String> {
    let names = std::fs::read_dir(home.join("bin")).into_iter().flatten();
    let contents = names.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let mut contents: Vec<String> = contents.collect();
    contents.sort();
    contents
}

#[test]
fn what_is_overwritten_is_at_its_path_or_in_the_bin_whenever_the_server_is_killed() {
    let mut rng = Rng::new(seed());
    let mut server = setup("relaxed").env("FILESHED_BIN_DAYS", "30").start();
    let home = server.data().join("users").join(USER);
    let version = |number: u64| format!("{number:06}\n").repeat(500);
    let call = |number: u64| {
        let content = version(number);
        json!({"zone": "storage", "path": "d/file", "content": content, "overwrite": true})
    };
    let mut wire = Wire::open(&server, USER, "work");
    wire.data("shed_create_file", &call(0));
    let mut last = 0;
    assert_eq!(listed_since(&mut wire, &mut last), 1);
    drop(wire);
    let mut replaced = Vec::new();
    let (mut current, mut answered) = (0, 0);
    let rounds = rounds();
    for round in 0..rounds {
        let next = round + 1;
        let operation = ["shed_create_file", "shed_patch_text"][rng.below(2) as usize];
        let is_answered = cut_off(&mut server, &mut rng, round, (operation, &call(next)));
        answered += u64::from(is_answered);
        server = server.again();
        let mut wire = Wire::open(&server, USER, "other");
        let stats = wire.data("shed_stats", &json!({}));
        let found = std::fs::read_to_string(home.join("Storage/data/d/file")).unwrap();
        let listed = listed_since(&mut wire, &mut last);
        assert_eq!(listed, usize::from(found == version(next)), "round {round}");
        if found == version(next) {
            replaced.push(version(current));
            current = next;
        } else {
            assert!(!is_answered, "round {round}: what was answered holds");
            assert_eq!(found, version(current), "round {round}: it is whole");
        }
        assert_eq!(binned(&home), replaced, "round {round}");
        assert_eq!(staged(&home), Vec::<String>::new(), "round {round}");
        let size = found.len() as u64;
        assert_eq!(counted(&stats, "storage"), (size, 1), "round {round}");
        let count = replaced.len() as u64;
        assert_eq!(
            counted(&stats, "bin"),
            (count * size, count),
            "round {round}"
        );
    }
    assert!(answered > 0 && !replaced.is_empty(), "calls had an effect");
    println!(
        "{rounds} kills, {answered} answered, {} replaced",
        replaced.len()
    );
}
