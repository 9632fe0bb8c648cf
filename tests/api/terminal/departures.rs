//! Users without access any more: their running processes end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fileshed_test_support::socket::Socket;
use fileshed_test_support::standin::{Answer, Asked, StandIn};
use fileshed_test_support::{Client, Setup, TestApp, eventually, wait_until};
use serde_json::{Value, json};

const KEY: &str = "terminal-key";
const ADA: &str = "8c7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";
const BOB: &str = "9d7f2c1e-5f0e-4a52-9f0b-0e8f4f1a2b3c";
const ADMIN: &str = "00000000-0000-4000-8000-000000000001";

fn setup() -> Setup {
    TestApp::with().env("FILESHED_TERMINAL_API_KEYS", KEY)
}

fn proxy<'a>(app: &'a TestApp, user: &str) -> Client<'a> {
    app.client()
        .header("Authorization", &format!("Bearer {KEY}"))
        .header("X-User-Id", user)
        .header("X-Session-Id", "c1")
}

/// Starts a background process of a user, and a shell with an open connection.
fn begin(app: &TestApp, user: &str) -> (String, Socket) {
    let client = proxy(app, user);
    let line = json!({"command": "echo kept > kept.txt; echo begun; sleep 600"});
    let started = client.send(
        "POST",
        "/terminal/execute?wait=0",
        line.to_string().as_bytes(),
    );
    let id = started.body["id"].as_str().expect("an id").to_owned();
    wait_until("it has begun", || {
        let path = format!("/terminal/execute/{id}/status");
        client.get(&path).text.contains("begun\\n")
    });
    let opened = client.send("POST", "/terminal/api/terminals", b"");
    let shell = opened.body["id"].as_str().expect("an id");
    let path = format!("/terminal/api/terminals/{shell}");
    let mut socket = Socket::open(app, &path, &[("X-User-Id", user)]);
    socket.say(&json!({"type": "auth", "token": KEY}));
    socket.type_in("echo re''ady\n");
    socket.until("\nready");
    (id, socket)
}

/// The last line of the log of a process, once it is the end.
fn end(app: &TestApp, id: &str) -> (Value, String) {
    eventually("the process ended", || {
        let users = std::fs::read_dir(app.data().join("users")).ok()?;
        let mut logs = users.flatten().map(|user| user.path().join("logs"));
        let log =
            logs.find_map(|logs| std::fs::read_to_string(logs.join(format!("{id}.jsonl"))).ok())?;
        let last: Value = serde_json::from_str(log.lines().last()?).ok()?;
        (last["type"] == "end").then_some((last, log))
    })
}

#[test]
fn what_runs_for_a_suspended_user_ends() {
    let app = setup().start();
    let (process, mut shell) = begin(&app, "ada");
    let (other, mut others) = begin(&app, "bob");
    let suspended = app.run(&["user", "suspend", "--user", "ada"]);
    assert_eq!(suspended.code, Some(0), "{suspended:?}");
    shell.until("the account is suspended");
    assert_eq!(shell.close_code(), 1000);
    let (last, log) = end(&app, &process);
    assert_eq!(last["status"], "killed", "{log}");
    assert!(log.contains("ended: the account is suspended"), "{log}");
    assert_eq!(proxy(&app, "ada").get("/terminal/execute").status, 403);
    let path = format!("/terminal/execute/{other}/status");
    assert_eq!(proxy(&app, "bob").get(&path).body["status"], "running");
    others.type_in("echo st''ill\n");
    others.until("\nstill");
    // The files of the ended process can be read once the account is resumed.
    app.run(&["user", "resume", "--user", "ada"]);
    let kept = proxy(&app, "ada").get("/terminal/files/read?path=kept.txt");
    assert_eq!(kept.body["content"], "kept\n", "{}", kept.text);
}

#[test]
fn what_runs_for_an_account_that_was_deleted_ends() {
    let is_there = Arc::new(AtomicBool::new(true));
    let asked = Arc::clone(&is_there);
    let webui = StandIn::answering(move |question: &Asked| {
        let person = |id: &str| Answer::json(&json!({"id": id, "name": "x", "role": "user"}));
        let path = question.path.split('?').next().unwrap_or_default();
        match path.strip_prefix("/api/v1/users/") {
            Some("user/status" | ADMIN) => person(ADMIN),
            Some(ADA) if asked.load(Ordering::SeqCst) => person(ADA),
            Some(BOB) => person(BOB),
            _ => Answer::status(400, &json!({"detail": "User not found"})),
        }
    });
    is_there.store(false, Ordering::SeqCst);
    let app = setup()
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
        .start();
    let (other, _shell) = begin(&app, BOB);
    let client = proxy(&app, ADA);
    let line = json!({"command": "sleep 600"}).to_string();
    let started = client.send("POST", "/terminal/execute?wait=0", line.as_bytes());
    let id = started.body["id"].as_str().expect("an id");
    let (last, log) = end(&app, id);
    assert_eq!(last["status"], "killed", "{log}");
    assert!(log.contains("the account no longer exists"), "{log}");
    let path = format!("/terminal/execute/{other}/status");
    assert_eq!(proxy(&app, BOB).get(&path).body["status"], "running");
}
