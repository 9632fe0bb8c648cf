//! Spellings that models use for each type, in every operation.

use fileshed::ops::OPERATIONS;
use serde_json::{Value, json};

use crate::ops::calls;
use crate::ops::stage::{content, done, file, small};
use fileshed_test_support::TestApp;

/// A value that no type is, and how a message shows it.
fn wrong(kind: &str) -> (Value, &'static str, &'static str) {
    match kind {
        "array" => (json!("[open"), "\"[open\"", "string"),
        "boolean" => (json!(2), "2", "number"),
        "integer" => (json!("2.5"), "\"2.5\"", "string"),
        _ => (json!(["x"]), "[\"x\"]", "list"),
    }
}

#[test]
fn every_parameter_of_every_operation_refuses_wrong_types() {
    let server = small().app();
    for entry in OPERATIONS {
        let client = server.as_user(entry.id);
        let example: Value = serde_json::from_str(entry.examples[0]).unwrap();
        calls::prepare(&client, entry.id, &example);
        let schema = (entry.request_schema)();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let object = (json!({"a": 1}), "{\"a\":1}", "object");
            for (value, shown, kind) in [object, wrong(property["type"].as_str().unwrap())] {
                let mut arguments = example.clone();
                arguments.as_object_mut().unwrap().remove("overwrite");
                arguments[name] = value;
                let answer = client.call(entry.id, &arguments);
                answer.refused(400, "INVALID_PARAMETER");
                let error = &answer.body["error"];
                let message = error["message"].as_str().unwrap();
                let named = format!("`{name}`");
                for part in [named.as_str(), shown, kind] {
                    assert!(message.contains(part), "{}: {message}", entry.id);
                }
                let details = &error["details"];
                assert_eq!(
                    (&details["parameter"], &details["received_type"]),
                    (&json!(name), &json!(kind))
                );
                let hint = error["hint"].as_str().unwrap();
                assert!(hint.contains(name.as_str()), "{}", answer.text);
            }
        }
    }
}

#[test]
fn every_required_parameter_of_every_operation_is_asked_for() {
    let server = small().app();
    for entry in OPERATIONS {
        let client = server.as_user(entry.id);
        let example: Value = serde_json::from_str(entry.examples[0]).unwrap();
        calls::prepare(&client, entry.id, &example);
        let schema = (entry.request_schema)();
        for name in schema["required"].as_array().into_iter().flatten() {
            let name = name.as_str().unwrap();
            let mut without = example.clone();
            without.as_object_mut().unwrap().remove(name);
            let mut null = example.clone();
            null[name] = Value::Null;
            let mut empty = example.clone();
            empty[name] = "".into();
            for arguments in [without, null, empty] {
                // Content may be empty.
                if name == "content" && arguments[name] == "" {
                    continue;
                }
                // The contract has a code of its own for this one.
                let code = if name == "file_id" {
                    "MISSING_FILE_ID"
                } else {
                    "MISSING_PARAMETER"
                };
                let answer = client.call(entry.id, &arguments);
                answer.refused(400, code);
                let message = answer.body["error"]["message"].as_str().unwrap();
                assert!(
                    message.contains(&format!("`{name}`")),
                    "{}: {message}",
                    entry.id
                );
            }
        }
    }
}

#[test]
fn every_operation_ignores_what_it_does_not_know() {
    let server = small().app();
    for entry in OPERATIONS {
        let client = server.as_user(entry.id);
        let mut arguments: Value = serde_json::from_str(entry.examples[0]).unwrap();
        calls::prepare(&client, entry.id, &arguments);
        arguments = calls::with_link(&client, entry.id, arguments);
        let ignores = entry.effect.reads_only || entry.id == "shed_exec";
        arguments["invented"] = json!({"deep": [1, null]});
        if !ignores {
            let answer = client.call(entry.id, &arguments);
            answer.refused(400, "INVALID_PARAMETER");
            assert_eq!(answer.body["error"]["details"]["parameter"], "invented");
            arguments["invented"] = Value::Null;
        }
        for optional in ["group", "mode"] {
            if arguments.get(optional).is_none() {
                arguments[optional] = "".into();
            }
        }
        let answer = client.call(entry.id, &arguments);
        answer.data();
        let message = answer.body["message"].as_str().unwrap();
        assert_eq!(message.contains("ignored: invented"), ignores, "{message}");
    }
}

/// An unknown parameter of a change is refused, because without it the change would be another one.
#[test]
fn what_changes_something_refuses_names_that_it_does_not_have() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.md", "old\n");
    let long = "x".repeat(100);
    for (operation, more, named) in [
        ("shed_delete", json!({"dry_run": true}), "zone, path"),
        (
            "shed_delete",
            json!({"match_all": true}),
            "if the call is meant without `match_all`, leave it out",
        ),
        (
            "shed_patch_text",
            json!({"content": "new", "search": "old"}),
            "find=\"old\", without search",
        ),
        (
            "shed_patch_text",
            json!({"content": "new", "end-line": "3"}),
            "end_line=3, without end-line",
        ),
        (
            "shed_patch_text",
            json!({"content": "new", "patern": "old"}),
            "`pattern` instead of `patern`",
        ),
        (
            "shed_zip",
            json!({"src": "a.md", "path": "z.zip"}),
            "dest=\"z.zip\", without path",
        ),
        ("shed_delete", json!({long.as_str(): 1}), "xxxx"),
    ] {
        let mut arguments = json!({"zone": "storage", "path": "a.md"});
        arguments
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let answer = client.post(operation, arguments.to_string().as_bytes());
        answer.refused(400, "INVALID_PARAMETER");
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        assert!(hint.contains(named), "{operation}: {}", answer.text);
        assert!(answer.text.len() < 1_000, "{}", answer.text);
    }
    assert_eq!(content(&client, "storage", "a.md"), "old\n");
    let tree = done(&client, "shed_tree", &json!({"zone": "storage"}));
    assert!(!tree["tree"].as_str().unwrap().contains("zip"), "{tree}");
}

#[test]
fn lists() {
    let server = TestApp::start();
    let client = server.client();
    for (given, meant) in [
        (json!(0), json!([])),
        (json!(""), json!([])),
        (json!("  "), json!([])),
        (json!(false), json!([])),
        (json!(null), json!([])),
        (json!([]), json!([])),
        (json!("[\"-la\", 1]"), json!(["-la", "1"])),
        (
            json!([1, -2.5, true, "x"]),
            json!(["1", "-2.5", "true", "x"]),
        ),
        (json!("-la"), json!(["-la"])),
        (json!("-n  hello x"), json!(["-n", "hello", "x"])),
        (
            json!("'a b' \"c d\" e\\ f ''"),
            json!(["a b", "c d", "e f", ""]),
        ),
        (json!("R&D;x"), json!(["R&D;x"])),
    ] {
        let arguments = json!({"zone": "storage", "cmd": "echo", "args": given});
        let data = done(&client, "shed_exec", &arguments);
        assert_eq!(data["args"], meant, "{given}");
    }
    for given in [
        json!(1),
        json!(true),
        json!("it's open"),
        json!("[1"),
        json!({}),
        json!([["x"]]),
        json!([null]),
    ] {
        let arguments = json!({"zone": "storage", "cmd": "touch", "args": given});
        let answer = client.call("shed_exec", &arguments);
        answer.refused(400, "INVALID_PARAMETER");
    }
}

#[test]
fn numbers_below_what_they_count_are_refused() {
    let server = TestApp::start();
    let client = server.client();
    file(&client, "storage", "a.md", "x");
    file(&client, "storage", "a.csv", "d\n2026-01-02\n");
    let path = json!({"zone": "storage", "path": "a.md"});
    done(&client, "shed_lockedit_open", &path);
    for (operation, name, value) in [
        ("shed_exec", "max_output", json!(-5)),
        ("shed_exec", "timeout", json!(-3)),
        ("shed_exec", "timeout", json!("-3")),
        ("shed_lockedit_exec", "timeout", json!(-3)),
        ("shed_sqlite", "limit", json!(-1)),
        ("shed_sqlite", "skip_rows", json!(-1)),
        ("shed_sqlite", "date_format", json!("bogus")),
        ("shed_sqlite", "date_format", json!("DD.MM.YYYY")),
        ("shed_sqlite", "date_format", json!("%!")),
    ] {
        let mut arguments = json!({"zone": "storage", "path": "a.md", "cmd": "ls"});
        if operation == "shed_sqlite" {
            arguments = json!({"zone": "storage", "path": "a.db", "import_csv": "a.csv",
                "table": "t", "date_columns": ["d"]});
        }
        arguments[name] = value.clone();
        let answer = client.call(operation, &arguments);
        answer.refused(400, "INVALID_PARAMETER");
        let message = answer.body["error"]["message"].as_str().unwrap();
        assert!(message.contains(&format!("`{name}`")), "{message}");
    }
}

#[test]
fn empty_texts_and_nulls_are_defaults() {
    let server = TestApp::start();
    let client = server.client();
    let arguments = json!({
        "zone": " STORAGE ", "path": "a.md", "content": "x", "position": "", "line": null, "end_line": null,
        "pattern": "", "regex_flags": "", "match_all": null, "overwrite": null, "safe": null, "message": "",
    });
    let data = done(&client, "shed_patch_text", &arguments);
    assert_eq!(
        (&data["position"], &data["safe_mode"]),
        (&json!("end"), &json!(true))
    );
    let arguments = json!({
        "zone": "storage", "cmd": "echo", "args": ["x"], "timeout": null, "max_output": null, "stdout_file": "",
        "stderr_file": null, "redirect_stderr_to_stdout": null, "allow_zone_in_path": "false",
    });
    let data = done(&client, "shed_exec", &arguments);
    assert_eq!(data["stdout"], "x\n");
    assert!(data.get("stdout_file").is_none());
    let data = done(
        &client,
        "shed_tree",
        &json!({"zone": "storage", "path": "", "depth": null}),
    );
    assert_eq!((&data["path"], &data["depth"]), (&json!("."), &json!(3)));
    let arguments = json!({"zone": "storage", "path": "a.bin", "content": "00", "content_format": "", "position": ""});
    assert_eq!(
        done(&client, "shed_patch_bytes", &arguments)["content_format"],
        "hex"
    );
}

#[test]
fn numbers() {
    let server = TestApp::start();
    let client = server.client();
    for given in [json!(2), json!("2"), json!(" 2 "), json!(2.0), json!("+2")] {
        file(&client, "storage", "a.md", "1\n2\n");
        let arguments = json!({"zone": "storage", "path": "a.md", "content": "x", "position": "replace", "line": given});
        done(&client, "shed_patch_text", &arguments);
        assert_eq!(content(&client, "storage", "a.md"), "1\nx\n", "{given}");
    }
    for given in [
        json!(""),
        json!("two"),
        json!(2.5),
        json!(true),
        json!([2]),
        json!(1e300),
        json!("99999999999999999999"),
    ] {
        let arguments = json!({"zone": "storage", "path": "a.md", "content": "y", "position": "replace", "line": given});
        let answer = client.call("shed_patch_text", &arguments);
        answer.refused(400, "INVALID_PARAMETER");
        assert_eq!(
            answer.body["error"]["details"]["parameter"], "line",
            "{given}"
        );
    }
    assert_eq!(content(&client, "storage", "a.md"), "1\nx\n");
}

#[test]
fn parameters_are_judged_before_anything_happens() {
    let server = TestApp::start();
    let client = server.client();
    for (name, value) in [
        ("max_output", json!("")),
        ("timeout", json!("soon")),
        ("redirect_stderr_to_stdout", json!(1)),
    ] {
        let mut arguments = json!({"zone": "storage", "cmd": "touch", "args": ["made"]});
        arguments[name] = value;
        client
            .call("shed_exec", &arguments)
            .refused(400, "INVALID_PARAMETER");
    }
    assert_eq!(
        done(&client, "shed_tree", &json!({"zone": "storage"}))["tree"],
        "."
    );
}

#[test]
fn flags_as_texts() {
    let server = TestApp::start();
    let client = server.client();
    for (given, after) in [
        (json!(true), "x"),
        (json!("true"), "x"),
        (json!("TRUE"), "x"),
        (json!(false), "old\nx"),
        (json!("false"), "old\nx"),
        (json!("False"), "old\nx"),
        (json!(null), "old\nx"),
    ] {
        file(&client, "storage", "a.md", "old");
        let arguments =
            json!({"zone": "storage", "path": "a.md", "content": "x", "overwrite": given});
        done(&client, "shed_patch_text", &arguments);
        assert_eq!(content(&client, "storage", "a.md"), after, "{given}");
    }
    for given in [json!("yes"), json!(1), json!(0), json!(""), json!([true])] {
        let arguments =
            json!({"zone": "storage", "path": "a.md", "content": "y", "overwrite": given});
        client
            .call("shed_patch_text", &arguments)
            .refused(400, "INVALID_PARAMETER");
    }
}
