//! Programs that an administrator adds, as callers and administrators meet them.

use fileshed_test_support::{Setup, TestApp};
use serde_json::{Value, json};

fn with(programs: &str) -> Setup {
    let setup = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "k");
    if programs.is_empty() {
        setup
    } else {
        setup.env("FILESHED_EXEC_PROGRAMS", programs)
    }
}

/// Returns the description of `run_command` that a model reads.
fn description(app: &TestApp) -> String {
    let document = app.client().get("/terminal/openapi.json").body;
    let post = &document["paths"]["/execute"]["post"];
    let text = post["description"].as_str();
    text.unwrap_or_else(|| panic!("{document}")).to_owned()
}

fn run(app: &TestApp, command: &str, arguments: &[&str]) -> fileshed_test_support::Answer {
    let call = json!({"zone": "storage", "cmd": command, "args": arguments});
    app.as_user("ada").call("shed_exec", &call)
}

#[test]
fn a_program_that_was_added_runs_as_any_command() {
    let server = with("sh").app();
    let ran = run(
        &server,
        "sh",
        &["-c", "echo $((6 * 7)) > a; echo $OMP_NUM_THREADS; exit 3"],
    );
    let data = ran.data();
    assert_eq!(
        (&data["stdout"], &data["returncode"]),
        (&json!("1\n"), &json!(3))
    );
    let shown = run(&server, "cat", &["a"]);
    assert_eq!(shown.data()["stdout"], "42\n", "{}", shown.text);
    // It starts no other, and what was not added is not there.
    let other = run(&server, "sh", &["-c", "perl -e 1"]);
    assert_ne!(other.data()["returncode"], 0, "{}", other.text);
    run(&server, "perl", &["-e", "1"]).refused(403, "COMMAND_FORBIDDEN");
    run(&TestApp::with_key(), "sh", &["-c", "true"]).refused(403, "COMMAND_FORBIDDEN");
}

#[test]
fn with_every_program_one_starts_others() {
    let server = with("*").app();
    let ran = run(
        &server,
        "sh",
        &[
            "-c",
            "printf '#!/bin/sh\\necho own' > p; chmod +x p; ./p | cat",
        ],
    );
    assert_eq!(ran.data()["stdout"], "own\n", "{}", ran.text);
}

#[test]
fn models_are_told_what_was_added() {
    let text = description(&with("").app());
    assert!(!text.contains("dded"), "{text}");
    let text = description(&with("sh,env").app());
    assert!(text.contains("Added: env, sh."), "{text}");
    let text = description(&with("*").app());
    assert!(
        text.contains("Every program of the machine may run"),
        "{text}"
    );
    assert!(text.len() < 1200, "{text}");
}

#[test]
fn doctor_says_what_was_added_and_what_is_missing() {
    let said = |programs: &str| {
        let finished = with(programs).run(&["doctor"]);
        let line = finished
            .stdout
            .lines()
            .find(|line| line.contains(" programs: "));
        line.unwrap_or_else(|| panic!("{finished:?}")).to_owned()
    };
    assert!(said("").contains("ok      programs: the whitelist alone"));
    let listed = said("sh,env");
    assert!(
        listed.starts_with("ok ") && listed.contains("and 2 more"),
        "{listed}"
    );
    let missing = said("sh,no-such-program");
    assert!(missing.starts_with("warning"), "{missing}");
    assert!(
        missing.ends_with("exec.programs names them: no-such-program"),
        "{missing}"
    );
    let all = said("*");
    assert!(all.contains("of the machine and those of users"), "{all}");
}

#[test]
fn doctor_and_health_say_what_bounds_memory() {
    let server = with("").app();
    let health: Value = server.client().get("/health").body;
    let form = health["memory_limit"].as_str().expect("a form");
    assert!(["command", "process"].contains(&form), "{health}");
    let finished = with("").run(&["doctor"]);
    let line = finished
        .stdout
        .lines()
        .find(|line| line.contains(" memory: "));
    let line = line.unwrap_or_else(|| panic!("{finished:?}"));
    assert!(line.contains("512 MiB for"), "{line}");
}
