//! Calls that last: who waits hears of them, and who goes away ends them.

use std::io::{BufRead as _, BufReader};

use fileshed_test_support::{Server, wait_until};
use serde_json::{Value, json};

use super::client::{NEWEST, OLDER, Peer};
use super::stdio::sleeping;

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
    let sleep = json!({"zone": "storage", "cmd": "sleep", "args": ["2.5"]});
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
