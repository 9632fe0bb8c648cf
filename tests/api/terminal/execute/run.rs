//! `POST /terminal/execute`

use fileshed_test_support::{TestApp, has_program};
use serde_json::json;

use super::{execute, last, listed, ran, ran_with, status, stdout, written};

#[test]
fn a_line_is_run_and_answered_with_what_its_caller_cannot_know() {
    let app = TestApp::start();
    let client = app.client();
    let answer = ran(&client, "echo hello");
    let output = json!([{"type": "stdout", "data": "hello\n"}]);
    assert_eq!(
        answer,
        json!({"status": "done", "exit_code": 0, "output": output})
    );
    let id = last(&client)["id"].as_str().expect("an id").to_owned();
    assert!(
        id.len() >= 12 && id.bytes().all(|byte| byte.is_ascii_hexdigit()),
        "{id}"
    );
    // The application reads these of a status.
    assert_eq!(
        status(&client, &id, "").body,
        json!({
            "id": id,
            "command": "echo hello",
            "cwd": "/storage",
            "status": "done",
            "exit_code": 0,
            "output": output,
            "truncated": false,
            "next_offset": 1,
            "log_path": format!("/logs/{id}.jsonl"),
        })
    );
    // A line that runs on, or whose output is not whole, can be asked for.
    let runs = execute(&client, "?wait=0", &json!({"command": "sleep 600"})).body;
    assert_eq!(
        runs,
        json!({"id": last(&client)["id"], "status": "running", "output": [], "next_offset": 0})
    );
    let cut = execute(
        &client,
        "?wait=60&tail=1",
        &json!({"command": "echo 1; sleep 1; echo 2"}),
    );
    let log_path = &last(&client)["log_path"];
    assert_eq!(
        (&cut.body["truncated"], &cut.body["log_path"]),
        (&json!(true), log_path)
    );
    assert_eq!(cut.body["id"], last(&client)["id"]);
}

#[test]
fn answers_of_a_terminal_are_short() {
    let app = TestApp::start();
    let client = app.client();
    let echo = ran(&client, "echo hello").to_string();
    assert!(echo.len() <= 90, "{} characters: {echo}", echo.len());
    // As an interpreter writes it: piece by piece.
    let trace = "for line in Traceback one two three four five six; do \
        printf '  %s' $line >&2; sleep 0.05; done; exit 1";
    let trace = ran(&client, trace);
    assert_eq!(trace["output"].as_array().map(Vec::len), Some(1), "{trace}");
    let length = trace.to_string().len();
    assert!(length <= 140, "{length} characters: {trace}");
    for number in 0..27 {
        ran(&client, &format!("echo {number} > file-{number}.txt"));
    }
    let listed = client.get("/terminal/files/table?directory=/storage");
    assert!(
        listed.text.len() <= 1200,
        "{} characters: {}",
        listed.text.len(),
        listed.text
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
    assert_eq!(stdout(&there), "/storage/notes\na.txt\n", "{there}");
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

#[test]
fn a_program_that_is_no_use_here_is_answered_with_what_to_call() {
    let app = TestApp::start();
    let client = app.client();
    for (command, instead) in [
        ("vim notes.txt", "replace_file_content"),
        ("nano notes.txt", "write_file"),
        ("ps aux | head -n 1", "list_processes"),
        ("htop", "list_processes"),
        ("free -m", "du -sh"),
        ("sudo ls", "run the command itself"),
        ("whoami", "one user"),
    ] {
        let answer = ran(&client, command);
        let said = written(&answer, "stderr");
        assert!(said.contains(instead), "{command}: {answer}");
    }
    for command in ["id", "uname", "hostname"] {
        if !has_program(command) {
            continue;
        }
        let answer = ran(&client, command);
        assert_eq!(answer["exit_code"], 0, "{command}: {answer}");
        assert!(!stdout(&answer).trim().is_empty(), "{command}: {answer}");
    }
}

#[test]
fn a_line_that_ended_at_a_limit_says_at_which() {
    let app = TestApp::with()
        .env("FILESHED_MAX_FILE_SIZE_MB", "1")
        .env("FILESHED_EXEC_CPU_LIMIT_SECONDS", "1")
        .app();
    let client = app.client();
    for (command, setting) in [
        ("head -c 3000000 /dev/urandom > big", "max_file_size_mb"),
        ("while :; do :; done", "exec_cpu_limit_seconds"),
    ] {
        let answer = ran(&client, command);
        let said = written(&answer, "stderr");
        assert!(
            said.contains("a limit: ") && said.contains(setting),
            "{command}: {answer}"
        );
    }
    let other = ran(&client, "exit 3");
    assert_eq!(written(&other, "stderr"), "", "{other}");
}
