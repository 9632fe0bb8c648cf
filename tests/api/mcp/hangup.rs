//! Calls that last: who waits hears of them, and who goes away ends them.

use std::io::{BufRead as _, BufReader};
use std::time::Duration;

use fileshed_test_support::standin::StandIn;
use fileshed_test_support::{Server, TestApp, wait_until};
use serde_json::{Value, json};

use super::client::{NEWEST, OLDER, Peer};
use super::stdio::sleeping;
use crate::openwebui::chats::{Chats, item, setup};

#[test]
fn a_client_that_hangs_up_ends_its_command() {
    let server = Server::start();
    for version in OLDER.into_iter().chain([NEWEST]) {
        let peer = Peer::new(server.client()).speaking(version);
        let mark = format!("{}.8", 4_000_000 + std::process::id());
        let sleep = json!({"zone": "storage", "cmd": "sleep", "args": [mark], "timeout": 120});
        let call = json!({"name": "shed_exec", "arguments": sleep});
        let connection = peer.begin("tools/call", &call);
        wait_until("the command runs", || sleeping(&mark) == 1);
        drop(connection);
        wait_until("the command is gone", || sleeping(&mark) == 0);
        peer.done("shed_stats", &json!({}));
    }
}

#[test]
fn who_asks_for_it_hears_of_work_that_lasts() {
    let server = Server::start();
    let peer = Peer::new(server.client());
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": ["4"]});
    let call = json!({"name": "shed_exec", "arguments": sleep, "_meta": {"progressToken": 7}});
    let lines = BufReader::new(peer.begin("tools/call", &call)).lines();
    let data = lines.map(|line| line.expect("in time"));
    let data = data.filter_map(|line| {
        let message = serde_json::from_str::<Value>(line.strip_prefix("data:")?.trim());
        message.ok()
    });
    let mut told = 0.0;
    for message in data {
        if message["method"] == "notifications/progress" {
            assert_eq!(message["params"]["progressToken"], 7);
            let progress = message["params"]["progress"].as_f64().unwrap();
            assert!(progress > told, "{progress} after {told}");
            told = progress;
        } else {
            assert_eq!(message["result"]["isError"], false, "{message}");
            break;
        }
    }
    assert!(told >= 2.0, "{told}");
}

/// How far a call that succeeds was when its client heard of it for the last time.
#[track_caller]
fn told(peer: &Peer<'_>, tool: &str, arguments: &Value) -> f64 {
    let call = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}});
    let mut messages = peer.messages("tools/call", &call);
    let answer = messages.pop().expect("an answer");
    assert_eq!(answer["result"]["isError"], false, "{answer}");
    let mut told = 0.0;
    for message in messages {
        assert_eq!(message["method"], "notifications/progress", "{message}");
        assert_eq!(message["params"]["progressToken"], "p");
        let progress = message["params"]["progress"].as_f64().expect("a number");
        assert!(progress > told, "{progress} after {told}");
        told = progress;
    }
    told
}

#[test]
fn who_asks_for_it_hears_of_an_import_that_lasts() {
    let chats = Chats::default();
    chats.chat("chat-1", "ada", &json!([item("f-1", "notes.txt")]));
    chats.file("f-1", "ada", "one");
    let slow = StandIn::answering(move |asked| {
        if asked.path.ends_with("/content") {
            std::thread::sleep(Duration::from_secs(4));
        }
        chats.answer(asked)
    });
    let server = setup(&slow.url()).app();
    for (version, chat) in [(NEWEST, "chat-1"), (OLDER[0], "chat-1")] {
        let peer = Peer::new(server.as_user("ada").chat(chat)).speaking(version);
        let told = told(&peer, "shed_import", &json!({"filename": "f-1"}));
        assert!(told >= 2.0, "{version}: {told}");
    }
}

#[test]
fn who_asks_for_it_hears_of_an_archive_that_lasts() {
    // Room for what a fast machine packs in a second.
    let server = TestApp::with()
        .env("FILESHED_MAX_FILE_SIZE_MB", "8000")
        .env("FILESHED_QUOTA_PER_USER_MB", "16000")
        .app();
    let peer = Peer::new(server.client());
    // What cannot be made smaller takes longest, and twice as much where it was not enough.
    let directory = server.data().join("shared/Storage/data/d");
    std::fs::create_dir_all(&directory).expect("made");
    let mut state = 1_u64;
    let noise = std::iter::repeat_with(|| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    });
    let noise: Vec<u8> = noise.take(8 << 20).collect();
    for round in 0..8_u32 {
        for number in 0..1 << round {
            std::fs::write(directory.join(format!("{round}-{number}")), &noise).expect("written");
        }
        let archive = format!("{round}.zip");
        let zip = json!({"zone": "storage", "src": "d", "dest": archive});
        if told(&peer, "shed_zip", &zip) >= 1.0 {
            return;
        }
    }
    panic!("no archive took a second");
}
