//! A large file on its way into documents, which is prepared before its turn, beside small commits of
//! the same user; the server is killed meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use crate::kills::setup;
use fileshed_test_support::moment::{Moment, looks_at_histories};
use fileshed_test_support::on_disk::{Repository, staged, totals, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::wait_until;
use fileshed_test_support::wire::Wire;

const USER: &str = "niels";

/// Bytes of the file; no more are written than those that were prepared.
const LENGTH: usize = 5 * 1024 * 1024;

/// Small commits beside the copy before the kill is waited for, at most: about as many as it takes.
const COMMITS: u64 = 12;

/// Names of large files in documents: some calls make a file, others change one.
const NAMES: u64 = 3;

fn small(number: usize) -> String {
    format!("number {number}\n")
}

/// Makes small commits until the connection ends or it is told to; the last that was acknowledged.
fn commit(address: &str, from: usize, (moment, stopped): (&Moment, &AtomicBool)) -> usize {
    let mut number = from;
    let Ok(mut wire) = Wire::connect(address, USER, "other") else {
        return number;
    };
    while !stopped.load(Ordering::Relaxed) {
        let call = json!({
            "zone": "documents", "path": "small.txt", "content": small(number + 1), "overwrite": true,
        });
        match wire.call("shed_create_file", &call) {
            Ok((status, answer)) => assert_eq!(status, 200, "{answer}"),
            Err(_) => break,
        }
        number += 1;
        moment.answered();
    }
    number
}

#[test]
fn what_was_prepared_is_there_or_not_whenever_the_server_is_killed() {
    let mut rng = Rng::new(seed());
    let mut server = setup("relaxed").start();
    let home = server.data().join("users").join(USER);
    let mut large = vec![None::<u64>; NAMES as usize];
    let (mut there, mut answered, mut unanswered) = (0, 0, 0);
    std::fs::create_dir_all(home.join("Storage/data")).unwrap();
    let rounds = rounds();
    for round in 0..rounds {
        let content = format!("line of round {round}\n").into_bytes();
        let content: Vec<u8> = content.iter().copied().cycle().take(LENGTH).collect();
        std::fs::write(home.join("Storage/data/large"), &content).unwrap();
        let call = json!({"zone": "storage", "cmd": "touch", "args": ["seen"], "timeout": 300});
        Wire::open(&server, USER, "work").data("shed_exec", &call);
        let name = rng.below(NAMES);
        let (address, stopped) = (server.address().to_owned(), AtomicBool::new(false));
        let moment = Moment::draw(&mut rng, COMMITS);
        let waits = round.is_multiple_of(4);
        let (is_answered, acknowledged) = std::thread::scope(|scope| {
            let commits = scope.spawn(|| commit(&address, there, (&moment, &stopped)));
            let copy = scope.spawn(|| {
                let mut wire = Wire::connect(&address, USER, "work").ok()?;
                let call =
                    json!({"src": "large", "dest": format!("large-{name}"), "overwrite": true});
                wire.call("shed_copy_storage_to_documents", &call).ok()
            });
            if waits {
                wait_until("there is an answer", || copy.is_finished());
            } else {
                moment.wait();
            }
            server.kill();
            stopped.store(true, Ordering::Relaxed);
            let answer = copy.join().unwrap();
            if let Some((status, answer)) = &answer {
                assert_eq!(*status, 200, "{answer}");
            }
            (answer.is_some(), commits.join().unwrap())
        });
        server = server.again();
        let mut wire = Wire::open(&server, USER, "other");
        let stats = wire.data("shed_stats", &json!({}));
        assert_eq!(staged(&home), Vec::<String>::new(), "round {round}");
        let found = tree(&home.join("Documents/data"));
        let path = format!("large-{name}");
        let has_it = found.get(&path) == Some(&content);
        assert!(has_it || !is_answered, "round {round}: it was acknowledged");
        if has_it {
            large[name as usize] = Some(round);
        }
        for (name, round) in large.iter().enumerate() {
            let length = found.get(&format!("large-{name}")).map(Vec::len);
            assert_eq!(length, round.map(|_| LENGTH), "large-{name}");
        }
        let last = found
            .get("small.txt")
            .map(|text| String::from_utf8_lossy(text).into_owned());
        let expected = [acknowledged, acknowledged + 1];
        let of = expected
            .into_iter()
            .find(|number| last == Some(small(*number)));
        there = of.unwrap_or_else(|| {
            assert!(
                last.is_none() && acknowledged == 0,
                "{last:?}, {acknowledged} acknowledged"
            );
            0
        });
        answered += usize::from(is_answered);
        unanswered += usize::from(!is_answered && !has_it);
        let counted = |name: &str| stats["documents"][name].as_u64().unwrap();
        let registry = (counted("size_bytes"), counted("files"));
        assert_eq!(registry, totals(&found), "round {round}");
        let call = json!({"zone": "documents", "cmd": "git", "args": ["status", "--porcelain"]});
        let answer = wire.data("shed_exec", &call);
        assert_eq!(answer["stdout"], "", "round {round}");
        if looks_at_histories(round, rounds) && !found.is_empty() {
            Repository::of(&home).assert_sound();
        }
    }
    assert!(
        answered > 0 && unanswered > 0 || rounds < 20,
        "both were seen"
    );
    println!(
        "{rounds} kills, {answered} answered, {unanswered} that did not happen, {there} commits"
    );
}
