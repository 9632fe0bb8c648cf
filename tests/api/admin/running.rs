//! Tests of the list of running work, and of ending it.

use serde_json::{Value, json};

use super::stage::{CANARY, act, admin, get, post, setup};
use fileshed_test_support::socket::Socket;
use fileshed_test_support::{Server, eventually};

/// Waits until work of this kind runs, and returns its row.
fn running(server: &Server, kind: &str) -> Value {
    eventually(kind, || {
        let rows = get(server, "running")["running"].clone();
        let mut rows = rows.as_array()?.iter();
        rows.find(|row| row["kind"] == kind).cloned()
    })
}

#[test]
fn a_command_is_ended_and_its_caller_is_told() {
    let server = setup().start();
    std::thread::scope(|scope| {
        let call = scope.spawn(|| {
            let file = json!({"zone": "storage", "path": CANARY, "content": "x"});
            let ada = server.as_user("ada");
            ada.call("shed_create_file", &file).data();
            let follow =
                json!({"zone": "storage", "cmd": "tail", "args": ["-f", CANARY], "timeout": 60});
            ada.call("shed_exec", &follow)
        });
        let command = running(&server, "command");
        assert_eq!(
            (&command["user"], &command["program"]),
            (&json!("ada"), &json!("tail"))
        );
        assert!(command["since"].is_string());
        act(&server, "running/end", &json!({"id": command["id"]}));
        let answer = call.join().unwrap();
        answer.refused(400, "EXEC_ERROR");
        assert!(answer.text.contains("administrator"), "{}", answer.text);
    });
    assert_eq!(get(&server, "running")["running"], json!([]));
    let gone = post(&admin(&server), "running/end", &json!({"id": "command-1"}));
    gone.refused(400, "INVALID_PARAMETER");
}

#[test]
fn a_background_process_is_ended() {
    let server = setup()
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .start();
    let terminal = server
        .client()
        .header("Authorization", "Bearer terminal-key")
        .header("X-User-Id", "ada");
    let line = json!({"command": format!("sleep 60 # {CANARY}")}).to_string();
    let begun = terminal.send("POST", "/terminal/execute?wait=0", line.as_bytes());
    assert_eq!(begun.status, 200, "{}", begun.text);
    let process = running(&server, "process");
    assert_eq!(
        (&process["user"], &process["program"]),
        (&json!("ada"), &json!("sh"))
    );
    act(&server, "running/end", &json!({"id": process["id"]}));
    let id = begun.body["id"].as_str().unwrap();
    let status = eventually("its end", || {
        let status = terminal.get(&format!("/terminal/execute/{id}/status"));
        (status.body["status"] == "killed").then_some(status)
    });
    let said = "an administrator of this server ended the operation";
    assert!(status.text.contains(said), "{}", status.text);
    let rows = get(&server, "running")["running"].clone();
    assert_eq!(rows, json!([]));
}

#[test]
fn a_shell_is_ended_and_whoever_sits_there_is_told() {
    let server = setup()
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .start();
    let terminal = server
        .client()
        .header("Authorization", "Bearer terminal-key")
        .header("X-User-Id", "ada")
        .header("X-Session-Id", "one");
    let opened = terminal.send("POST", "/terminal/api/terminals", b"");
    assert_eq!(opened.status, 200, "{}", opened.text);
    let id = opened.body["id"].as_str().unwrap();
    let path = format!("/terminal/api/terminals/{id}");
    let mut shell = Socket::open(&server, &path, &[("X-User-Id", "ada")]);
    shell.say(&json!({"type": "auth", "token": "terminal-key"}));
    shell.type_in(&format!("echo {CANARY}; sleep 600\n"));
    shell.until(&format!("\n{CANARY}"));
    let row = running(&server, "shell");
    assert_eq!(
        (&row["user"], &row["program"]),
        (&json!("ada"), &json!("sh"))
    );
    act(&server, "running/end", &json!({"id": row["id"]}));
    shell.until("an administrator of this server ended the operation");
    assert_eq!(shell.close_code(), 1000);
    assert_eq!(get(&server, "running")["running"], json!([]));
    assert_eq!(terminal.get(&path).status, 404);
    let gone = post(&admin(&server), "running/end", &json!({"id": row["id"]}));
    gone.refused(400, "INVALID_PARAMETER");
}
