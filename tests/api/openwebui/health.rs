//! `fileshed doctor` and Open WebUI: whether it answers, and takes the key. The server is ready
//! without it.

use serde_json::{Value, json};

use fileshed_test_support::standin::{Answer, Asked, StandIn, nobody};
use fileshed_test_support::{Server, Setup, TestApp};

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

/// Runs `doctor` and returns its line about Open WebUI.
fn said(setup: &Setup) -> String {
    let finished = setup.run(&["doctor"]);
    let whole = finished.stdout + &finished.stderr;
    assert!(!whole.contains("sk-"), "{whole}");
    let failed = whole.lines().any(|line| line.starts_with("failed"));
    assert_eq!(finished.code, Some(i32::from(failed)), "{whole}");
    let line = whole.lines().find(|line| line.contains(" openwebui: "));
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
        plain.starts_with("ok      openwebui: version 0.12.4 answers; its"),
        "{plain}"
    );
    let with = |key: &str| said(&setup.clone().env("FILESHED_OPENWEBUI_ADMIN_KEY", key));
    let good = with("sk-admin");
    assert!(
        good.starts_with("ok") && good.ends_with("and accepts openwebui_admin_key"),
        "{good}"
    );
    let bad = with("sk-user");
    assert!(
        bad.starts_with("failed") && bad.contains("is not the key of an administrator"),
        "{bad}"
    );
}

#[test]
fn who_is_away_or_somebody_else_is_a_failure() {
    let away = said(&asking(&nobody()));
    assert!(
        away.starts_with("failed  openwebui: does not answer at http://127.0.0.1:"),
        "{away}"
    );
    let with_key = asking(&nobody()).env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin");
    let doctor = with_key.run(&["doctor"]).stdout;
    assert!(doctor.contains("failed  tools: not tried: "), "{doctor}");
    let page = StandIn::answering(|_: &Asked| Answer::bytes("<html>"));
    let other = said(&asking(&page.url()));
    assert!(other.contains("is not Open WebUI"), "{other}");
}

#[test]
fn groups_that_nobody_is_asked_for_are_a_warning() {
    let webui = webui();
    let setup = || asking(&webui.url()).env("FILESHED_GROUPS", "openwebui");
    let warning = "groups: `groups` is openwebui without `openwebui_admin_key`";
    let doctor = setup().run(&["doctor"]).stdout;
    assert!(doctor.contains(&format!("warning {warning}")), "{doctor}");
    let server = setup().start();
    assert_eq!(server.client().get("/ready").status, 200);
    assert!(server.logged(warning), "{}", server.log());
    let keyed = setup().env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin");
    let doctor = keyed.run(&["doctor"]);
    assert!(!doctor.stdout.contains(warning), "{doctor:?}");
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

/// Open WebUI with these connections; its calls of tools find `who`, those of a terminal this answer.
fn connected(tools: Value, terminals: Value, who: Value, terminal: (u16, Value)) -> StandIn {
    StandIn::answering(move |asked: &Asked| {
        if asked.path == "/api/version" {
            return Answer::json(&json!({"version": "0.12.4"}));
        }
        if asked.bearer() != "sk-admin" {
            return Answer::refused();
        }
        match (asked.method.as_str(), asked.path.as_str()) {
            ("GET", "/api/v1/configs/tool_servers") => {
                Answer::json(&json!({"TOOL_SERVER_CONNECTIONS": tools}))
            }
            ("GET", "/api/v1/configs/terminal_servers") => {
                Answer::json(&json!({"TERMINAL_SERVER_CONNECTIONS": terminals}))
            }
            ("POST", "/openai/verify") => {
                let message = asked.json();
                assert_eq!(message["url"], "http://fileshed:8000/page/session?for=");
                assert_eq!(message["key"], tools[0]["key"]);
                assert_eq!(message["config"]["headers"], tools[0]["headers"]);
                match who {
                    Value::Null => {
                        Answer::status(500, &json!({"detail": "Server Connection Error"}))
                    }
                    _ => Answer::json(&who),
                }
            }
            ("POST", "/api/v1/configs/tool_servers/verify") => match tools[0]["path"].as_str() {
                Some("wrong.json") => Answer::status(400, &json!({"detail": "Failed"})),
                _ => Answer::json(&json!({"status": true})),
            },
            ("GET", "/api/v1/terminals/files/files/cwd") => Answer::status(terminal.0, &terminal.1),
            _ => Answer::json(&json!({"users": [], "total": 0})),
        }
    })
}

/// The lines of doctor about the connections, and whether it failed.
fn tried(webui: &StandIn, settings: &[(&str, &str)]) -> (Vec<String>, bool) {
    let setup = asking(&webui.url()).env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin");
    let setup = settings
        .iter()
        .fold(setup, |setup, (name, value)| setup.env(name, value));
    let finished = setup.run(&["doctor"]);
    for secret in ["sk-admin", "service-key", "terminal-key", "old-key"] {
        assert!(!finished.stdout.contains(secret), "{}", finished.stdout);
    }
    let lines = finished.stdout.lines().filter(|line| {
        [" tools: ", " mcp: ", " terminal: "]
            .iter()
            .any(|name| line.contains(name))
    });
    (lines.map(str::to_owned).collect(), finished.code == Some(1))
}

fn tools(changes: &Value) -> Value {
    let mut connection = json!({
        "type": "openapi", "url": "http://fileshed:8000", "path": "openapi.json", "auth_type": "bearer",
        "key": "service-key", "config": {"enable": true}, "info": {"id": "fileshed"},
        "headers": {"X-OpenWebUI-User-Id": "{{USER_ID}}", "X-OpenWebUI-Chat-Id": "{{CHAT_ID}}"},
    });
    for (name, value) in changes.as_object().expect("an object") {
        connection[name] = value.clone();
    }
    connection
}

#[test]
fn it_tries_the_connections_of_tools_that_open_webui_keeps() {
    let ada = json!({"signed_in": true, "name": "Ada", "refusal": null});
    let refused = |code: &str| {
        let refusal = json!({"code": code, "message": "no user is named", "hint": "name one"});
        json!({"signed_in": false, "name": null, "refusal": refusal})
    };
    let at = "the connection to http://fileshed:8000";
    for (changes, who, expected) in [
        (
            json!({}),
            ada.clone(),
            format!("ok      tools: a call by {at} arrives as Ada"),
        ),
        (
            json!({"type": "mcp", "url": "http://fileshed:8000/mcp/core"}),
            ada.clone(),
            format!("ok      mcp: a call by {at}/mcp/core arrives as Ada"),
        ),
        (
            json!({"key": "old-key"}),
            refused("UNAUTHORIZED"),
            format!(
                "failed  tools: a call by {at} is refused, this server does not accept its key: \
                 `fileshed openwebui register` renews it"
            ),
        ),
        (
            json!({"headers": {}}),
            refused("INVALID_USER"),
            format!("failed  tools: a call by {at} is refused: no user is named; name one"),
        ),
        (
            json!({"headers": {"x-openwebui-user-id": "{{USER_ID}}"}}),
            ada.clone(),
            format!(
                "ok      tools: a call by {at} arrives as Ada; it names its chat only if \
                 ENABLE_FORWARD_USER_INFO_HEADERS is on there, or after `fileshed openwebui register`"
            ),
        ),
        (
            json!({}),
            json!({"models": []}),
            format!("failed  tools: the server that Open WebUI reaches by {at} is not fileshed"),
        ),
        (
            json!({}),
            Value::Null,
            format!(
                "failed  tools: Open WebUI does not reach this server by {at}: start it, or run \
                 `fileshed openwebui register --server-url <address>`"
            ),
        ),
        (
            json!({"path": "wrong.json"}),
            ada.clone(),
            format!(
                "failed  tools: Open WebUI reads no tools by {at}: correct its path with `fileshed \
                 openwebui register`, and set ENABLE_TOOL_SERVERS=True there"
            ),
        ),
        (
            json!({"config": {"enable": false}}),
            ada.clone(),
            format!("failed  tools: {at} is turned off in Open WebUI"),
        ),
    ] {
        let webui = connected(json!([tools(&changes)]), json!([]), who, (200, Value::Null));
        let (lines, is_failure) = tried(&webui, &[("FILESHED_API_KEYS", "service-key")]);
        assert_eq!(lines, [expected.as_str()]);
        assert_eq!(is_failure, expected.starts_with("failed"), "{expected}");
    }
}

#[test]
fn it_knows_a_key_that_the_server_made() {
    let server = Server::with().env("FILESHED_API_KEYS", "auto").start();
    let key = std::fs::read_to_string(server.data().join(".fs_api_keys")).unwrap();
    let refusal = json!({"code": "UNAUTHORIZED", "message": "not one of mine", "hint": "sign in"});
    let who = json!({"signed_in": false, "name": null, "refusal": refusal});
    let connection = tools(&json!({"key": key.trim()}));
    let webui = connected(json!([connection]), json!([]), who, (200, Value::Null));
    let url = format!("--openwebui-api-url={}", webui.url());
    let doctor = server.run(&["doctor", &url, "--openwebui-admin-key=sk-admin"]);
    let cause = "the running server has other `api_keys` than this configuration";
    assert!(doctor.stdout.contains(cause), "{doctor:?}");
}

#[test]
fn a_refused_credential_is_told_by_its_cause() {
    let refusal = json!({"code": "UNAUTHORIZED", "message": "not one of mine", "hint": "sign in"});
    let who = json!({"signed_in": false, "name": null, "refusal": refusal});
    let bearer = json!({});
    let session = json!({"auth_type": "session", "key": ""});
    for (changes, settings, cause) in [
        (
            &bearer,
            vec![],
            "no `api_keys` are set here: set those of the running server",
        ),
        (
            &bearer,
            vec![("FILESHED_API_KEYS", "service-key")],
            "the running server has other `api_keys` than this configuration",
        ),
        (
            &session,
            vec![],
            "start it with `openwebui_api_url`, or set its `api_keys` here",
        ),
        (
            &session,
            vec![(
                "FILESHED_WEBUI_SECRET_KEY",
                "webui-secret-webui-secret-webui",
            )],
            "is refused, not one of mine; sign in",
        ),
    ] {
        let tools = json!([tools(changes)]);
        let webui = connected(tools, json!([]), who.clone(), (200, Value::Null));
        let (lines, is_failure) = tried(&webui, &settings);
        assert!(is_failure && lines.len() == 1, "{lines:?}");
        assert!(lines[0].contains(cause), "{lines:?}");
    }
}

#[test]
fn a_connection_that_was_removed_is_missed() {
    let other = json!([{"url": "http://other", "key": "x", "info": {"id": "other"}}]);
    let webui = connected(
        other,
        json!([{"id": "lab", "url": "http://lab"}]),
        Value::Null,
        (200, Value::Null),
    );
    let missing = |name: &str, option: &str| {
        format!(
            "failed  {name}: Open WebUI has no connection to this server: `fileshed openwebui \
             register{option}` creates it"
        )
    };
    let (lines, is_failure) = tried(&webui, &[("FILESHED_TERMINAL_API_KEYS", "terminal-key")]);
    assert_eq!(
        lines,
        [missing("tools", ""), missing("terminal", " --terminal")]
    );
    assert!(is_failure);
}

#[test]
fn the_one_of_two_connections_that_was_removed_is_missed() {
    let at = "http://fileshed:8000";
    let ada = json!({"signed_in": true, "name": "Ada", "refusal": null});
    let cwd = json!({"cwd": "/storage"});
    let terminal = json!([{
        "id": "files", "url": format!("{at}/terminal"), "auth_type": "bearer",
        "key": "terminal-key", "config": {"chat_uploads": "filesystem"},
    }]);
    let tools = json!([tools(&json!({}))]);
    let keys = [
        ("FILESHED_API_KEYS", "service-key"),
        ("FILESHED_TERMINAL_API_KEYS", "terminal-key"),
        ("FILESHED_PUBLIC_URL", at),
    ];
    let none = json!([]);
    let is_tried = [
        format!("ok      tools: a call by the connection to {at} arrives as Ada"),
        format!(
            "ok      terminal: a call by the connection to {at}/terminal arrives; files attached to \
             a chat come here"
        ),
    ];
    let is_missed = ["tools", "terminal"]
        .map(|name| format!("failed  {name}: Open WebUI has no connection to this server: "));
    for (tools, terminals, settings, expected, is_failure) in [
        (
            &tools,
            &terminal,
            &keys[..],
            [&is_tried[0], &is_tried[1]],
            false,
        ),
        (&none, &terminal, &keys, [&is_tried[1], &is_missed[0]], true),
        (&tools, &none, &keys, [&is_tried[0], &is_missed[1]], true),
        // Keys of one kind alone say nothing about the other kind.
        (
            &none,
            &terminal,
            &keys[1..],
            [&is_tried[1], &is_tried[1]],
            false,
        ),
        (
            &tools,
            &none,
            &[keys[0], keys[2]],
            [&is_tried[0], &is_tried[0]],
            false,
        ),
    ] {
        let webui = connected(
            tools.clone(),
            terminals.clone(),
            ada.clone(),
            (200, cwd.clone()),
        );
        let (lines, failed) = tried(&webui, settings);
        for line in expected {
            assert!(lines.iter().any(|said| said.starts_with(line)), "{lines:?}");
        }
        assert_eq!(failed, is_failure, "{lines:?}");
    }
}

#[test]
fn it_tries_the_terminal_that_open_webui_keeps() {
    let at = "the connection to http://fileshed:8000/terminal";
    let ours = |changes: Value| {
        let mut connection = json!({
            "id": "files", "url": "http://fileshed:8000/terminal", "auth_type": "bearer",
            "key": "terminal-key", "enabled": true, "config": {"chat_uploads": "filesystem"},
        });
        for (name, value) in changes.as_object().expect("an object") {
            connection[name] = value.clone();
        }
        connection
    };
    let arrives = format!("ok      terminal: a call by {at} arrives; files attached to a chat");
    for (changes, status, expected) in [
        (json!({}), 200, format!("{arrives} come here")),
        (
            json!({"config": {}}),
            200,
            format!("{arrives} stay in Open WebUI"),
        ),
        (
            json!({}),
            401,
            format!(
                "failed  terminal: a call by {at} is refused, the running server has other \
                 `terminal_api_keys` than this configuration: set its keys here and run `fileshed \
                 openwebui register --terminal`, or start it with these"
            ),
        ),
        (
            json!({"key": "old-key", "id": "files"}),
            401,
            format!(
                "failed  terminal: a call by {at} is refused, this server does not accept its key: \
                 `fileshed openwebui register --terminal` renews it"
            ),
        ),
        (
            json!({}),
            403,
            format!("failed  terminal: a call by {at} is refused: give it a key of terminals"),
        ),
        (
            json!({}),
            400,
            format!("failed  terminal: a call by {at} is refused with status 400"),
        ),
        (
            json!({}),
            502,
            format!(
                "failed  terminal: Open WebUI does not reach this server by {at}: start it, or run \
                 `fileshed openwebui register --terminal --server-url <address>`"
            ),
        ),
        (
            json!({"enabled": false}),
            200,
            format!("failed  terminal: {at} is turned off in Open WebUI"),
        ),
    ] {
        let answer = match status {
            403 => json!({"detail": "give it a key of terminals", "code": "ACCESS_DENIED"}),
            _ => json!({"cwd": "/storage"}),
        };
        let terminals = json!([ours(changes)]);
        let webui = connected(json!([]), terminals, Value::Null, (status, answer));
        let (lines, is_failure) = tried(
            &webui,
            &[
                ("FILESHED_TERMINAL_API_KEYS", "terminal-key"),
                ("FILESHED_PUBLIC_URL", "http://fileshed:8000"),
            ],
        );
        assert_eq!(lines, [expected.as_str()]);
        assert_eq!(is_failure, expected.starts_with("failed"), "{expected}");
    }
}
