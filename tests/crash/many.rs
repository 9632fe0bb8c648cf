//! Many files at once on their way into documents; the server is killed meanwhile.

use serde_json::json;

use crate::kills::setup;
use fileshed_test_support::on_disk::{Repository, Tree, assert_same, staged, tree};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::variables::{rounds, seed};
use fileshed_test_support::wire::Wire;
use fileshed_test_support::{Server, pause};

const USER: &str = "marie";

/// More than are committed one by one.
const FILES: usize = 400;

/// Longest time from the call to the kill, in microseconds.
const LONGEST: u64 = 250_000;

/// Brings a directory of many files while nobody looks; its contents are those of no other round.
fn furnish(server: &Server, round: u64) -> Tree {
    let storage = server.data().join("users").join(USER).join("Storage/data");
    let _none_yet = std::fs::remove_dir_all(&storage);
    for part in ["many/a", "many/b/c"] {
        let part = storage.join(part);
        std::fs::create_dir_all(&part).unwrap();
        for number in 0..FILES / 2 {
            let text = format!("{round} {number}\n").repeat(1 + number % 50);
            std::fs::write(part.join(format!("{number}.txt")), text).unwrap();
        }
    }
    tree(&storage)
}

#[test]
fn what_is_copied_is_there_with_its_history_or_not_at_all_whenever_the_server_is_killed() {
    let mut rng = Rng::new(seed());
    let mut server = setup("relaxed").start();
    let home = server.data().join("users").join(USER);
    let mut wire = Wire::open(&server, USER, "work");
    for zone in ["storage", "documents"] {
        let call = json!({"zone": zone, "path": "first.txt", "content": "one\n"});
        wire.data("shed_create_file", &call);
    }
    let (mut answered, mut copied) = (0, 0);
    let rounds = rounds().div_ceil(2);
    for round in 0..rounds {
        let source = furnish(&server, round);
        let before = tree(&home.join("Documents/data"));
        let with_copy: Tree = source
            .iter()
            .map(|(path, content)| {
                (
                    path.replacen("many", &round.to_string(), 1),
                    content.clone(),
                )
            })
            .chain(before.clone())
            .collect();
        let address = server.address().to_owned();
        let moment = rng.below(LONGEST);
        let is_answered = std::thread::scope(|scope| {
            let call = scope.spawn(|| {
                let mut wire = Wire::connect(&address, USER, "work").ok()?;
                let call = json!({"src": "many", "dest": round.to_string()});
                wire.call("shed_copy_storage_to_documents", &call).ok()
            });
            pause(moment);
            server.kill();
            let answer = call.join().unwrap();
            if let Some((status, answer)) = &answer {
                assert_eq!(*status, 200, "{answer}");
            }
            answer.is_some()
        });
        server = server.again();
        let call = json!({"zone": "documents", "cmd": "git", "args": ["status"], "timeout": 300});
        Wire::open(&server, USER, "other").data("shed_exec", &call);
        assert_eq!(staged(&home), Vec::<String>::new(), "round {round}");
        let found = tree(&home.join("Documents/data"));
        let is_copied = found.len() > before.len();
        let expected = if is_answered || is_copied {
            &with_copy
        } else {
            &before
        };
        assert_same(&found, expected, &format!("round {round}"));
        let repository = Repository::of(&home);
        repository.assert_sound();
        assert_same(
            &repository.tree("HEAD"),
            expected,
            &format!("HEAD of round {round}"),
        );
        let packs = home.join("Documents/repo.git/fileshed/contents");
        let left = std::fs::read_dir(packs).map_or(0, Iterator::count);
        assert_eq!(left, 0, "round {round}");
        answered += usize::from(is_answered);
        copied += usize::from(is_copied);
    }
    println!("{rounds} kills, {answered} answered, {copied} copied");
}
