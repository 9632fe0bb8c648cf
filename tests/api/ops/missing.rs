//! A file that is not found where it was looked for: the failure says where it is, and what it
//! says works, made literally.

use serde_json::{Map, Value, json};

use crate::ops::stage::{bring, content, done, file, small};
use fileshed_test_support::{Answer, Client, TestApp};

/// The arguments that a text begins with, and what follows them.
fn arguments(mut text: &str) -> (Map<String, Value>, &str) {
    let mut found = Map::new();
    while let Some((name, rest)) = text.split_once('=') {
        let name = name.trim_start_matches([',', ' ']);
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let is_name = name.chars().all(|c| c.is_ascii_lowercase() || c == '_');
        let (true, Some(Ok(value))) = (is_name, values.next()) else {
            break;
        };
        found.insert(name.to_owned(), value);
        text = &rest[values.byte_offset()..];
    }
    (found, text)
}

/// Returns the calls of a hint in their order; a call that repeats the failed one is completed.
fn calls(hint: &str, operation: &str, failed: &Value) -> Vec<(String, Value)> {
    const AGAIN: &str = "repeat the call";
    let mut calls = Vec::new();
    let mut rest = hint;
    while let Some(at) = [rest.find("shed_"), rest.find(AGAIN)]
        .into_iter()
        .flatten()
        .min()
    {
        rest = &rest[at..];
        if let Some(changes) = rest.strip_prefix(AGAIN) {
            let (set, after) = arguments(changes.trim_start().trim_start_matches("with "));
            let mut repeated = failed.clone();
            for (name, value) in set {
                repeated[name] = value;
            }
            rest = after;
            if let Some(name) = rest.trim_start_matches([',', ' ']).strip_prefix("without ") {
                let end = name.find(|c: char| !c.is_ascii_lowercase() && c != '_');
                let name = &name[..end.unwrap_or(name.len())];
                repeated.as_object_mut().unwrap().remove(name);
            }
            calls.push((operation.to_owned(), repeated));
        } else {
            let (name, after) = rest.split_once('(').unwrap_or((rest, ""));
            let (set, after) = arguments(after);
            calls.push((name.to_owned(), Value::Object(set)));
            rest = after;
        }
    }
    calls
}

/// Makes a call that misses a file, then what its hint says; the last answer.
#[track_caller]
fn follow(client: &Client<'_>, operation: &str, call: &Value) -> Answer {
    let missing = client.call(operation, call);
    missing.refused(404, "FILE_NOT_FOUND");
    let hint = missing.body["error"]["hint"].as_str().unwrap();
    let calls = calls(hint, operation, call);
    assert!(!calls.is_empty(), "{hint}");
    let mut last = None;
    for (operation, arguments) in calls {
        let answer = client.call(&operation, &arguments);
        assert_eq!(
            answer.status, 200,
            "{hint}\n{operation} {arguments}\n{}",
            answer.text
        );
        last = Some(answer);
    }
    last.unwrap()
}

/// A user with the same table in no two places.
fn scene() -> TestApp {
    let server = small().app();
    let alice = server.as_member("alice", "team");
    bring(&alice, "uploads", "Sales.csv", "a,b\n1,2\n");
    file(&alice, "storage", "reports/Plan.md", "plan\n");
    file(&alice, "documents", "deep/er/notes.txt", "notes\n");
    let own = json!({"zone": "group", "group": "team", "path": "shared.txt", "content": "x\n"});
    done(&alice, "shed_create_file", &own);
    server
}

#[test]
fn what_reads_is_repeated_where_the_file_is() {
    let server = scene();
    let alice = server.as_member("alice", "team");
    for (zone, path, found, at) in [
        ("storage", "Sales.csv", "uploads", "Sales.csv"),
        ("storage", "sales.CSV", "uploads", "Sales.csv"),
        ("uploads", "sales.csv", "uploads", "Sales.csv"),
        ("documents", "reports/Plan.md", "storage", "reports/Plan.md"),
        ("storage", "reports/plan.md", "storage", "reports/Plan.md"),
        ("storage", "plan.md", "storage", "reports/Plan.md"),
        ("storage", "notes.txt", "documents", "deep/er/notes.txt"),
        ("storage", "shared.txt", "group", "shared.txt"),
    ] {
        let call = json!({"zone": zone, "path": path});
        for operation in ["shed_file_type", "shed_hexdump"] {
            let answer = follow(&alice, operation, &call);
            assert_eq!(answer.data()["path"], at, "{call}");
        }
        let missing = alice.call("shed_file_type", &call);
        let places = &missing.body["error"]["details"]["found"];
        assert_eq!(places[0]["zone"], found, "{call}: {}", missing.text);
        assert_eq!(places[0]["path"], at);
    }
    let in_group = json!({"zone": "group", "group": "team", "path": "Sales.csv"});
    follow(&alice, "shed_file_type", &in_group);
}

#[test]
fn a_command_that_misses_a_file_says_where_it_is() {
    let server = scene();
    let alice = server.as_member("alice", "team");
    for (zone, path) in [
        ("storage", "Sales.csv"),
        ("storage", "sales.csv"),
        ("uploads", "./SALES.csv"),
        ("documents", "plan.md"),
        ("storage", "deep/er/notes.txt"),
        ("uploads", "shared.txt"),
    ] {
        let call = json!({"zone": zone, "cmd": "cat", "args": ["-n", path]});
        let missing = alice.call("shed_exec", &call);
        assert_eq!(missing.data()["returncode"], 1, "{}", missing.text);
        let message = missing.body["message"].as_str().unwrap();
        let calls = calls(message, "shed_exec", &call);
        let (operation, again) = calls.first().expect(message);
        let read = done(&alice, operation, again);
        assert_eq!(read["returncode"], 0, "{message}");
    }
    // A command that changes files is told where the file is, and gets no call.
    let call = json!({"zone": "storage", "cmd": "cp", "args": ["Sales.csv", "x.csv"]});
    let missing = alice.call("shed_exec", &call);
    let message = missing.body["message"].as_str().unwrap();
    assert!(message.ends_with("`Sales.csv` is in uploads"), "{message}");
    // A command that fails for another reason, or for a file that is nowhere, says nothing.
    for args in [["x", "reports/Plan.md"], ["x", "nowhere.txt"]] {
        let call = json!({"zone": "storage", "cmd": "grep", "args": args});
        let message = alice.call("shed_exec", &call).body["message"].clone();
        assert!(!message.as_str().unwrap().contains(" is in "), "{message}");
    }
}

#[test]
fn each_operation_gets_its_own_call() {
    for (operation, call) in [
        (
            "shed_sqlite",
            json!({"zone": "storage", "path": "a.db", "import_csv": "sales.csv", "table": "t"}),
        ),
        (
            "shed_sqlite",
            json!({"zone": "storage", "path": "a.db", "import_csv": "in/Sales.csv", "table": "t"}),
        ),
        (
            "shed_zip",
            json!({"zone": "storage", "src": "reports/plan.md", "dest": "a.zip"}),
        ),
        (
            "shed_zip",
            json!({"zone": "storage", "src": "Sales.csv", "dest": "a.zip"}),
        ),
        (
            "shed_link_create",
            json!({"zone": "storage", "path": "Sales.csv"}),
        ),
        (
            "shed_rename",
            json!({"zone": "storage", "old_path": "Plan.md", "new_path": "b.md"}),
        ),
        (
            "shed_move_uploads_to_storage",
            json!({"src": "sales.csv", "dest": "s.csv"}),
        ),
        (
            "shed_copy_storage_to_documents",
            json!({"src": "plan.md", "dest": "p.md"}),
        ),
        (
            "shed_copy_to_group",
            json!({"src_zone": "storage", "src_path": "Sales.csv", "group": "team", "dest_path": "s.csv"}),
        ),
        (
            "shed_patch_text",
            json!({"zone": "storage", "path": "plan.md", "position": "replace", "line": 1, "content": "new\n"}),
        ),
        (
            "shed_patch_text",
            json!({"zone": "storage", "path": "Sales.csv", "position": "replace", "line": 1, "content": "x\n"}),
        ),
        (
            "shed_patch_text",
            json!({"zone": "documents", "path": "Sales.csv", "position": "replace", "line": 1, "content": "x\n"}),
        ),
        (
            "shed_convert_eol",
            json!({"zone": "storage", "path": "notes.txt", "to": "windows"}),
        ),
        (
            "shed_lockedit_open",
            json!({"zone": "documents", "path": "reports/Plan.md"}),
        ),
        (
            "shed_delete",
            json!({"zone": "storage", "path": "reports/plan.md"}),
        ),
        ("shed_tree", json!({"zone": "storage", "path": "deep/er"})),
        (
            "shed_group_set_mode",
            json!({"group": "team", "path": "SHARED.txt", "mode": "owner"}),
        ),
    ] {
        let server = scene();
        let alice = server.as_member("alice", "team");
        follow(&alice, operation, &call);
    }
}

#[test]
fn nothing_is_taken_away_that_was_not_named() {
    let server = scene();
    let alice = server.as_member("alice", "team");
    file(&alice, "documents", "reports/Plan.md", "kept\n");
    for (operation, call) in [
        ("shed_delete", json!({"zone": "storage", "path": "Plan.md"})),
        (
            "shed_delete",
            json!({"zone": "storage", "path": "deep/er/notes.txt"}),
        ),
        (
            "shed_move_uploads_to_storage",
            json!({"src": "notes.txt", "dest": "n.txt"}),
        ),
    ] {
        follow(&alice, operation, &call);
    }
    assert_eq!(content(&alice, "storage", "reports/Plan.md"), "plan\n");
    assert_eq!(content(&alice, "documents", "deep/er/notes.txt"), "notes\n");
    // Of several of one name none is changed.
    file(&alice, "storage", "other/Plan.md", "other\n");
    let change = json!({"zone": "storage", "path": "plan.md", "position": "replace", "line": 1, "content": "new\n"});
    follow(&alice, "shed_patch_text", &change);
    assert_eq!(content(&alice, "storage", "reports/Plan.md"), "plan\n");
    assert_eq!(content(&alice, "storage", "other/Plan.md"), "other\n");
}

#[test]
fn nobody_is_told_of_what_is_not_theirs() {
    let server = scene();
    let stranger = server.as_member("bob", "others");
    for path in ["Sales.csv", "Plan.md", "notes.txt", "shared.txt"] {
        let call = json!({"zone": "storage", "path": path});
        let missing = stranger.call("shed_file_type", &call);
        missing.refused(404, "FILE_NOT_FOUND");
        assert_eq!(missing.body["error"]["details"]["found"], Value::Null);
    }
    // Another conversation of the same user has other uploads.
    let elsewhere = server.as_member("alice", "team").chat("another");
    let call = json!({"zone": "storage", "path": "Sales.csv"});
    let missing = elsewhere.call("shed_file_type", &call);
    assert_eq!(missing.body["error"]["details"]["found"], Value::Null);
}

#[test]
fn a_zone_of_very_many_files_is_not_searched_to_its_end() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a/x", "");
    let storage = crate::ops::stage::place(&server, "alice", "storage");
    for directory in ["a", "b", "c"] {
        std::fs::create_dir_all(storage.join(directory)).unwrap();
        for number in 0..2500 {
            std::fs::write(storage.join(directory).join(format!("{number}")), "").unwrap();
        }
    }
    std::fs::create_dir_all(storage.join("b/last")).unwrap();
    std::fs::write(storage.join("b/last/deep.txt"), "").unwrap();
    let call = json!({"zone": "storage", "path": "deep.txt"});
    let missing = alice.call("shed_file_type", &call);
    missing.refused(404, "FILE_NOT_FOUND");
    assert_eq!(missing.body["error"]["details"]["found"], Value::Null);
}
