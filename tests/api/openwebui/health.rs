//! `fileshed doctor` and Open WebUI: whether it answers, and takes the key. The server is ready
//! without it.

use std::sync::LazyLock;

use serde_json::{Value, json};

use fileshed_test_support::standin::{Answer, Asked, StandIn, nobody};
use fileshed_test_support::{Setup, TestApp};

fn webui() -> StandIn {
    StandIn::answering(
        |asked: &Asked| match (asked.path.as_str(), asked.bearer()) {
            ("/api/version", "") => {
                Answer::json(&json!({"version": "0.12.4", "deployment_id": ""}))
            }
            ("/api/v1/users/?page=1", "sk-admin") => {
                Answer::json(&json!({"users": [], "total": 0}))
            }
            _ => Answer::refused(),
        },
    )
}

/// What is said of it.
fn said(setup: &Setup) -> String {
    let finished = setup.run(&["doctor"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let whole = finished.stdout + &finished.stderr;
    assert!(!whole.contains("sk-"), "{whole}");
    let line = whole.lines().find(|line| line.contains("openwebui"));
    line.unwrap_or_default().to_owned()
}

fn asking(url: &str) -> Setup {
    TestApp::with().env("FILESHED_OPENWEBUI_API_URL", url)
}

#[test]
fn it_says_whether_open_webui_answers_and_takes_the_key() {
    assert_eq!(said(&TestApp::with()), "");
    let webui = webui();
    let setup = asking(&webui.url());
    let plain = said(&setup);
    assert!(
        plain.starts_with("ok      openwebui: version 0.12.4 answers; no"),
        "{plain}"
    );
    let with = |key: &str| said(&setup.clone().env("FILESHED_OPENWEBUI_ADMIN_KEY", key));
    let good = with("sk-admin");
    assert!(
        good.starts_with("ok") && good.ends_with("and takes openwebui_admin_key"),
        "{good}"
    );
    let bad = with("sk-user");
    assert!(
        bad.starts_with("warning") && bad.contains("does not take"),
        "{bad}"
    );
}

#[test]
fn who_is_away_or_somebody_else_is_a_warning() {
    let away = said(&asking(&nobody()));
    assert!(
        away.starts_with("warning openwebui: does not answer at http://127.0.0.1:"),
        "{away}"
    );
    let page = StandIn::answering(|_: &Asked| Answer::bytes("<html>"));
    let other = said(&asking(&page.url()));
    assert!(other.contains("is not Open WebUI"), "{other}");
}

#[test]
fn the_server_is_ready_without_it() {
    let server = asking(&nobody()).start();
    assert_eq!(server.client().get("/ready").status, 200);
    assert_eq!(server.client().get("/health").status, 200);
    assert!(
        server.logged("openwebui: does not answer"),
        "{}",
        server.log()
    );
}

/// Open WebUI with this terminal connection, at which it finds this.
fn with_terminal(connection: &Value, found: &'static Value) -> StandIn {
    let connection = connection.clone();
    StandIn::answering(move |asked: &Asked| {
        if asked.path == "/api/version" {
            return Answer::json(&json!({"version": "0.12.4"}));
        }
        if asked.bearer() != "sk-admin" {
            return Answer::refused();
        }
        let other = json!({"id": "other", "url": "http://other", "key": "sk-other"});
        match (asked.method.as_str(), asked.path.as_str()) {
            ("GET", "/api/v1/configs/terminal_servers") => Answer::json(&json!({
                "TERMINAL_SERVER_CONNECTIONS": if connection.is_null() {
                    json!([other])
                } else {
                    json!([other, connection])
                },
            })),
            ("POST", "/api/v1/configs/terminal_servers/verify") if found.is_null() => {
                Answer::status(400, &json!({"detail": "Failed to connect"}))
            }
            ("POST", "/api/v1/configs/terminal_servers/verify") => {
                assert_eq!(asked.json()["id"], connection["id"]);
                Answer::json(found)
            }
            _ => Answer::json(&json!({"users": [], "total": 0})),
        }
    })
}

/// What doctor says of the terminal.
fn said_of_terminal(webui: &StandIn, key: &str) -> String {
    let setup = asking(&webui.url()).env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin");
    let setup = match key {
        "" => setup,
        key => setup.env("FILESHED_TERMINAL_API_KEYS", key),
    };
    let finished = setup.run(&["doctor"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        !finished.stdout.contains("terminal-key"),
        "{}",
        finished.stdout
    );
    let mut lines = finished.stdout.lines();
    let line = lines.find(|line| line.contains(" terminal: "));
    line.unwrap_or_default().to_owned()
}

#[test]
fn it_says_whether_open_webui_has_the_terminal_and_reaches_it() {
    static TERMINAL: LazyLock<Value> = LazyLock::new(|| json!({"type": "terminal"}));
    static OTHER: LazyLock<Value> = LazyLock::new(|| json!({"type": "openapi"}));
    static NOTHING: Value = Value::Null;
    let ours = json!({
        "id": "files", "url": "http://fileshed:8000/terminal", "auth_type": "bearer",
        "key": "terminal-key", "enabled": true, "config": {"chat_uploads": "filesystem"},
    });
    let with = |changes: Value| {
        let mut connection = ours.clone();
        for (name, value) in changes.as_object().unwrap() {
            connection[name] = value.clone();
        }
        connection
    };
    for (connection, found, key, expected) in [
        (
            ours.clone(),
            &*TERMINAL,
            "terminal-key",
            "ok      terminal: Open WebUI reaches http://fileshed:8000/terminal; what is attached to \
             a chat comes here",
        ),
        (
            with(json!({"config": {}})),
            &TERMINAL,
            "terminal-key",
            "ok      terminal: Open WebUI reaches http://fileshed:8000/terminal; what is attached to \
             a chat stays in Open WebUI",
        ),
        (Value::Null, &TERMINAL, "", ""),
        (
            Value::Null,
            &TERMINAL,
            "terminal-key",
            "warning terminal: Open WebUI has no terminal connection to this server: \
             `fileshed openwebui register --terminal` makes it",
        ),
        (
            ours.clone(),
            &NOTHING,
            "terminal-key",
            "warning terminal: Open WebUI does not reach http://fileshed:8000/terminal: start this \
             server, or `fileshed openwebui register --terminal` puts it right, with --server-url",
        ),
        (
            ours.clone(),
            &OTHER,
            "terminal-key",
            "warning terminal: what Open WebUI finds at http://fileshed:8000/terminal is no \
             terminal: `fileshed openwebui register --terminal` puts it right",
        ),
        (
            with(json!({"id": "fileshed", "key": "old"})),
            &TERMINAL,
            "terminal-key",
            "warning terminal: the connection to http://fileshed:8000/terminal has a key that is \
             none of terminal_api_keys: `fileshed openwebui register --terminal` puts it right",
        ),
        (
            with(json!({"enabled": false})),
            &TERMINAL,
            "terminal-key",
            "warning terminal: the connection to http://fileshed:8000/terminal is turned off in \
             Open WebUI",
        ),
        (
            with(
                json!({"id": "fileshed", "url": "http://127.0.0.1:8000/terminal/", "auth_type": "session", "key": ""}),
            ),
            &TERMINAL,
            "",
            "ok      terminal: Open WebUI reaches http://127.0.0.1:8000/terminal/; what is attached \
             to a chat comes here",
        ),
    ] {
        let webui = with_terminal(&connection, found);
        assert_eq!(said_of_terminal(&webui, key), expected);
    }
}
