//! `shed_exec`

mod alone;
mod documents;
mod former;
mod kept;
mod life;
mod limits;
mod line;
mod portable;
mod programs;
mod removals;
mod renames;
mod repositories;
mod shell;
mod streams;
mod texts;
mod zones;

use serde_json::{Value, json};

use crate::ops::create_file::fill;
use crate::ops::fault;
use crate::ops::stage::{Provoked, Stage, done, file, output, ran, small};
use fileshed_test_support::{Client, TestApp};

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", fault::not_yours),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", |stage| {
        for args in [["-o", "b"], ["--output=b", "a"]] {
            let arguments = json!({"zone": "uploads", "cmd": "sort", "args": args});
            stage.refuses(&arguments, &["`sort`", "`uploads`"]);
        }
        for parameter in ["stdout_file", "stderr_file"] {
            let arguments = json!({"zone": "uploads", "cmd": "ls", parameter: "a"});
            stage.refuses(&arguments, &["uploads"]);
        }
    }),
    ("COMMAND_FORBIDDEN", |stage| {
        for cmd in [
            "bash", "python3", "ls -la", "/bin/ls", "./run", "ln", "sudo", "curl", "wget", "LS",
            "ls|wc",
        ] {
            let answer = stage.refuses_example("cmd", cmd, &[&format!("`{cmd}`")]);
            assert_eq!(answer.body["error"]["details"]["command"], cmd);
        }
        let arguments = json!({"zone": "uploads", "cmd": "rm", "args": ["a"]});
        stage.refuses(&arguments, &["`rm`", "uploads"]);
    }),
    ("INVALID_FORMAT", |stage| {
        if !crate::ops::stage::installed(&stage.client(), "sqlite3") {
            stage.skip("needs the command sqlite3");
            return;
        }
        stage.file("storage", "plan.db-wal", "planted");
        let arguments =
            json!({"zone": "storage", "cmd": "sqlite3", "args": ["plan.db", "SELECT 1"]});
        stage.refuses(&arguments, &["`plan.db-wal`", "`plan.db`"]);
    }),
    ("COMMAND_NOT_FOUND", not_installed),
    ("ARGUMENT_FORBIDDEN", |stage| {
        for (cmd, args, named) in [
            ("ls", &["a", ";", "rm", "b"][..], ";"),
            ("cat", &["a | b"], "a | b"),
            ("ls", &["$(id)"], "$(id)"),
            ("awk", &["BEGIN {system(\"id\")}"], "system"),
            ("awk", &["BEGIN {print \"id\" | \"sh\"}"], "sh"),
            ("sed", &["1e id", "a"], "1e id"),
            ("find", &[".", "-exec", "cat", "{}", ";"], "-exec"),
            (
                "tar",
                &["-cf", "a.tar", "--checkpoint-action=exec=id", "."],
                "--checkpoint-action=exec=id",
            ),
            (
                "tar",
                &["-xf", "a.tar", "--to-command=id"],
                "--to-command=id",
            ),
            ("split", &["--filter=id", "a"], "--filter=id"),
            ("sqlite3", &["a.db", ".shell id"], ".shell id"),
            ("git", &["-c", "core.pager=id", "log"], "-c"),
            ("git", &["gc"], "gc"),
        ] {
            let arguments = json!({"zone": "storage", "cmd": cmd, "args": args});
            stage.refuses(&arguments, &[&format!("`{cmd}`"), named]);
        }
    }),
    ("ARGUMENT_REQUIRED", |stage| {
        stage.refuses(
            &json!({"zone": "documents", "cmd": "git"}),
            &["`git`", "subcommand"],
        );
    }),
    ("PATH_ESCAPE", |stage| {
        fault::escape_by_link(stage);
        for (cmd, args) in [
            ("cat", &["../x"][..]),
            ("cat", &["/etc/passwd"]),
            ("cp", &["-t/tmp", "a"]),
            ("sort", &["--output=../x", "a"]),
            ("wc", &["--files0-from=/etc/passwd"]),
            ("git", &["-C", "..", "log"]),
        ] {
            let arguments = json!({"zone": "storage", "cmd": cmd, "args": args});
            let answer = stage.client().call("shed_exec", &arguments);
            let refused = ["PATH_ESCAPE", "ARGUMENT_FORBIDDEN"].contains(&answer.code());
            assert!(refused, "{arguments} {}", answer.text);
        }
        for path in ["way-out/passwd", "way-out"] {
            fault::way_out(stage);
            let arguments = json!({"zone": "storage", "cmd": "cat", "args": [path]});
            stage.refuses(&arguments, &["`way-out`", "link"]);
        }
        stage.refuses(
            &json!({"zone": "storage", "cmd": "cat", "args": ["a/../../x"]}),
            &["`cat`", "`a/../../x`"],
        );
    }),
    ("PATH_STARTS_WITH_ZONE", |stage| {
        fault::zone_prefix(stage);
        let arguments = json!({"zone": "storage", "cmd": "cat", "args": ["storage/a.md"]});
        let answer = stage.refuses(&arguments, &["`cat`", "`storage/a.md`"]);
        assert!(
            answer.body["error"]["hint"]
                .as_str()
                .unwrap()
                .contains("[\"a.md\"]"),
            "{}",
            answer.text
        );
    }),
    ("PROTECTED_PATH", |stage| {
        fault::protected_with_git(stage);
        for (cmd, args) in [
            ("touch", &["a/.git/hooks/x"][..]),
            ("cp", &["a", ".git"]),
            ("rm", &["-r", ".git"]),
        ] {
            let arguments = json!({"zone": "documents", "cmd": cmd, "args": args});
            stage.refuses(&arguments, &[&format!("`{cmd}`"), ".git"]);
        }
        let arguments = json!({"zone": "storage", "cmd": "cat", "args": ["a/.fs_pepper"]});
        stage.refuses(&arguments, &["`a/.fs_pepper`"]);
    }),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_odd(stage);
        fault::through_a_file(stage);
        stage.refuses_example("stderr_file", "a\tb", &["`stderr_file`", "U+0009"]);
    }),
    ("FILE_LOCKED", fault::locked),
    ("QUOTA_EXCEEDED", |stage| {
        fill(stage);
        let arguments =
            json!({"zone": "storage", "cmd": "echo", "args": ["x"], "stdout_file": "new.txt"});
        stage.refuses(&arguments, &["2.0 MB"]);
    }),
    ("NOT_A_FILE", |stage| {
        stage.file("storage", "folder/x", "x");
        let arguments = json!({"zone": "storage", "cmd": "ls", "stdout_file": "folder"});
        stage.refuses(&arguments, &["`folder`", "a directory"]);
    }),
    ("FILE_TOO_LARGE", |stage| {
        let arguments = json!({
            "zone": "storage", "cmd": "seq", "args": ["300000"], "stdout_file": "new.txt",
        });
        stage.refuses(&arguments, &["`new.txt`", "1048576"]);
    }),
    ("EXEC_ERROR", |stage| {
        // More than the kernel takes as one argument.
        let long = "x".repeat(200_000);
        let arguments = json!({"zone": "storage", "cmd": "echo", "args": [long]});
        stage.refuses(&arguments, &["`echo`"]);
    }),
    ("TIMEOUT", |stage| {
        let arguments = json!({"zone": "storage", "cmd": "sleep", "args": ["76"], "timeout": 1});
        let answer = stage.refuses(&arguments, &["`sleep`", "1 s"]);
        assert_eq!(answer.body["error"]["details"]["timeout"], 1);
    }),
];

/// A command that is allowed and not installed, where there is one.
pub(crate) fn not_installed(stage: &Stage<'_>) {
    let commands = stage.done("shed_allowed_commands", &json!({}));
    let missing = commands["storage"]["missing"].as_array().unwrap();
    let suits = |arguments: &Value| {
        stage.client().call("shed_exec", arguments).code() == "COMMAND_NOT_FOUND"
    };
    let found = missing
        .iter()
        .find(|cmd| suits(&json!({"zone": "storage", "cmd": cmd, "args": ["notes.md"]})));
    match found.and_then(Value::as_str) {
        None => stage.skip("no command is missing that takes a file"),
        Some(cmd) => {
            let arguments = stage.example(&json!({"cmd": cmd, "args": ["."]}));
            stage.refuses(&arguments, &[&format!("`{cmd}`")]);
        }
    }
}

#[test]
fn all_fields() {
    let server = TestApp::start();
    let client = server.client();
    let data = ran(&client, "Storage", "echo", &["-n", "a  b", "é"]);
    let expected = json!({
        "zone": "storage", "command": "echo", "args": ["-n", "a  b", "é"], "stdout": "a  b é", "stderr": "",
        "returncode": 0, "truncated": false,
    });
    assert_eq!(data, expected);
}

#[test]
fn a_command_that_fails_is_a_success_with_its_status() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a", "x\n");
    for (cmd, args, status, complaint) in [
        ("cat", &["missing"][..], 1, "No such file"),
        ("ls", &["missing"], 2, "missing"),
        ("grep", &["y", "a"], 1, ""),
        ("false", &[], 1, ""),
    ] {
        let arguments = json!({"zone": "storage", "cmd": cmd, "args": args});
        let answer = client.call("shed_exec", &arguments);
        if answer.code() == "COMMAND_FORBIDDEN" && cmd == "false" {
            continue;
        }
        let data = answer.data();
        assert_eq!(data["returncode"], status, "{data}");
        assert!(
            data["stderr"].as_str().unwrap().contains(complaint),
            "{data}"
        );
    }
}

#[test]
fn commands_know_nothing_of_the_server() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("HOME", "/the-servers-home")
        .app();
    let client = server.as_user("alice");
    file(&client, "storage", "d/a", "x");
    for (cmd, args) in [
        ("env", &[][..]),
        ("printenv", &[]),
        ("jq", &["-n", "env"]),
        (
            "awk",
            &["BEGIN {for (name in ENVIRON) print name, ENVIRON[name]}"],
        ),
        ("pwd", &[]),
        ("realpath", &["d/a"]),
        ("readlink", &["-f", "d"]),
        ("find", &["d"]),
        ("ls", &["-la", "missing"]),
        ("git", &["status"]),
    ] {
        let arguments = json!({"zone": "storage", "cmd": cmd, "args": args});
        let answer = client.call("shed_exec", &arguments);
        let place = server.data().display().to_string();
        for secret in [
            "service-key",
            "FILESHED",
            "the-servers-home",
            "alice",
            &place,
        ] {
            assert!(!answer.text.contains(secret), "{cmd}: {}", answer.text);
        }
    }
    for zone in ["storage", "documents"] {
        assert_eq!(output(&client, zone, "pwd", &[]), "/\n");
    }
    assert_eq!(output(&client, "storage", "realpath", &["d/a"]), "/d/a\n");
}

#[test]
fn wildcards_stand_for_names_as_in_a_shell() {
    let server = TestApp::start();
    let client = server.client();
    for path in [
        "a.md",
        "b.md",
        "c.txt",
        ".hidden.md",
        "d/e.md",
        "d/é f.md",
        "-n.md",
    ] {
        file(&client, "storage", path, "");
    }
    let echo = |args: &[&str]| output(&client, "storage", "ls", args);
    assert_eq!(echo(&["-1", "--", "*.md"]), "./-n.md\na.md\nb.md\n");
    assert_eq!(echo(&["?.md"]), "a.md\nb.md\n");
    assert_eq!(echo(&["*/*.md"]), "d/e.md\nd/é f.md\n");
    assert_eq!(ran(&client, "storage", "ls", &["*.none"])["returncode"], 2);
    // Patterns of a command are its own.
    assert_eq!(
        output(&client, "storage", "find", &["d", "-name", "e*"]),
        "d/e.md\n"
    );
    ran(&client, "storage", "rm", &["*.md"]);
    assert_eq!(echo(&["-A"]), ".hidden.md\nc.txt\nd\n");
}

#[test]
fn uploads_are_read() {
    let server = small().app();
    let alice = server.as_user("alice").chat("one");
    assert_eq!(output(&alice, "uploads", "ls", &[]), "");
    let chat = server.data().join("users/alice/Uploads/one");
    std::fs::create_dir_all(&chat).unwrap();
    std::fs::write(chat.join("up.txt"), "b\na\n").unwrap();
    assert_eq!(output(&alice, "uploads", "sort", &["up.txt"]), "a\nb\n");
    assert_eq!(
        output(&alice, "uploads", "grep", &["-ic", "A", "up.txt"]),
        "1\n"
    );
    assert_eq!(
        output(&alice, "uploads", "ls", &["-i"]).split(' ').nth(1),
        Some("up.txt\n")
    );
    for (cmd, args) in [
        ("sed", &["-i", "s/a/x/", "up.txt"][..]),
        ("sed", &["-ni", "p", "up.txt"]),
        ("sort", &["-o", "up.txt", "up.txt"]),
        ("uniq", &["up.txt", "new"]),
        ("find", &[".", "-delete"]),
        ("tar", &["-xf", "up.txt"]),
        ("touch", &["new"]),
        ("cp", &["up.txt", "new"]),
        ("sqlite3", &["new.db", "CREATE TABLE a (b)"]),
    ] {
        let arguments = json!({"zone": "uploads", "cmd": cmd, "args": args});
        let answer = alice.call("shed_exec", &arguments);
        let ended = &answer.body["data"]["returncode"];
        let refused = [
            "ZONE_READONLY",
            "COMMAND_FORBIDDEN",
            "ARGUMENT_FORBIDDEN",
            "COMMAND_NOT_FOUND",
        ]
        .contains(&answer.code());
        assert!(
            refused || ended.as_i64().is_some_and(|status| status != 0),
            "{arguments} {}",
            answer.text
        );
        let names: Vec<_> = std::fs::read_dir(&chat)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(names, ["up.txt"], "{cmd}");
        assert_eq!(
            std::fs::read_to_string(chat.join("up.txt")).unwrap(),
            "b\na\n",
            "{cmd}"
        );
    }
    // Another conversation has its own.
    let other = server.as_user("alice").chat("two");
    assert_eq!(output(&other, "uploads", "ls", &[]), "");
    let delete = json!({"zone": "uploads", "path": "up.txt"});
    other
        .call("shed_delete", &delete)
        .refused(404, "FILE_NOT_FOUND");
    let data = done(&alice, "shed_delete", &delete);
    assert_eq!(
        data,
        json!({"zone": "uploads", "deleted": "up.txt", "was_directory": false, "restorable_days": 30})
    );
}

/// The status of a call, and its code.
fn attempt(client: &Client<'_>, arguments: &Value) -> (u16, String) {
    let answer = client.call("shed_exec", arguments);
    (answer.status, answer.code().to_owned())
}
