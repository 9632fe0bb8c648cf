//! `POST /terminal/execute`

use fileshed_test_support::TestApp;
use serde_json::json;

use super::{execute, listed, ran, ran_with, stdout, written};

#[test]
fn a_line_is_run_and_answered_with_all_fields() {
    let app = TestApp::start();
    let answer = ran(&app.client(), "echo hello");
    let id = answer["id"].as_str().expect("an id");
    assert!(
        id.len() >= 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{id}"
    );
    assert_eq!(
        answer,
        json!({
            "id": id,
            "command": "echo hello",
            "cwd": "/storage",
            "status": "done",
            "exit_code": 0,
            "output": [{"type": "stdout", "data": "hello\n"}],
            "truncated": false,
            "next_offset": 1,
            "log_path": format!("/logs/{id}.jsonl"),
        })
    );
}

#[test]
fn the_shell_has_pipes_loops_and_conditions() {
    let app = TestApp::start();
    let client = app.client();
    let cases = [
        ("printf 'b\\na\\n' | sort | head -n 1", "a\n"),
        ("for n in 1 2 3; do echo $n; done | wc -l", "3\n"),
        ("true && echo yes || echo no", "yes\n"),
        ("false && echo yes || echo no", "no\n"),
        ("echo $((6 * 7)); echo \"$(echo inner)\"", "42\ninner\n"),
        ("cat <<END\nin a document\nEND", "in a document\n"),
        ("(echo in a subshell) 2>&1", "in a subshell\n"),
    ];
    for (command, expected) in cases {
        let answer = ran(&client, command);
        assert_eq!(stdout(&answer), expected, "{command}: {answer}");
        assert_eq!(answer["exit_code"], 0, "{command}: {answer}");
    }
    let failed = ran(&client, "echo out; echo err >&2; exit 3");
    assert_eq!(
        (&failed["status"], &failed["exit_code"]),
        (&json!("done"), &json!(3))
    );
    assert_eq!(
        (stdout(&failed), written(&failed, "stderr")),
        ("out\n".into(), "err\n".into())
    );
    let unknown = ran(&client, "no-such-program");
    assert_eq!(unknown["exit_code"], 127, "{unknown}");
}

#[test]
fn files_are_written_where_redirections_lead() {
    let app = TestApp::start();
    let client = app.client();
    let answer = ran(
        &client,
        "mkdir -p notes && seq 3 > notes/a.txt && cat < notes/a.txt",
    );
    assert_eq!(stdout(&answer), "1\n2\n3\n", "{answer}");
    let read = app.call(
        "shed_exec",
        &json!({"zone": "storage", "cmd": "cat", "args": ["notes/a.txt"]}),
    );
    assert_eq!(read.body["data"]["stdout"], "1\n2\n3\n", "{}", read.text);
    let there = ran_with(&client, &json!({"command": "pwd; ls", "cwd": "notes"}));
    assert_eq!(there["cwd"], "/storage/notes");
    assert!(stdout(&there).ends_with("a.txt\n"), "{there}");
    let absolute = ran_with(&client, &json!({"command": "ls", "cwd": "/storage/notes/"}));
    assert_eq!(stdout(&absolute), "a.txt\n", "{absolute}");
    let missing = execute(
        &client,
        "",
        &json!({"command": "ls", "cwd": "/storage/none"}),
    );
    assert_eq!(missing.status, 404, "{}", missing.text);
}

#[test]
fn variables_of_the_call_are_there_and_no_others_of_the_server() {
    let server = TestApp::with().env("FILESHED_LOG_LEVEL", "info").app();
    let answer = ran_with(
        &server.client(),
        &json!({"command": "echo $NAME $COUNT; env", "env": {"NAME": "ada", "COUNT": 7}}),
    );
    let text = stdout(&answer);
    assert!(text.starts_with("ada 7\n"), "{answer}");
    assert!(!text.contains("FILESHED"), "{text}");
    assert!(
        !text.contains(&server.data().display().to_string()),
        "{text}"
    );
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let app = TestApp::start();
    let client = app.client();
    for (query, arguments) in [
        ("", json!({"command": "  "})),
        ("", json!({})),
        ("?wait=-1", json!({"command": "true"})),
        ("?wait=301", json!({"command": "true"})),
        ("?wait=soon", json!({"command": "true"})),
        ("?tail=0", json!({"command": "true"})),
        ("", json!({"command": "true", "env": {"LIST": [1]}})),
    ] {
        let answer = execute(&client, query, &arguments);
        assert_eq!(answer.status, 400, "{query} {arguments}: {}", answer.text);
        assert!(answer.body["detail"].is_string(), "{}", answer.text);
    }
    let patient = execute(&client, "?wait=null&tail=null", &json!({"command": "true"}));
    assert_eq!(patient.status, 200, "{}", patient.text);
}

#[test]
fn models_are_told_the_facts_of_this_server() {
    let description = |network: &str| {
        let app = TestApp::with().env("FILESHED_NETWORK_MODE", network).app();
        let document = app.client().get("/terminal/openapi.json").body;
        let described = document["paths"]["/execute"]["post"]["description"].as_str();
        described.expect("a description").to_owned()
    };
    let without = description("disabled");
    for fact in [
        "No network",
        "512 MB",
        "240 minutes",
        "16 at once",
        "Installed: ",
    ] {
        assert!(without.contains(fact), "{fact}: {without}");
    }
    assert!(without.len() <= 600, "{}: {without}", without.len());
    assert!(description("safe").contains("downloads only"));
}

#[test]
fn a_call_that_cannot_be_answered_starts_nothing() {
    let app = TestApp::start();
    let client = app.client();
    for query in ["?wait=3600", "?wait=-1", "?tail=0"] {
        let refused = execute(&client, query, &json!({"command": "touch done"}));
        assert_eq!(refused.status, 400, "{query}: {}", refused.text);
    }
    assert!(listed(&client).is_empty());
    assert_eq!(stdout(&ran(&client, "ls")), "");
}
