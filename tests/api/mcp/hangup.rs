//! Calls that last: a client that waits hears of their progress, and a client that goes away ends them.

use std::io::{BufRead as _, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fileshed_test_support::commands::{kill, running};
use fileshed_test_support::rng::Rng;
use fileshed_test_support::standin::StandIn;
use fileshed_test_support::{Server, TestApp, wait_until};
use serde_json::{Value, json};

use super::client::{NEWEST, OLDER, Peer};
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
        wait_until("the command runs", || !running(&mark).is_empty());
        drop(connection);
        wait_until("the command is gone", || running(&mark).is_empty());
        peer.done("shed_stats", &json!({}));
    }
}

/// Returns the last progress that the client of a successful call received. `heard` is called with each.
#[track_caller]
fn told_over_time(peer: &Peer<'_>, tool: &str, arguments: &Value, heard: impl Fn(f64)) -> f64 {
    let call = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": 7}});
    let lines = BufReader::new(peer.begin("tools/call", &call)).lines();
    let data = lines.map(|line| line.expect("in time"));
    let mut messages = data.filter_map(|line| {
        let message = serde_json::from_str::<Value>(line.strip_prefix("data:")?.trim());
        message.ok()
    });
    let mut told = 0.0;
    loop {
        let message = messages.next().expect("an answer");
        if message["method"] != "notifications/progress" {
            assert_eq!(message["result"]["isError"], false, "{message}");
            return told;
        }
        assert_eq!(message["params"]["progressToken"], 7);
        let progress = message["params"]["progress"].as_f64().unwrap();
        assert!(progress > told, "{progress} after {told}");
        told = progress;
        heard(told);
    }
}

/// Progress that a call must report before it may end.
const ENOUGH: f64 = 2.0;

#[test]
fn who_asks_for_it_hears_of_work_that_lasts() {
    let server = Server::start();
    let peer = Peer::new(server.client());
    let mark = format!("{}.9", 4_000_000 + std::process::id());
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": [mark], "timeout": 120});
    let told = told_over_time(&peer, "shed_exec", &sleep, |told| {
        if told >= ENOUGH {
            kill(&mark);
        }
    });
    assert!(told >= ENOUGH, "{told}");
}

/// Returns the last progress that the client of a successful call received.
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
    let is_enough = Arc::new(AtomicBool::new(false));
    let may_answer = Arc::clone(&is_enough);
    let slow = StandIn::answering(move |asked| {
        if asked.path.ends_with("/content") {
            wait_until("enough is told", || may_answer.load(Ordering::SeqCst));
        }
        chats.answer(asked)
    });
    let server = setup(&slow.url()).start();
    for version in [NEWEST, OLDER[0]] {
        is_enough.store(false, Ordering::SeqCst);
        let peer = Peer::new(server.as_user("ada").chat("chat-1")).speaking(version);
        let import = json!({"filename": "f-1"});
        let told = told_over_time(&peer, "shed_import", &import, |told| {
            is_enough.store(told >= ENOUGH, Ordering::SeqCst);
        });
        assert!(told >= ENOUGH, "{version}: {told}");
    }
}

#[test]
fn who_asks_for_it_hears_of_an_archive_that_lasts() {
    let server = TestApp::start();
    // Content that does not compress takes longest.
    let directory = server.data().join("shared/Storage/data/d");
    std::fs::create_dir_all(&directory).expect("made");
    let mut rng = Rng::new(1);
    let noise: Vec<u8> = (0..1 << 20)
        .flat_map(|_| rng.draw().to_le_bytes())
        .collect();
    std::fs::write(directory.join("noise"), noise).expect("written");
    let zip = json!({"zone": "storage", "src": "d", "dest": "d.zip"});
    let told = std::thread::scope(|scope| {
        let told = scope.spawn(|| told(&Peer::new(server.client()), "shed_zip", &zip));
        wait_until("the archive is packed", || {
            server.advance(1);
            told.is_finished()
        });
        told.join().unwrap()
    });
    assert!(told >= 1.0, "{told}");
}
