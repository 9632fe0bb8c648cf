//! Many conversations at one file.

use serde_json::json;

use crate::jobs::desk::{Desk, ZONES};
use fileshed_test_support::Server;
use fileshed_test_support::wire::Wire;

const CHATS: usize = 8;
const ROUNDS: usize = 20;

#[test]
fn no_line_that_was_acknowledged_is_lost() {
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "crowd");
    for zone in ZONES {
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
    assert_eq!(saved, 4 * SAVES);
    // Each holder of the lock added one to the number that it found: no other caller wrote meanwhile.
    desk.files("documents")
        .insert("shared.txt".to_owned(), format!("{saved}\n").into_bytes());
    for _ in 0..saved {
        desk.changed("documents");
    }
    desk.assert_in_order();
}

/// Edits of each conversation.
const SAVES: usize = 4;

/// Opens, adds one and saves, until it has done so often enough; how often that was.
fn count_up(server: &Server, chat: &str) -> usize {
    let mut wire = Wire::open(server, "holders", chat);
    let file = json!({"zone": "documents", "path": "shared.txt"});
    let mut saved = 0;
    while saved < SAVES {
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

#[test]
fn git_and_writers_do_not_get_in_each_others_way() {
    const EACH: usize = 10;
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "gitters");
    desk.create("documents", "first.txt", b"first\n");
    std::thread::scope(|scope| {
        for thread in 0..5 {
            let server = &server;
            scope.spawn(move || {
                let mut wire = Wire::open(server, "gitters", &format!("chat-{thread}"));
                for round in 0..EACH {
                    let git = |arguments: &[&str]| json!({"zone": "documents", "cmd": "git", "args": arguments});
                    let path = format!("{thread}/{round}.txt");
                    let (operation, call) = match thread {
                        0 => ("shed_exec", git(&["commit", "--allow-empty", "-m", &path])),
                        1 if round % 2 == 0 => ("shed_exec", git(&["log", "-1"])),
                        1 => ("shed_exec", git(&["status", "--porcelain"])),
                        _ => (
                            "shed_create_file",
                            json!({"zone": "documents", "path": path, "content": path}),
                        ),
                    };
                    let data = wire.data(operation, &call);
                    if operation == "shed_exec" {
                        assert_eq!(data["returncode"], 0, "{data}");
                    }
                }
            });
        }
    });
    for thread in 2..5 {
        for round in 0..EACH {
            let path = format!("{thread}/{round}.txt");
            desk.files("documents")
                .insert(path.clone(), path.into_bytes());
        }
    }
    desk.commits += 4 * EACH as u64;
    desk.assert_in_order();
}

#[test]
fn commands_that_take_files_from_each_other_all_end_well() {
    const ROUNDS: usize = 8;
    let server = Server::with_key();
    let mut desk = Desk::of(&server, "movers");
    for zone in ZONES {
        for number in 0..10 {
            desk.create(zone, &format!("kept/{number}"), b"kept\n");
        }
        std::thread::scope(|scope| {
            for (chat, kind) in ["directory", "file", "directory"].into_iter().enumerate() {
                let server = &server;
                scope.spawn(move || {
                    let mut wire = Wire::open(server, "movers", &format!("chat-{chat}"));
                    for _ in 0..ROUNDS {
                        let lines: [&[&str]; 3] = match kind {
                            "directory" => [
                                &["cp", "-r", "kept", "passing"],
                                &["mv", "-f", "passing", "gone"],
                                &["rm", "-rf", "passing", "gone"],
                            ],
                            _ => [
                                &["touch", "passing", "gone"],
                                &["rm", "-rf", "passing"],
                                &["rm", "-rf", "gone"],
                            ],
                        };
                        for line in lines {
                            let call = json!({"zone": zone, "cmd": line[0], "args": line[1..]});
                            // The command may fail; the call does not.
                            let (status, answer) = wire.call("shed_exec", &call).unwrap();
                            assert_eq!(status, 200, "{line:?}: {answer}");
                        }
                    }
                });
            }
        });
        desk.exec(zone, "rm", &["-rf", "passing", "gone"]);
        if zone == "documents" {
            desk.exec(zone, "git", &["status"]);
            desk.commits = desk.repository().commits();
        }
        desk.assert_in_order();
    }
}
