//! Lines that several writers of one user add to the ends of large files, while the server is killed.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::kills::setup;
use fileshed_test_support::Server;
use fileshed_test_support::moment::Moment;
use fileshed_test_support::on_disk::{staged, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::wire::Wire;

const USER: &str = "emmy";
const WRITERS: usize = 4;

/// Enough that a line is added where the file lies.
const LENGTH: usize = 1024 * 1024;

/// Answers that a round has at most before the kill is waited for.
const ANSWERS: u64 = 40;

fn file(writer: usize) -> String {
    format!("logs/{writer}.log")
}

fn line(writer: usize, number: usize) -> String {
    format!("line {number} of {writer}\n")
}

/// Puts the files there while nobody looks, and has them counted.
fn furnish(server: &Server, home: &Path) {
    let data = home.join("Storage/data");
    std::fs::create_dir_all(data.join("logs")).unwrap();
    for writer in 0..WRITERS {
        std::fs::write(data.join(file(writer)), "0123456\n".repeat(LENGTH / 8)).unwrap();
    }
    let call = json!({"zone": "storage", "cmd": "touch", "args": ["kept.txt"], "timeout": 300});
    Wire::open(server, USER, "work").data("shed_exec", &call);
}

/// Lines behind the beginning of a file, which are whole and in order.
fn lines(home: &Path, writer: usize) -> usize {
    let content = std::fs::read_to_string(home.join("Storage/data").join(file(writer))).unwrap();
    let added = &content[LENGTH..];
    let count = added.lines().count();
    let expected: String = (0..count).map(|number| line(writer, number)).collect();
    assert!(added == expected, "{writer}: {:?}", added.lines().last());
    count
}

fn append_and_kill(durability: &str) {
    let mut rng = Rng::new(seed());
    let mut server = setup(durability).start();
    let home = server.data().join("users").join(USER);
    Wire::open(&server, USER, "work").data("shed_stats", &json!({}));
    furnish(&server, &home);
    let rounds = rounds();
    let mut there = [0; WRITERS];
    let (mut acknowledged, mut cut) = (0, 0);
    for round in 0..rounds {
        let moment = Moment::draw(&mut rng, ANSWERS);
        let stopped = AtomicBool::new(false);
        let address = server.address().to_owned();
        let answered = std::thread::scope(|scope| {
            let write = |writer: usize, from: usize| {
                let (address, moment, stopped) = (&address, &moment, &stopped);
                scope.spawn(move || {
                    let mut number = from;
                    let Ok(mut wire) = Wire::connect(address, USER, "work") else {
                        return number;
                    };
                    while !stopped.load(Ordering::Relaxed) {
                        let call = json!({
                            "zone": "storage",
                            "path": file(writer),
                            "content": line(writer, number),
                            "position": "end",
                        });
                        match wire.call("shed_patch_text", &call) {
                            Ok((status, answer)) => assert_eq!(status, 200, "{answer}"),
                            Err(_) => break,
                        }
                        number += 1;
                        moment.answered();
                    }
                    number
                })
            };
            let threads: Vec<_> = (0..WRITERS)
                .map(|writer| write(writer, there[writer]))
                .collect();
            moment.wait();
            server.kill();
            stopped.store(true, Ordering::Relaxed);
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect::<Vec<_>>()
        });
        cut += staged(&home)
            .iter()
            .filter(|name| name.ends_with(".journal"))
            .count();
        server = server.again();
        let stats = Wire::open(&server, USER, "other").data("shed_stats", &json!({}));
        assert_eq!(staged(&home), Vec::<String>::new(), "round {round}");
        for (writer, answered) in answered.into_iter().enumerate() {
            let found = lines(&home, writer);
            let expected = answered..=answered + 1;
            assert!(
                expected.contains(&found),
                "round {round}: {found}, {answered} acknowledged"
            );
            acknowledged += answered - there[writer];
            there[writer] = found;
        }
        let counted = |name: &str| stats["storage"][name].as_u64().unwrap();
        let registry = (counted("size_bytes"), counted("files"));
        assert_eq!(
            registry,
            totals(&tree(&home.join("Storage/data"))),
            "round {round}"
        );
    }
    assert!(cut > 0 || rounds < 40, "some were interrupted");
    println!("{durability}: {rounds} kills, {acknowledged} lines acknowledged, {cut} to be undone");
}

#[test]
fn what_is_added_to_a_large_file_is_there_or_not_whenever_the_server_is_killed() {
    append_and_kill("relaxed");
}

#[test]
fn writers_that_share_a_flush_lose_nothing() {
    append_and_kill("strict");
}
