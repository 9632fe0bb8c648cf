//! Many conversations at one file.

use std::time::Instant;

use serde_json::json;

use crate::desk::{Desk, ZONES};
use crate::support::Server;
use crate::wire::Wire;

const CHATS: usize = 8;
const ROUNDS: usize = 60;

#[test]
fn no_line_that_was_acknowledged_is_lost() {
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "crowd");
    for zone in ZONES {
        let begun = Instant::now();
        let rounds = if zone == "storage" {
            ROUNDS
        } else {
            ROUNDS / 4
        };
        std::thread::scope(|scope| {
            for chat in 0..CHATS {
                let server = &server;
                scope.spawn(move || {
                    let mut wire = Wire::open(server, "crowd", &format!("chat-{chat}"));
                    for round in 0..rounds {
                        let line = format!("chat {chat} round {round}\n");
                        let call = json!({"zone": zone, "path": "log.txt", "content": line});
                        wire.data("shed_patch_text", &call);
                    }
                });
            }
        });
        println!(
            "{zone}: {} appends in {:?}",
            CHATS * rounds,
            begun.elapsed()
        );
        let written = desk.exec(zone, "cat", &["log.txt"]);
        let mut next = [0; CHATS];
        for line in written.lines() {
            let mut words = line.split(' ');
            let chat: usize = words.nth(1).unwrap().parse().unwrap();
            let round: usize = words.nth(1).unwrap().parse().unwrap();
            assert_eq!(round, next[chat], "in the order of each conversation");
            next[chat] += 1;
        }
        assert_eq!(next, [rounds; CHATS]);
        desk.files(zone)
            .insert("log.txt".to_owned(), written.into_bytes());
        for _ in 0..CHATS * rounds {
            desk.changed(zone);
        }
    }
    desk.assert_in_order();
}

#[test]
fn one_holder_of_a_lock_at_a_time() {
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "holders");
    desk.create("documents", "shared.txt", b"0\n");
    let saved: usize = std::thread::scope(|scope| {
        let chats: Vec<_> = (0..4)
            .map(|chat| {
                let server = &server;
                scope.spawn(move || count_up(server, &format!("chat-{chat}")))
            })
            .collect();
        chats.into_iter().map(|chat| chat.join().unwrap()).sum()
    });
    assert!(saved > 4, "{saved}");
    // Each holder added one to what it found: nobody else was at it meanwhile.
    desk.files("documents")
        .insert("shared.txt".to_owned(), format!("{saved}\n").into_bytes());
    for _ in 0..saved {
        desk.changed("documents");
    }
    desk.assert_in_order();
}

/// Opens, adds one and saves, as often as nobody else has the file; how often that was.
fn count_up(server: &Server, chat: &str) -> usize {
    let mut wire = Wire::open(server, "holders", chat);
    let file = json!({"zone": "documents", "path": "shared.txt"});
    let mut saved = 0;
    for _ in 0..60 {
        let (status, answer) = wire.call("shed_lockedit_open", &file).unwrap();
        if status == 423 {
            let (status, answer) = wire
                .call(
                    "shed_patch_text",
                    &json!({"zone": "documents", "path": "shared.txt",
                    "content": "9\n", "position": "replace", "line": 77}),
                )
                .unwrap();
            assert_ne!(status, 200, "{answer}");
            continue;
        }
        assert_eq!(status, 200, "{answer}");
        let number: u64 = answer["data"]["content"]
            .as_str()
            .unwrap()
            .trim()
            .parse()
            .unwrap();
        let mut content = file.clone();
        content["content"] = format!("{}\n", number + 1).into();
        wire.data("shed_lockedit_overwrite", &content);
        let data = wire.data("shed_lockedit_save", &file);
        assert_eq!(data["committed"], true);
        saved += 1;
    }
    saved
}
