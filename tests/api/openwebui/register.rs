//! `fileshed openwebui register`, against a list that a stand-in keeps.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use fileshed_test_support::standin::{Answer, Asked, StandIn, nobody};
use fileshed_test_support::{Finished, Setup, TestApp};

const LIST: &str = "/api/v1/configs/tool_servers";
const VERIFY: &str = "/api/v1/configs/tool_servers/verify";

/// Connections that Open WebUI keeps.
type Kept = Arc<Mutex<Vec<Value>>>;

/// A connection of another tool, with members that a careless reader would lose.
fn other() -> Value {
    json!({
        "url": "http://other", "path": "", "type": "mcp", "auth_type": "none", "key": null,
        "config": null, "info": null, "headers": "text", "zeta": [1, 2.50, -0.0], "alpha": {"b": 1, "a": null},
    })
}

fn keeping(kept: &Kept) -> StandIn {
    let kept = Arc::clone(kept);
    StandIn::answering(move |asked: &Asked| {
        let path = asked.path.as_str();
        if path == "/api/version" {
            return Answer::json(&json!({"version": "0.12.4"}));
        }
        if asked.bearer() != "sk-admin" {
            return Answer::refused();
        }
        let mut kept = kept.lock().unwrap();
        match (asked.method.as_str(), path) {
            ("GET", LIST) => Answer::json(&json!({"TOOL_SERVER_CONNECTIONS": *kept})),
            ("POST", LIST) => {
                let list = asked.json()["TOOL_SERVER_CONNECTIONS"].take();
                kept.clone_from(list.as_array().unwrap());
                Answer::json(&json!({"TOOL_SERVER_CONNECTIONS": list}))
            }
            ("POST", VERIFY) => verify(&asked.json()),
            ("POST", "/openai/verify") => who(&asked.json()),
            ("GET", "/api/v1/groups/") => Answer::json(&json!([
                {"id": "g1", "name": "Team"}, {"id": "g2", "name": "Twins"}, {"id": "g3", "name": "Twins"},
            ])),
            ("GET", "/api/v1/users/u1") => Answer::json(&user()),
            // Answer of an older version to a path that it does not know.
            ("GET", "/api/v1/users/someone") => Answer::bytes("<html>"),
            ("GET", path) if path.starts_with("/api/v1/users/search?query=ada%40") => {
                Answer::json(&json!({"users": [user()], "total": 1}))
            }
            ("GET", path) if path.starts_with("/api/v1/users/search") => {
                Answer::json(&json!({"users": [], "total": 0}))
            }
            _ => Answer::status(400, &json!({"detail": "Not Found"})),
        }
    })
}

fn user() -> Value {
    json!({"id": "u1", "name": "Ada", "email": "Ada@example.org", "role": "user"})
}

/// The answer of a server that takes one service key and no sessions.
fn who(call: &Value) -> Answer {
    let is_taken = call["key"] == "service-key";
    let refusal = json!({"code": "UNAUTHORIZED", "message": "unknown", "hint": "bring a key"});
    let refusal = if is_taken { Value::Null } else { refusal };
    Answer::json(&json!({"signed_in": is_taken, "name": "Ada", "refusal": refusal}))
}

/// Answers for the server that is found at an address.
fn verify(connection: &Value) -> Answer {
    let found = |title: &str| {
        let paths = json!({"/shed_help": {}, "/shed_exec": {}});
        Answer::json(&json!({"info": {"title": title, "version": "1.2.3"}, "paths": paths}))
    };
    match connection["url"].as_str().unwrap() {
        "http://fileshed:8000" => found("fileshed"),
        "http://elsewhere" => found("elsewhere"),
        "http://text" => Answer::json(&json!("<html>")),
        "http://off" => Answer::status(403, &json!({"detail": "Tool servers are disabled"})),
        _ => Answer::status(
            400,
            &json!({"detail": "Failed to connect to the tool server"}),
        ),
    }
}

fn setup(webui: &StandIn) -> Setup {
    TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin")
}

fn register(setup: &Setup, more: &[&str]) -> Finished {
    let address = ["--server-url", "http://fileshed:8000"];
    register_again(setup, &[&address, more].concat())
}

/// Registers without an address, as in a later run.
fn register_again(setup: &Setup, more: &[&str]) -> Finished {
    let begin = ["openwebui", "register"];
    let finished = setup.run(&[&begin, more].concat());
    for said in [&finished.stdout, &finished.stderr] {
        for secret in ["sk-admin", "service-key"] {
            assert!(!said.contains(secret), "{said}");
        }
    }
    finished
}

#[track_caller]
fn done<'a>(finished: &'a Finished, line: &str) -> &'a str {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(finished.stderr, "");
    assert!(
        finished.stdout.lines().any(|said| said == line),
        "{}",
        finished.stdout
    );
    &finished.stdout
}

#[track_caller]
fn failed(finished: &Finished, said: &str) {
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains(said), "{}", finished.stderr);
    assert_eq!(finished.stdout, "");
}

/// Returns the number of writes of the list.
fn written(webui: &StandIn) -> usize {
    let asked = webui.asked();
    let writes = asked
        .iter()
        .filter(|asked| asked.method == "POST" && asked.path == LIST);
    writes.count()
}

#[test]
fn it_is_added_once_and_renewed_where_something_changed() {
    let kept = Kept::new(Mutex::new(vec![other()]));
    let webui = keeping(&kept);
    let setup = setup(&webui);

    let would = register(&setup, &["--dry-run"]);
    done(&would, "would add the connection `fileshed`:");
    assert_eq!(written(&webui), 0);

    let added = register(&setup, &[]);
    let said = done(&added, "added the connection `fileshed`:");
    assert!(said.contains("Open WebUI 0.12.4 at http://"), "{said}");
    assert!(said.contains("fileshed 1.2.3, 2 operations"), "{said}");
    done(&added, "granted to: everyone");
    {
        let list = kept.lock().unwrap();
        assert_eq!(list[0].to_string(), other().to_string());
        assert_eq!(list[1]["key"], "service-key");
        assert_eq!(list[1]["headers"]["X-OpenWebUI-User-Id"], "{{USER_ID}}");
        assert_eq!(list.len(), 2);
    }

    let again = register(&setup, &[]);
    done(
        &again,
        "nothing to do: the connection `fileshed` is up to date",
    );
    assert_eq!(written(&webui), 1);

    let core = register(&setup, &["--toolset", "core", "--dry-run"]);
    done(&core, "would update the connection `fileshed`:");
    let core = register(&setup, &["--toolset", "core"]);
    done(&core, "  path: openapi.json?toolset=core");
    assert_eq!(written(&webui), 2);
    done(
        &register(&setup, &[]),
        "nothing to do: the connection `fileshed` is up to date",
    );
    assert_eq!(kept.lock().unwrap()[0].to_string(), other().to_string());

    // Another one beside it.
    done(
        &register(&setup, &["--id", "second"]),
        "note: the connection `fileshed` also leads to this server, so users find every tool twice",
    );
    assert_eq!(kept.lock().unwrap().len(), 3);
}

#[test]
fn the_address_stays_unless_it_is_given() {
    let kept = Kept::default();
    let webui = keeping(&kept);
    let setup = setup(&webui).env("FILESHED_PUBLIC_URL", "http://elsewhere");
    done(&register(&setup, &[]), "added the connection `fileshed`:");
    let again = register_again(&setup, &[]);
    let line = "nothing to do: the connection `fileshed` is up to date";
    let said = done(&again, line);
    assert!(
        said.contains("reads http://fileshed:8000/openapi.json"),
        "{said}"
    );
    assert_eq!(written(&webui), 1);
    // Another connection to the same address is noticed by the address that stays.
    kept.lock().unwrap()[0]["info"]["id"] = json!("first");
    register(&setup, &[]);
    let note = "note: the connection `fileshed` also leads to this server, so users find every tool \
                twice";
    done(&register_again(&setup, &[]), note);
    // The setting is for a connection that has no address yet.
    kept.lock().unwrap()[1]["url"] = Value::Null;
    failed(
        &register_again(&setup, &[]),
        "at http://elsewhere/openapi.json",
    );
}

#[test]
fn grants_are_resolved_and_stay_unless_they_are_said() {
    let kept = Kept::default();
    let webui = keeping(&kept);
    let setup = setup(&webui);
    let grants = || kept.lock().unwrap()[0]["config"]["access_grants"].clone();
    let grant = |kind: &str, id: &str| json!({"principal_type": kind, "principal_id": id, "permission": "read"});

    let words = [
        "--grant",
        "group:Team",
        "--grant",
        "user:ada@example.org",
        "--grant",
        "user:u1",
    ];
    let finished = register(&setup, &words);
    done(&finished, "granted to: group Team, user Ada@example.org");
    assert_eq!(grants(), json!([grant("group", "g1"), grant("user", "u1")]));
    let renewed = register(&setup, &["--name", "Shed"]);
    done(&renewed, "granted to: group Team, user Ada@example.org");
    let nobody = register(&setup, &["--grant", "nobody"]);
    done(&nobody, "granted to: administrators only");
    assert_eq!(grants(), json!([]));
    let everyone = register(&setup, &["--grant", "everyone"]);
    done(&everyone, "granted to: everyone");
    assert_eq!(grants(), json!([grant("user", "*")]));
    done(
        &register(&setup, &["--grant", "group:g3"]),
        "granted to: group Twins",
    );

    let before = written(&webui);
    for (who, said) in [
        ("group:None", "no group `None`, only Team, Twins, Twins"),
        (
            "group:Twins",
            "several groups `Twins`: give the id, one of g2, g3",
        ),
        ("user:someone", "no user `someone`"),
        ("user:..", "no user `..`"),
    ] {
        failed(&register(&setup, &["--grant", who]), said);
    }
    for words in [
        &["--grant", "Team"][..],
        &["--grant", "group:"],
        &["--grant", "nobody", "--grant", "everyone"],
        &["--auth", "none"],
        &["--toolset", "small"],
        &["--id", ""],
        &["--url", "chat.example.org"],
    ] {
        assert_eq!(register(&setup, words).code, Some(2), "{words:?}");
    }
    assert_eq!(setup.run(&["openwebui"]).code, Some(2));
    assert_eq!(written(&webui), before);
}

#[test]
fn open_webui_has_to_reach_the_server() {
    let kept = Kept::default();
    let webui = keeping(&kept);
    let setup = setup(&webui);
    let at = |url: &str, more: &[&str]| {
        let begin = ["openwebui", "register", "--server-url", url];
        setup.run(&[&begin, more].concat())
    };
    failed(
        &at("http://gone", &[]),
        "cannot read http://gone/openapi.json",
    );
    failed(&at("http://gone", &["--dry-run"]), "--server-url");
    failed(
        &at("http://elsewhere", &[]),
        "at http://elsewhere/openapi.json is not fileshed",
    );
    failed(&at("http://text", &[]), "is not fileshed");
    failed(&at("http://off", &[]), "ENABLE_TOOL_SERVERS");
    assert_eq!(written(&webui), 0);
    done(
        &at("http://gone", &["--no-verify"]),
        "added the connection `fileshed`:",
    );
    assert_eq!(kept.lock().unwrap()[0]["url"], "http://gone");
}

#[test]
fn what_is_missing_or_wrong_is_said() {
    let kept = Kept::default();
    let webui = keeping(&kept);
    failed(&register(&TestApp::with(), &[]), "`--url`");
    let url = webui.url();
    let setup = TestApp::with().env("FILESHED_OPENWEBUI_API_URL", &url);
    failed(&register(&setup, &[]), "`openwebui_admin_key`");
    failed(
        &register(&setup, &["--admin-token", "sk-user"]),
        "give the session token",
    );
    let bearer = ["--admin-token", "sk-admin", "--auth", "bearer"];
    failed(&register(&setup, &bearer), "`api_keys`");
    // No server, a page, a redirect, an answer of another program.
    let token = ["--admin-token", "sk-admin", "--url"];
    failed(
        &register(&setup, &[&token[..], &[&nobody()]].concat()),
        "cannot be reached at http://127.0.0.1:",
    );
    let page = StandIn::answering(|_: &Asked| Answer::bytes("<html>"));
    let said = "is not Open WebUI";
    failed(
        &register(&setup, &[&token[..], &[&page.url()]].concat()),
        said,
    );
    let empty = StandIn::answering(|_: &Asked| Answer::json(&json!({})));
    failed(
        &register(&setup, &[&token[..], &[&empty.url()]].concat()),
        said,
    );
    let moved = StandIn::answering(|_: &Asked| Answer::status(308, &json!({})));
    let said = "redirects (status 308)";
    failed(
        &register(&setup, &[&token[..], &[&moved.url()]].concat()),
        said,
    );
    assert!(!setup.path("data").exists(), "nothing is made here");
}

#[test]
fn a_connection_that_the_server_refuses_replaces_none_that_works() {
    let kept = Kept::default();
    let webui = keeping(&kept);
    let added = register(&setup(&webui), &[]);
    let said = done(&added, "a call by it arrives as Ada");
    assert!(
        !said.contains("Function Calling"),
        "0.12 needs none: {said}"
    );
    let before = kept.lock().unwrap().clone();
    let keyless = TestApp::with()
        .env("FILESHED_OPENWEBUI_API_URL", &webui.url())
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin");
    let cause = "start it with `openwebui_api_url`, or set its `api_keys` here";
    failed(&register(&keyless, &[]), cause);
    failed(&register(&keyless, &["--dry-run"]), "nothing was changed");
    let other = setup(&webui).env("FILESHED_API_KEYS", "another-key");
    let cause = "the running server has other `api_keys` than this configuration";
    failed(&register(&other, &[]), cause);
    assert_eq!(*kept.lock().unwrap(), before);
    done(
        &register(&keyless, &["--no-verify"]),
        "updated the connection `fileshed`:",
    );
}

#[test]
fn the_address_may_be_said_for_one_run_only() {
    let kept = Kept::default();
    let webui = keeping(&kept);
    let elsewhere = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_OPENWEBUI_ADMIN_KEY", "sk-admin");
    done(
        &register(&elsewhere, &["--url", &webui.url()]),
        "added the connection `fileshed`:",
    );
}

#[test]
fn a_connection_that_is_not_kept_is_a_failure() {
    let webui = StandIn::answering(|asked: &Asked| match asked.path.as_str() {
        VERIFY => verify(&asked.json()),
        _ => Answer::json(&json!({"TOOL_SERVER_CONNECTIONS": []})),
    });
    failed(
        &register(&setup(&webui), &[]),
        "did not keep the connection",
    );
}

#[test]
fn what_else_is_needed_is_said() {
    let kept = Kept::default();
    let webui = keeping(&kept);
    let signed = setup(&webui).env("FILESHED_FORWARD_JWT_SECRET", "signed-secret");
    let finished = register(&signed, &["--dry-run"]);
    assert!(
        finished
            .stdout
            .contains("FORWARD_USER_INFO_HEADER_JWT_SECRET"),
        "{finished:?}"
    );
    assert!(!finished.stdout.contains("signed-secret"));
    let named = setup(&webui).env("FILESHED_GROUPS", "headers");
    let finished = register(&named, &["--dry-run"]);
    assert!(
        finished.stdout.contains("{{USER_GROUP_IDS}}"),
        "{finished:?}"
    );
    let words = ["--auth", "session", "--dry-run", "--no-verify"];
    let finished = register(&named, &words);
    assert!(
        finished.stdout.contains("set `groups` to openwebui"),
        "{finished:?}"
    );
    let bare = TestApp::with();
    let words = [
        "--url",
        &webui.url(),
        "--admin-token",
        "sk-admin",
        "--dry-run",
        "--no-verify",
    ];
    let finished = register(&bare, &words);
    assert!(
        finished.stdout.contains("`webui_secret_key`"),
        "{finished:?}"
    );
    assert!(
        finished.stdout.contains("auth_type: session"),
        "{finished:?}"
    );
}

const TERMINALS: &str = "/api/v1/configs/terminal_servers";

/// An Open WebUI that keeps terminals.
fn keeping_terminals(kept: &Kept) -> StandIn {
    let kept = Arc::clone(kept);
    StandIn::answering(move |asked: &Asked| {
        let mut kept = kept.lock().unwrap();
        let path = asked.path.strip_prefix(TERMINALS).unwrap_or("elsewhere");
        match (asked.method.as_str(), path) {
            _ if asked.path == "/api/version" => Answer::json(&json!({"version": "0.12.4"})),
            _ if asked.bearer() != "sk-admin" => Answer::refused(),
            ("GET", "") => Answer::json(&json!({"TERMINAL_SERVER_CONNECTIONS": *kept})),
            ("POST", "") => {
                let list = asked.json()["TERMINAL_SERVER_CONNECTIONS"].take();
                kept.clone_from(list.as_array().unwrap());
                Answer::json(&json!({"TERMINAL_SERVER_CONNECTIONS": list}))
            }
            ("POST", "/verify") => match asked.json()["url"].as_str().unwrap() {
                "http://fileshed:8000/terminal" => {
                    Answer::json(&json!({"status": true, "type": "terminal"}))
                }
                "http://pods/terminal" => {
                    Answer::json(&json!({"status": true, "type": "orchestrator"}))
                }
                _ => Answer::status(400, &json!({"detail": "Failed to connect"})),
            },
            _ if asked.path == "/openai/verify" => {
                let call = asked.json();
                assert_eq!(call["url"], "http://fileshed:8000/terminal/files/cwd?for=");
                assert_eq!(call["config"]["headers"]["X-User-Id"], "{{USER_ID}}");
                match call["key"].as_str() {
                    Some("terminal-key" | "") => Answer::json(&json!({"cwd": "/storage"})),
                    _ => Answer::status(401, &json!({"detail": "no", "code": "UNAUTHORIZED"})),
                }
            }
            _ => Answer::status(400, &json!({"detail": "Not Found"})),
        }
    })
}

#[test]
fn a_terminal_is_registered_beside_others_with_a_key_of_its_own() {
    let other = json!({"id": "lab", "name": null, "url": "http://lab", "odd": [1], "config": null});
    let kept = Kept::new(Mutex::new(vec![other.clone()]));
    let webui = keeping_terminals(&kept);
    let setup = setup(&webui)
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key,second")
        .env("FILESHED_GROUPS", "headers");
    let terminal = |more: &[&str]| register(&setup, &[&["--terminal"], more].concat());
    done(
        &terminal(&["--dry-run"]),
        "would add the connection `fileshed`:",
    );
    let added = terminal(&[]);
    let said = done(&added, "added the connection `fileshed`:");
    assert!(
        said.contains("reaches http://fileshed:8000/terminal: a terminal"),
        "{said}"
    );
    assert!(!said.contains("terminal-key"), "{said}");
    let expected = json!({
        "id": "fileshed", "name": "fileshed", "enabled": true,
        "url": "http://fileshed:8000/terminal", "path": "/openapi.json",
        "auth_type": "bearer", "key": "terminal-key",
        "headers": {
            "X-OpenWebUI-Chat-Id": "{{CHAT_ID}}",
            "X-OpenWebUI-Message-Id": "{{MESSAGE_ID}}",
            "X-OpenWebUI-User-Group-Ids": "{{USER_GROUP_IDS}}",
            "X-OpenWebUI-User-Groups": "{{USER_GROUPS}}",
        },
        "config": {
            "chat_uploads": "filesystem",
            "access_grants": [{"principal_type": "user", "principal_id": "*", "permission": "read"}],
        },
    });
    assert_eq!(*kept.lock().unwrap(), [other.clone(), expected]);
    let line = "nothing to do: the connection `fileshed` is up to date";
    done(&terminal(&[]), line);
    let moved = setup.clone().env("FILESHED_PUBLIC_URL", "http://pods");
    done(&register_again(&moved, &["--terminal"]), line);

    // Settings that an administrator chose in the dialog stay.
    kept.lock().unwrap()[1]["config"] = json!({"access_grants": [], "user_shell_tools": "always"});
    kept.lock().unwrap()[1]["name"] = json!("Computer");
    done(&terminal(&[]), line);
    let elsewhere = setup
        .clone()
        .env("FILESHED_TERMINAL_API_KEYS", "another-key");
    failed(
        &register(&elsewhere, &["--terminal"]),
        "the running server has other `terminal_api_keys`",
    );
    let session = terminal(&["--auth", "session"]);
    done(&session, "updated the connection `fileshed`:");
    {
        let list = kept.lock().unwrap();
        let (auth, key) = (&list[1]["auth_type"], &list[1]["key"]);
        assert_eq!(
            (auth, key, &list[1]["name"]),
            (&json!("session"), &json!(""), &json!("Computer"))
        );
        let headers = list[1]["headers"].as_object().expect("headers");
        let names: Vec<&str> = headers.keys().map(String::as_str).collect();
        assert_eq!(names, ["X-OpenWebUI-Chat-Id", "X-OpenWebUI-Message-Id"]);
        assert_eq!(list[0], other);
    }
    let again = terminal(&["--id", "second"]);
    assert!(
        again
            .stdout
            .contains("`Computer` also leads to this server"),
        "{again:?}"
    );
    assert_eq!(
        register(&setup, &["--terminal", "--toolset", "core"]).code,
        Some(2)
    );

    let at = |url: &str| setup.run(&["openwebui", "register", "--terminal", "--server-url", url]);
    failed(
        &at("http://pods"),
        "at http://pods/terminal is not fileshed",
    );
    failed(&at("http://gone"), "cannot read http://gone/terminal");
}

#[test]
fn a_terminal_needs_a_key_for_terminals_or_sessions() {
    let kept = Kept::default();
    let webui = keeping_terminals(&kept);
    let setup = setup(&webui);
    failed(
        &register(&setup, &["--terminal", "--auth", "bearer"]),
        "`terminal_api_keys`",
    );
    let added = register(&setup, &["--terminal"]);
    done(&added, "added the connection `fileshed`:");
    assert_eq!(kept.lock().unwrap()[0]["auth_type"], "session");

    let file = setup.run(&[
        "openwebui",
        "connection",
        "--terminal",
        "--server-url",
        "http://fileshed:8000",
    ]);
    let printed: Value = serde_json::from_str(&file.stdout).unwrap();
    assert_eq!(printed, json!(*kept.lock().unwrap()));
    assert!(
        file.stderr.contains("TERMINAL_SERVER_CONNECTIONS"),
        "{file:?}"
    );
}
