//! Names that some system cannot hold, as commands leave them.

use std::path::Path;

use serde_json::{Value, json};

use super::zones::{exec, zones};
use crate::ops::stage::{content, done, file, installed, place, small};
use fileshed_test_support::{Answer, Client};

/// Returns the note in the message of a command that succeeded.
fn said(answer: &Answer) -> String {
    assert_eq!(answer.data()["returncode"], 0, "{}", answer.text);
    let message = answer.body["message"].as_str().unwrap_or_default();
    let (_, said) = message.split_once(" ran").unwrap_or_default();
    said.trim_start_matches("; ").to_owned()
}

fn begin(client: &Client<'_>, zone: &Value) {
    let mut write = zone.clone();
    write["path"] = "a.md".into();
    write["content"] = "x".into();
    done(client, "shed_create_file", &write);
}

/// Everything below a directory but what is the server's.
fn names(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut pending = vec![directory.to_owned()];
    while let Some(above) = pending.pop() {
        for entry in std::fs::read_dir(&above).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap();
            if name != ".git" {
                found.push(name.to_owned());
                if path.is_dir() {
                    pending.push(path);
                }
            }
        }
    }
    found.sort_unstable();
    found
}

#[test]
fn what_a_command_calls_as_some_system_cannot_gets_another_name() {
    let server = small().app();
    let alice = server.as_member("alice", "team");
    for (zone, directory) in zones(&server) {
        begin(&alice, &zone);
        for (cmd, args, made, called, fault) in [
            ("touch", vec!["x."], "x.", "x", "ends with a dot or a blank"),
            ("touch", vec!["y "], "y ", "y", "ends with a dot or a blank"),
            (
                "cp",
                vec!["a.md", "AUX.txt"],
                "AUX.txt",
                "_AUX.txt",
                "is a device name on Windows",
            ),
            (
                "cp",
                vec!["a.md", "com1.txt"],
                "com1.txt",
                "_com1.txt",
                "is a device name on Windows",
            ),
            (
                "mkdir",
                vec!["NUL"],
                "NUL",
                "_NUL",
                "is a device name on Windows",
            ),
            (
                "mkdir",
                vec!["-p", "d/CON/e"],
                "d/CON",
                "d/_CON",
                "is a device name on Windows",
            ),
            (
                "tee",
                vec!["d/what?"],
                "d/what?",
                "d/what_",
                "holds one of < > \" | ? *",
            ),
            (
                "sort",
                vec!["-oprn", "a.md"],
                "prn",
                "_prn",
                "is a device name on Windows",
            ),
            (
                "sort",
                vec!["--output=lpt1", "a.md"],
                "lpt1",
                "_lpt1",
                "is a device name on Windows",
            ),
            // A name that is taken is not taken over.
            (
                "cp",
                vec!["a.md", "x."],
                "x.",
                "x (2)",
                "ends with a dot or a blank",
            ),
        ] {
            let answer = exec(&alice, &zone, cmd, &args);
            let note = format!("`{made}` is now `{called}`: its name {fault}");
            assert_eq!(said(&answer), note, "{zone} {cmd} {args:?}");
        }
        let mut left = vec![
            "_AUX.txt",
            "_NUL",
            "_com1.txt",
            "_lpt1",
            "_prn",
            "a.md",
            "d",
            "d/_CON",
            "d/_CON/e",
            "d/what_",
            "x",
            "x (2)",
            "y",
        ];
        if zone["zone"] == "group" {
            // A group holds files, and the directories that have some.
            left.retain(|name| directory.join(name).exists());
        }
        assert_eq!(names(&directory), left, "{zone}");
        // The history has exactly the files that exist.
        if zone["zone"] != "storage" && installed(&alice, "git") {
            let status = exec(&alice, &zone, "git", &["status", "--porcelain"]);
            assert_eq!(status.data()["stdout"], "", "{}", status.text);
        }
    }
}

#[test]
fn a_directory_with_content_gets_another_name_with_what_is_in_it() {
    let server = small().app();
    let alice = server.as_member("alice", "team");
    for (zone, directory) in zones(&server) {
        begin(&alice, &zone);
        let mut write = zone.clone();
        write["path"] = "fine/deep/b.md".into();
        write["content"] = "b".into();
        done(&alice, "shed_create_file", &write);
        let answer = exec(&alice, &zone, "mv", &["fine", "CON"]);
        assert_eq!(
            said(&answer),
            "`CON` is now `_CON`: its name is a device name on Windows"
        );
        let kept = std::fs::read_to_string(directory.join("_CON/deep/b.md"));
        assert_eq!(kept.unwrap(), "b");
        // Names below one another, of which each is at fault.
        let answer = exec(&alice, &zone, "mkdir", &["-p", "q?/NUL/z."]);
        assert_eq!(
            said(&answer),
            "`q?` is now `q_`: its name holds one of < > \" | ? *; \
             `q?/NUL` is now `q_/_NUL`: its name is a device name on Windows; \
             `q?/NUL/z.` is now `q_/_NUL/z`: its name ends with a dot or a blank"
        );
        assert!(directory.join("q_/_NUL/z").is_dir());
        assert!(!directory.join("CON").exists() && !directory.join("q?").exists());
    }
}

#[test]
fn what_had_such_a_name_before_keeps_it() {
    let server = small().app();
    let alice = server.as_member("alice", "team");
    for (zone, directory) in zones(&server) {
        begin(&alice, &zone);
        // Names as a former server, or a person at the machine, has made them.
        std::fs::create_dir_all(directory.join("old/NUL")).unwrap();
        for name in ["x.", "old/NUL/y ", "old/aux.txt"] {
            std::fs::write(directory.join(name), "old").unwrap();
        }
        if zone["zone"] == "group" {
            // Files that were not made through the server have no owner: every member may change them.
            exec(&alice, &zone, "touch", &["-c", "a.md"]);
        }
        for (cmd, args) in [
            ("cp", vec!["a.md", "b.md"]),
            ("touch", vec!["x."]),
            ("sed", vec!["-i", "s/old/new/", "x."]),
            ("mv", vec!["old", "newer"]),
            ("mv", vec!["newer/aux.txt", "aux.txt"]),
        ] {
            let answer = exec(&alice, &zone, cmd, &args);
            assert_eq!(said(&answer), "", "{zone} {cmd} {args:?}");
        }
        let read = |name: &str| std::fs::read_to_string(directory.join(name)).unwrap();
        assert_eq!((read("x."), read("aux.txt")), ("new".into(), "old".into()));
        assert_eq!(read("newer/NUL/y "), "old");
        // A copy is new, and so is another name.
        let answer = exec(&alice, &zone, "cp", &["x.", "y."]);
        assert!(
            said(&answer).starts_with("`y.` is now `y`: "),
            "{}",
            answer.text
        );
        let answer = exec(&alice, &zone, "mv", &["aux.txt", "con.txt"]);
        assert!(
            said(&answer).starts_with("`con.txt` is now `_con.txt`: "),
            "{}",
            answer.text
        );
    }
}

/// Makes a file, and counts for ever.
const ENDLESS: &str = "CREATE TABLE t (x); WITH RECURSIVE n (x) AS \
    (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n";

/// A command that fails is told, too, under which names its files are now.
#[test]
fn what_a_command_that_was_ended_left_is_told() {
    let endless = |client: &Client<'_>, zone: &Value, name: &str, seconds: u32| {
        let mut call = zone.clone();
        call["cmd"] = "sqlite3".into();
        call["args"] = json!([name, ENDLESS]);
        call["timeout"] = seconds.into();
        let answer = client.call("shed_exec", &call);
        answer.refused(504, "TIMEOUT");
        answer
    };
    let server = small().app();
    let alice = server.as_member("alice", "team");
    if !installed(&alice, "sqlite3") {
        return;
    }
    let note = "`CON` is now `_CON`: its name is a device name on Windows";
    for (zone, directory) in zones(&server) {
        let answer = endless(&alice, &zone, "CON", 5);
        let renamed = &answer.body["error"]["details"]["renamed"];
        assert_eq!(renamed, note, "{zone}: {}", answer.text);
        assert!(directory.join("_CON").exists());
    }
    // The note is missing if no file was renamed.
    let storage = json!({"zone": "storage"});
    let fast = small().env("FILESHED_EXEC_CPU_LIMIT_SECONDS", "1").app();
    let alice = fast.as_member("alice", "team");
    for (name, expected) in [("fine", Value::Null), ("CON", json!(note))] {
        let answer = endless(&alice, &storage, name, 60);
        let details = &answer.body["error"]["details"];
        assert_eq!(details["renamed"], expected, "{}", answer.text);
    }
}

#[test]
fn what_git_keeps_in_a_repository_keeps_its_name() {
    let server = small().app();
    let alice = server.as_user("alice");
    if !installed(&alice, "git") {
        return;
    }
    file(&alice, "storage", "r/a.md", "x");
    let zone = json!({"zone": "storage"});
    said(&exec(&alice, &zone, "git", &["init", "r"]));
    for args in [
        vec!["-C", "r", "add", "."],
        vec!["-C", "r", "commit", "-m", "one"],
        vec!["-C", "r", "branch", "aux"],
    ] {
        assert_eq!(said(&exec(&alice, &zone, "git", &args)), "");
    }
    let branches = exec(
        &alice,
        &zone,
        "git",
        &["-C", "r", "branch", "--list", "aux"],
    );
    assert_eq!(branches.data()["stdout"], "  aux\n", "{}", branches.text);
    assert_eq!(content(&alice, "storage", "r/a.md"), "x");
}

#[test]
fn nothing_is_made_in_uploads() {
    let server = small().app();
    let alice = server.as_user("alice");
    let zone = json!({"zone": "uploads"});
    let answer = exec(&alice, &zone, "touch", &["x."]);
    answer.refused(403, "COMMAND_FORBIDDEN");
    assert!(!place(&server, "alice", "uploads").join("x.").exists());
}
