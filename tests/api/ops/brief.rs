//! Short answers: `Prefer: return=minimal`.

use std::collections::BTreeSet;

use fileshed::ops::OPERATIONS;
use serde_json::{Value, json};

use crate::ops::calls;
use crate::ops::stage::{file, small};
use fileshed_test_support::{Client, TestApp};

fn short<'a>(client: &Client<'a>) -> Client<'a> {
    client.clone().header("Prefer", "return=minimal")
}

/// The texts in a value.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().flat_map(texts).collect(),
        Value::Object(members) => members.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

#[test]
fn what_is_kept_is_a_field_of_the_answer() {
    for entry in OPERATIONS {
        let schema = (entry.response_schema)();
        let mut seen = BTreeSet::new();
        for keep in entry.short_answer {
            assert!(
                seen.insert(keep.name()),
                "{}: {} twice",
                entry.id,
                keep.name()
            );
            // Made of what `storage` has.
            let made = entry.id == "shed_allowed_commands" && keep.name() == "missing";
            assert!(
                made || schema["properties"].get(keep.name()).is_some(),
                "{}: {}",
                entry.id,
                keep.name()
            );
        }
    }
}

#[test]
fn no_short_answer_repeats_an_argument_or_says_nothing() {
    let server = small().app();
    for entry in OPERATIONS {
        let client = server.as_user(entry.id);
        for example in entry.examples {
            let arguments: Value = serde_json::from_str(example).expect("an example is JSON");
            calls::prepare(&client, entry.id, &arguments);
            let arguments = calls::with_link(&client, entry.id, arguments);
            let answer = short(&client).post(entry.id, arguments.to_string().as_bytes());
            assert_eq!(answer.status, 200, "{}: {}", entry.id, answer.text);
            assert_eq!(answer.header("preference-applied"), "return=minimal");
            let fields = answer.body.as_object().expect("an object");
            assert!(!fields.is_empty(), "{}", entry.id);
            for name in ["data", "message", "safe_mode", "zone", "args"] {
                assert!(!fields.contains_key(name), "{}: {}", entry.id, answer.text);
            }
            let given = texts(&arguments);
            for text in texts(&answer.body) {
                assert!(
                    !given.contains(&text),
                    "{}: {text}\n{}",
                    entry.id,
                    answer.text
                );
            }
            for (name, value) in fields {
                let says = !value.is_null() && value != false && value != &json!([]);
                let is_new = entry.id == "shed_create_file" && name == "created";
                assert!(says || is_new, "{}: {}", entry.id, answer.text);
            }
        }
    }
}

#[test]
fn short_answers_of_an_ordinary_chat() {
    let server = TestApp::start();
    let client = server.client();
    let brief = short(&client);
    for (operation, arguments, expected) in [
        (
            "shed_create_file",
            json!({"zone": "storage", "path": "a.md", "content": "one\ntwo\n"}),
            json!({"created": true, "file_size": 8}),
        ),
        (
            "shed_exec",
            json!({"zone": "storage", "cmd": "cat", "args": ["a.md"]}),
            json!({"stdout": "one\ntwo\n"}),
        ),
        (
            "shed_exec",
            json!({"zone": "storage", "cmd": "grep", "args": ["three", "a.md"]}),
            json!({"stdout": "", "returncode": 1}),
        ),
        (
            "shed_exec",
            json!({"zone": "storage", "cmd": "cat", "args": ["a.md"], "stdout_file": "b.md"}),
            json!({"stdout_file_size": 8}),
        ),
        (
            "shed_rename",
            json!({"zone": "storage", "old_path": "b.md", "new_path": "c.md"}),
            json!({"success": true}),
        ),
        (
            "shed_delete",
            json!({"zone": "storage", "path": "c.md"}),
            json!({"success": true}),
        ),
        (
            "shed_sqlite",
            json!({"zone": "storage", "path": "s.db", "query":
                "SELECT 1 AS id, 'a,b' AS name, NULL AS gone, '' AS empty, x'00ff' AS bytes"}),
            json!({
                "rows": "id,name,gone,empty,bytes\n1,\"a,b\",,\"\",AP8=", "row_count": 1,
                "notes": "BLOBs are given as base64",
            }),
        ),
    ] {
        if operation == "shed_sqlite" {
            let made = json!({"zone": "storage", "path": "s.db", "query": "CREATE TABLE t (a)"});
            client.call(operation, &made).data();
        }
        let answer = brief.post(operation, arguments.to_string().as_bytes());
        assert_eq!(answer.body, expected, "{}", answer.text);
    }
}

#[test]
fn a_note_is_told_in_both_forms() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.md", "one\n");
    let open = json!({"zone": "storage", "path": "a.md"}).to_string();
    client.post("shed_lockedit_open", open.as_bytes());
    let full = client.post("shed_lockedit_open", open.as_bytes());
    let note = "it was already open: this is its working copy";
    let message = format!("Locked a.md; {note}");
    assert_eq!(full.body["message"], message, "{}", full.text);
    let brief = short(&client).post("shed_lockedit_open", open.as_bytes());
    assert_eq!(
        brief.body,
        json!({"content": "one\n", "size": 4, "note": note})
    );
}

#[test]
fn a_short_failure_says_everything_once() {
    let server = TestApp::start();
    let brief = short(&server.client());
    let missing = json!({"zone": "storage", "path": "no.md"});
    let answer = brief.post("shed_delete", missing.to_string().as_bytes());
    assert_eq!((answer.status, answer.code()), (404, "FILE_NOT_FOUND"));
    assert_eq!(answer.header("preference-applied"), "return=minimal");
    assert_eq!(answer.body["success"], false);
    let error = answer.body["error"].as_object().unwrap();
    for name in ["code", "message", "hint"] {
        assert!(
            error[name].as_str().is_some_and(|text| !text.is_empty()),
            "{}",
            answer.text
        );
    }
    assert!(!error.contains_key("details"), "{}", answer.text);
    // Details that the message does not repeat stay.
    let unknown = json!({"howto": "everything"});
    let answer = brief.post("shed_help", unknown.to_string().as_bytes());
    assert!(
        answer.body["error"]["details"]["howtos"].is_object(),
        "{}",
        answer.text
    );
}

#[test]
fn the_full_form_is_what_others_get() {
    let server = TestApp::start();
    let client = server.client();
    let call = json!({"zone": "storage", "path": "a.md", "content": "x"});
    for header in ["return=representation", "wait=10"] {
        let client = client.clone().header("Prefer", header);
        let answer = client.call("shed_create_file", &call);
        assert_eq!(answer.data()["safe_mode"], true, "{header}");
        assert_eq!(answer.header("preference-applied"), "");
    }
    let own = client.clone().header("X-Fileshed-Prefer", "return=minimal");
    let answer = own.post("shed_create_file", call.to_string().as_bytes());
    assert_eq!(answer.body, json!({"created": false, "file_size": 1}));
}
