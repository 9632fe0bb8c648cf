//! `/logs`: the output of processes, as read-only files.

use fileshed_test_support::{TestApp, eventually};
use serde_json::{Value, json};

use super::{execute, kill, last, ran, started, status, stdout};
use crate::transfer::content::unpacked;

fn names(answer: &Value) -> Vec<&str> {
    let entries = answer["entries"].as_array().expect("entries").iter();
    entries.filter_map(|entry| entry["name"].as_str()).collect()
}

#[test]
fn logs_are_listed_read_and_searched() {
    let app = TestApp::start();
    let client = app.client();
    let none = client.get("/terminal/files/list?directory=/logs");
    assert_eq!(
        (none.status, names(&none.body).len()),
        (200, 0),
        "{}",
        none.text
    );
    ran(&client, "echo needle");
    let process = last(&client);
    let path = process["log_path"].as_str().expect("a path");
    let name = path.strip_prefix("/logs/").expect("below /logs");
    let list = client.get("/terminal/files/list?directory=/logs").body;
    assert_eq!(
        (names(&list), &list["writable"]),
        (vec![name], &json!(false)),
        "{list}"
    );
    assert_eq!(list["entries"][0]["writable"], false);
    let read = client.get(&format!("/terminal/files/read?path={path}"));
    assert_eq!(
        (read.status, &read.body["total_lines"]),
        (200, &json!(3)),
        "{}",
        read.text
    );
    let viewed = client.get(&format!("/terminal/files/view?path={path}"));
    assert!(viewed.text.contains("needle"), "{}", viewed.text);
    let found = client.get("/terminal/files/grep?query=needle&path=/logs");
    assert_eq!(found.body["matches"][0]["file"], path, "{}", found.text);
    let missing = client.get("/terminal/files/read?path=/logs/none.jsonl");
    assert_eq!(missing.status, 404, "{}", missing.text);
}

#[test]
fn logs_cannot_be_changed() {
    let app = TestApp::start();
    let client = app.client();
    ran(&client, "echo kept");
    let path = last(&client)["log_path"]
        .as_str()
        .expect("a path")
        .to_owned();
    let post = |address: &str, body: Value| {
        client.send(
            "POST",
            &format!("/terminal/files/{address}"),
            body.to_string().as_bytes(),
        )
    };
    for answer in [
        client.send(
            "DELETE",
            &format!("/terminal/files/delete?path={path}"),
            b"",
        ),
        client.send("DELETE", "/terminal/files/delete?path=/logs", b""),
        post("write", json!({"path": path, "content": "gone"})),
        post("write", json!({"path": "/logs/new.txt", "content": "new"})),
        post("mkdir", json!({"path": "/logs/new"})),
        post("move", json!({"source": path, "destination": "/storage/a"})),
    ] {
        assert!(
            (400..500).contains(&answer.status),
            "{}: {}",
            answer.status,
            answer.text
        );
    }
    let read = client.get(&format!("/terminal/files/read?path={path}"));
    assert!(read.text.contains("kept"), "{}", read.text);
}

#[test]
fn a_line_begins_in_the_working_directory_of_its_chat() {
    let app = TestApp::start();
    let client = app.client();
    ran(&client, "mkdir -p deep/down");
    let set = client.send(
        "POST",
        "/terminal/files/cwd",
        json!({"path": "/storage/deep"}).to_string().as_bytes(),
    );
    assert_eq!(set.status, 200, "{}", set.text);
    let there = ran(&client, "pwd; ls");
    assert_eq!(stdout(&there), "/storage/deep\ndown\n");
    let below = execute(
        &client,
        "?wait=60",
        &json!({"command": "pwd", "cwd": "down"}),
    );
    assert_eq!(
        stdout(&below.body),
        "/storage/deep/down\n",
        "{}",
        below.text
    );
}

/// An archive is of one moment, whatever goes on.
#[test]
fn logs_that_grow_are_packed_as_they_are() {
    let app = TestApp::start();
    let client = app.client();
    let id = started(&client, "while :; do echo more; done");
    eventually("something is written", || {
        let answer = status(&client, &id, "");
        stdout(&answer.body).contains("more").then_some(())
    });
    for _ in 0..3 {
        let body = json!({"paths": ["/logs"]}).to_string();
        let packed = client.send("POST", "/terminal/files/archive", body.as_bytes());
        assert_eq!(packed.status, 200, "{}", packed.text);
        if let Some(files) = unpacked(&packed.bytes) {
            let log = &files[format!("logs/{id}.jsonl")];
            assert!(log.as_u64().is_some_and(|size| size > 0), "{files}");
        }
    }
    let ended = kill(&client, &id, "?force=true");
    assert_eq!(ended.status, 200, "{}", ended.text);
}
