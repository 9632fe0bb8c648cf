//! Input and the end of a process.

use fileshed_test_support::{TestApp, eventually};
use serde_json::{Value, json};

use super::{input, kill, last, listed, ran, started, status, stdout};

#[test]
fn input_reaches_the_process_with_its_escape_sequences() {
    let app = TestApp::start();
    let client = app.client();
    let id = started(&client, "cat");
    let sent = input(&client, &id, r"one\n\ttwo ü \x41\n");
    assert_eq!((sent.status, &sent.body), (200, &json!({"status": "ok"})));
    // Ctrl-D closes the input.
    assert_eq!(input(&client, &id, r"three\x04").status, 200);
    let ended = status(&client, &id, "?wait=60").body;
    assert_eq!(stdout(&ended), "one\n\ttwo ü A\nthree", "{ended}");
    assert_eq!(
        (&ended["status"], &ended["exit_code"]),
        (&json!("done"), &json!(0))
    );
    let late = input(&client, &id, "x");
    assert_eq!(late.status, 400, "{}", late.text);
}

#[test]
fn what_ctrl_c_sends_asks_the_process_to_end() {
    let app = TestApp::start();
    let client = app.client();
    let id = started(&client, "echo ready; sleep 600; echo after");
    assert_eq!(input(&client, &id, r"\x03").status, 200);
    let ended = status(&client, &id, "?wait=60").body;
    assert_eq!(ended["status"], "killed", "{ended}");
    assert!(!stdout(&ended).contains("after"), "{ended}");
}

#[test]
fn a_process_that_does_not_read_takes_no_more_than_its_pipe() {
    let app = TestApp::start();
    let client = app.client();
    let id = started(&client, "sleep 600");
    let much = input(&client, &id, &"x".repeat(300_000));
    assert_eq!(much.status, 400, "{}", much.text);
    assert!(
        much.body["detail"]
            .as_str()
            .expect("text")
            .contains("does not read")
    );
    kill(&client, &id, "?force=true");
}

#[test]
fn a_process_is_asked_to_end_and_may_clean_up() {
    let app = TestApp::start();
    let client = app.client();
    let id = started(
        &client,
        "trap 'echo cleaned; exit 7' TERM; echo ready; while true; do sleep 0.1; done",
    );
    eventually("it is ready", || {
        stdout(&status(&client, &id, "").body)
            .contains("ready")
            .then_some(())
    });
    let killed = kill(&client, &id, "");
    assert_eq!(
        (killed.status, &killed.body),
        (200, &json!({"status": "killed"}))
    );
    let ended = status(&client, &id, "").body;
    assert_eq!(
        (&ended["status"], &ended["exit_code"]),
        (&json!("killed"), &json!(7)),
        "{ended}"
    );
    assert!(stdout(&ended).ends_with("cleaned\n"), "{ended}");
}

#[test]
fn who_ignores_that_is_ended_by_force() {
    let app = TestApp::start();
    let client = app.client();
    let id = started(
        &client,
        "trap '' TERM; echo ready; while true; do sleep 0.1; done",
    );
    eventually("it is ready", || {
        stdout(&status(&client, &id, "").body)
            .contains("ready")
            .then_some(())
    });
    let asked = kill(&client, &id, "");
    assert_eq!(
        (asked.status, &asked.body["status"]),
        (200, &json!("running")),
        "{}",
        asked.text
    );
    let killed = kill(&client, &id, "?force=True");
    assert_eq!(
        (killed.status, &killed.body),
        (200, &json!({"status": "killed"}))
    );
    let again = kill(&client, &id, "");
    assert_eq!(
        (again.status, &again.body),
        (200, &json!({"status": "killed"}))
    );
    assert_eq!(status(&client, &id, "").body["exit_code"], -9);
}

#[test]
fn everything_that_it_started_ends_with_it() {
    let app = TestApp::start();
    let client = app.client();
    let id = started(
        &client,
        "sleep 600 & sleep 600 & (sleep 600; echo no) & wait",
    );
    let killed = kill(&client, &id, "?force=true");
    assert_eq!(killed.body["status"], "killed", "{}", killed.text);
    // The shell ends, and what it left in the background ends with it.
    let left = ran(&client, "sleep 600 & echo begun");
    assert_eq!(
        (stdout(&left), &left["status"]),
        ("begun\n".to_owned(), &json!("done"))
    );
}

#[test]
fn the_list_shows_how_each_stands() {
    let app = TestApp::start();
    let client = app.client();
    assert!(listed(&client).is_empty());
    ran(&client, "exit 4");
    let done = last(&client);
    let id = started(&client, "sleep 600");
    let list = listed(&client);
    assert_eq!(
        list,
        [
            json!({"id": done["id"], "command": "exit 4", "status": "done", "exit_code": 4,
                "log_path": done["log_path"]}),
            json!({"id": id, "command": "sleep 600", "status": "running", "exit_code": Value::Null,
                "log_path": format!("/logs/{id}.jsonl")}),
        ]
    );
    kill(&client, &id, "");
    assert_eq!(listed(&client)[1]["status"], "killed");
}

/// Neither while it is made nor later a process misses it.
#[test]
fn who_is_asked_to_end_at_once_ends() {
    for namespaces in ["auto", "off"] {
        let app = TestApp::with()
            .env("FILESHED_EXEC_NAMESPACES", namespaces)
            .app();
        let client = app.client();
        for _ in 0..20 {
            let id = started(&client, "sleep 600");
            let answer = kill(&client, &id, "");
            assert_eq!(answer.body["status"], "killed", "{namespaces}");
        }
    }
}
