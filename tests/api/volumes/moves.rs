//! `fileshed tenant move`, beside a server that runs.

use fileshed_test_support::on_disk::tree;
use fileshed_test_support::{Server, eventually, wait_until};
use serde_json::{Value, json};

use super::{place_of, second, succeeds, terminal, two, volume_of};

const MOVE: [&str; 4] = ["tenant", "move", "--user", "ada"];

fn other(volume: &str) -> &'static str {
    match volume {
        "volume-1" => "volume-2",
        _ => "volume-1",
    }
}

fn create(server: &Server) {
    let ada = server.as_user("ada");
    for zone in ["storage", "documents"] {
        let file = json!({"zone": zone, "path": "d/a.md", "content": "text\n"});
        ada.call("shed_create_file", &file).data();
    }
    ada.call("shed_delete", &json!({"zone": "storage", "path": "d"}))
        .data();
    let file = json!({"zone": "storage", "path": "b.md", "content": "more\n"});
    ada.call("shed_create_file", &file).data();
}

#[test]
fn everything_comes_along() {
    let second = second();
    let server = two(second.path()).start();
    create(&server);
    let place = |server: &Server| place_of(server, second.path(), "users/ada");
    let zones = |server: &Server| {
        let place = place(server);
        ["Storage/data", "Documents/data"].map(|zone| tree(&place.join(zone)))
    };
    let (before, from) = (zones(&server), volume_of(&server, "users/ada"));
    let old = place(&server);
    let moved = server.run(&[&MOVE[..], &["--to", other(&from)]].concat());
    succeeds(&moved);
    assert!(moved.stderr.contains("the old copy"), "{moved:?}");
    assert_eq!(volume_of(&server, "users/ada"), other(&from));
    // It stays for who may be reading it; a start finds nobody who does.
    assert!(old.exists());
    let ada = server.as_user("ada");
    let file = json!({"zone": "documents", "path": "c.md", "content": "new\n"});
    ada.call("shed_create_file", &file).data();
    let back = json!({"zone": "storage", "path": "d", "restore": true});
    ada.call("shed_delete", &back).data();
    let log = json!({"zone": "documents", "cmd": "git", "args": ["log", "--oneline"]});
    let log = ada.call("shed_exec", &log);
    assert_eq!(log.data()["stdout"].as_str().unwrap().lines().count(), 2);
    ada.call("shed_delete", &json!({"zone": "documents", "path": "c.md"}))
        .data();
    ada.call("shed_delete", &json!({"zone": "storage", "path": "d"}))
        .data();
    let mut server = server;
    server.terminate();
    server.wait();
    let server = server.again();
    wait_until("the old copy is removed", || !old.exists());
    assert_eq!(zones(&server), before);
}

#[test]
fn who_has_it_open_is_named_and_nothing_is_moved() {
    let second = second();
    let server = two(second.path()).start();
    create(&server);
    let from = volume_of(&server, "users/ada");
    let arguments = [&MOVE[..], &["--to", other(&from)]].concat();
    let terminal = terminal(&server, "ada");
    let line = json!({"command": "sleep 600"}).to_string();
    let begun = terminal.send("POST", "/terminal/execute?wait=0", line.as_bytes());
    let id = begun.body["id"].as_str().unwrap().to_owned();
    let refused = server.run(&arguments);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let what = format!("background process {id} of users/ada");
    assert!(refused.stderr.contains(&what), "{}", refused.stderr);
    assert_eq!(volume_of(&server, "users/ada"), from);
    let ended = terminal.send("DELETE", &format!("/terminal/execute/{id}"), b"");
    assert_eq!(ended.status, 200, "{}", ended.text);
    let moved = eventually("a move", || {
        let moved = server.run(&arguments);
        (moved.code == Some(0)).then_some(moved)
    });
    succeeds(&moved);
    let listed = terminal.get("/terminal/execute");
    let ended = |process: &Value| process["status"] != "running";
    let all = listed.body.as_array().unwrap();
    assert!(all.iter().all(ended), "{}", listed.text);
}

#[test]
fn what_cannot_be_moved_is_told() {
    let second = second();
    let server = two(second.path()).start();
    create(&server);
    let here = volume_of(&server, "users/ada");
    let refused = |to: &str, part: &str| {
        let refused = server.run(&[&MOVE[..], &["--to", to]].concat());
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.stderr.contains(part), "{}", refused.stderr);
    };
    refused(
        "volume-9",
        "there is no volume `volume-9`; there are `volume-1`, `volume-2`",
    );
    refused(&here, "already");
}

#[test]
fn a_volume_from_which_everybody_was_moved_may_be_left_out() {
    let second = second();
    let setup = two(second.path());
    let mut server = setup.clone().start();
    create(&server);
    if volume_of(&server, "users/ada") == "volume-1" {
        succeeds(&server.run(&[&MOVE[..], &["--to", "volume-2"]].concat()));
    }
    succeeds(&server.run(&[&MOVE[..], &["--to", "volume-1"]].concat()));
    server.terminate();
    server.wait();
    let first = setup.path("data");
    let server = super::on(setup, &[&first]).start();
    let read = json!({"zone": "storage", "path": "b.md"});
    server.as_user("ada").call("shed_read", &read).data();
}
