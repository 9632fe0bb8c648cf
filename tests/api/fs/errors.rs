//! Every row of the table of errors, and those of the second document.

use fileshed_test_support::TestApp;
use serde_json::{Value, json};

use super::{call, done, refused};

#[test]
fn all_errors_return_the_structured_envelope() {
    let app = TestApp::start();
    let client = app.client();
    for (tool, arguments, path) in [
        ("read_file", json!({}), ""),
        ("read_file", json!({"path": "a", "offset": 0}), "a"),
        ("read_file", json!({"path": "a", "encoding": "latin"}), "a"),
        (
            "grep_search",
            json!({"pattern": "(", "is_regex": true, "path": "b"}),
            "b",
        ),
        ("glob_search", json!({"pattern": ""}), ""),
        ("list_files", json!({"path": "nothing"}), "nothing"),
        ("write_file", json!({"path": "", "content": "x"}), ""),
        (
            "write_file",
            json!({"path": "a", "content": "%", "encoding": "base64"}),
            "a",
        ),
        ("write_file", json!({"path": "CON", "content": "x"}), "CON"),
        (
            "edit_file",
            json!({"path": "a", "old_string": "x", "new_string": "x"}),
            "a",
        ),
        ("stat_file", json!({"path": "x/../y"}), "x/../y"),
    ] {
        let answer = call(&client, tool, &arguments);
        assert_eq!(
            (answer.status, &answer.body["path"]),
            (200, &json!(path)),
            "{tool} {arguments}: {}",
            answer.text
        );
        let error = answer.body["error"].as_str().unwrap_or_default();
        assert!(error.len() > 10, "{tool} {arguments}: {}", answer.text);
    }
    // A request that is no call of a tool keeps its status, in the same form.
    let unknown = call(&client, "move_file", &json!({}));
    assert_eq!((unknown.status, &unknown.body["path"]), (404, &json!("")));
    let wrong = client.get("/fs/read_file");
    assert_eq!(wrong.status, 405);
    assert!(
        wrong.body["error"]
            .as_str()
            .is_some_and(|error| error.contains("POST"))
    );
    let broken = client.post("fs/read_file", b"{");
    assert_eq!(broken.status, 200);
    assert!(
        broken.body["error"]
            .as_str()
            .is_some_and(|error| error.contains("JSON"))
    );
}

#[test]
fn with_statuses_failures_are_those_of_operations() {
    let app = TestApp::with().env("FILESHED_FS_ENVELOPE", "status").app();
    let client = app.client();
    call(&client, "read_file", &json!({"path": "a"})).refused(404, "FILE_NOT_FOUND");
    call(&client, "read_file", &json!({"path": "../a"})).refused(403, "PATH_ESCAPE");
    done(&client, "write_file", &json!({"path": "a", "content": "x"}));
}

#[test]
fn file_not_found() {
    let app = TestApp::start();
    let client = app.client();
    for (tool, arguments) in [
        ("read_file", json!({"path": "no.md"})),
        (
            "edit_file",
            json!({"path": "no.md", "old_string": "a", "new_string": "b"}),
        ),
        ("list_files", json!({"path": "no.md"})),
        ("stat_file", json!({"path": "no.md"})),
    ] {
        assert_eq!(refused(&client, tool, &arguments), "File not found: no.md");
    }
    let sent = done_or_not(&client, "output_file", &json!({"path": "no.md"}));
    assert_eq!(
        sent,
        json!({"sent": false, "path": "no.md", "error": "File not found: no.md"})
    );
    let removed = done(&client, "remove_file", &json!({"path": "no.md"}));
    assert_eq!(removed, json!({"removed": false, "path": "no.md"}));
}

fn done_or_not(client: &fileshed_test_support::Client<'_>, tool: &str, arguments: &Value) -> Value {
    let answer = call(client, tool, arguments);
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body
}

#[test]
fn exceeds_limit() {
    let app = TestApp::with().env("FILESHED_FS_TEXT_LIMIT_MB", "1").app();
    let client = app.client();
    let large = "x".repeat(1_048_577);
    let error = refused(
        &client,
        "write_file",
        &json!({"path": "a", "content": large}),
    );
    assert_eq!(error, "Content size 1048577 exceeds limit of 1048576 bytes");
    let most = "x".repeat(1_048_576);
    done(
        &client,
        "write_file",
        &json!({"path": "a", "content": most}),
    );
    let grows = json!({"path": "a", "old_string": most, "new_string": large});
    let error = refused(&client, "edit_file", &grows);
    assert!(
        error.contains("exceeds limit") || error.contains("1048576"),
        "{error}"
    );
    std::fs::write(app.data().join("shared/Storage/data/b"), &large).expect("written");
    let error = refused(&client, "read_file", &json!({"path": "b"}));
    assert_eq!(error, "Content size 1048577 exceeds limit of 1048576 bytes");
}

#[test]
fn exceeds_limit_of_ten_mebibytes_unless_another_is_set() {
    let app = TestApp::start();
    let content = "x".repeat(10_485_761);
    let error = refused(
        &app.client(),
        "write_file",
        &json!({"path": "a", "content": content}),
    );
    assert_eq!(
        error,
        "Content size 10485761 exceeds limit of 10485760 bytes"
    );
}

#[test]
fn binary_file() {
    let app = TestApp::start();
    let client = app.client();
    let bytes = json!({"path": "a.bin", "content": "AAECAw==", "encoding": "base64"});
    done(&client, "write_file", &bytes);
    let error = refused(&client, "read_file", &json!({"path": "a.bin"}));
    assert!(
        error.starts_with("Refusing to read binary file: a.bin"),
        "{error}"
    );
    assert!(error.contains("base64"), "{error}");
    let read = done(
        &client,
        "read_file",
        &json!({"path": "a.bin", "encoding": "base64"}),
    );
    assert_eq!(
        (&read["content"], &read["size"]),
        (&json!("AAECAw=="), &json!(4))
    );
    let found = done(&client, "grep_search", &json!({"pattern": "\u{1}"}));
    assert_eq!(found["truncated"], false, "{found}");
}

#[test]
fn invalid_regex() {
    let app = TestApp::start();
    let client = app.client();
    let text = format!("{}b\n", "a".repeat(100_000));
    done(
        &client,
        "write_file",
        &json!({"path": "a.txt", "content": text}),
    );
    let error = refused(
        &client,
        "grep_search",
        &json!({"pattern": "(", "is_regex": true}),
    );
    assert!(error.to_lowercase().contains("regex"), "{error}");
    // Patterns that take exponential time in backtracking engines finish here.
    for pattern in ["(a+)+$", "(a|a)*c", "(.*)*x", "(a*)*b$"] {
        let arguments = json!({"pattern": pattern, "is_regex": true});
        done(&client, "grep_search", &arguments);
    }
}

#[test]
fn windows_portable_names_are_asked_for_everywhere() {
    let app = TestApp::start();
    let client = app.client();
    for name in [
        "CON", "con.txt", "PRN", "AUX", "NUL", "COM1", "lpt9.log", "a.", "a ", "a<b", "a>b",
        "a\"b", "a|b", "a?b", "a*b", "a:b", "d/CON/e",
    ] {
        let answer = call(
            &client,
            "write_file",
            &json!({"path": name, "content": "x"}),
        );
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
        assert!(answer.body["error"].is_string(), "{name}: {}", answer.text);
    }
    let listed = done(&client, "list_files", &json!({}));
    assert_eq!(listed["entries"], json!([]));
}

#[test]
fn drives_shares_and_ways_out_are_refused_before_anything_is_touched() {
    let app = TestApp::with_key();
    let client = app.as_user("alice");
    for path in [
        "..",
        "a/../b",
        r"C:\Windows",
        "c:/x",
        r"\\server\share",
        r"..\x",
    ] {
        for tool in ["read_file", "stat_file", "list_files", "remove_file"] {
            let error = refused(&client, tool, &json!({"path": path}));
            assert_eq!(
                error,
                format!("Path escapes workspace boundary: {path}"),
                "{tool}"
            );
        }
    }
    done(
        &client,
        "write_file",
        &json!({"path": "/a.md", "content": "x"}),
    );
    assert_eq!(
        done(&client, "stat_file", &json!({"path": "a.md"}))["path"],
        "a.md"
    );
}

#[test]
fn a_link_that_leads_out_is_not_followed() {
    let app = TestApp::start();
    let client = app.client();
    done(
        &client,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    let data = app.data().join("shared/Storage/data");
    std::os::unix::fs::symlink("/etc/hostname", data.join("out")).expect("made");
    let error = refused(&client, "read_file", &json!({"path": "out"}));
    assert!(
        error.starts_with("Path escapes workspace boundary: out"),
        "{error}"
    );
    let listed = done(&client, "list_files", &json!({}));
    assert_eq!(
        listed["entries"].as_array().map(Vec::len),
        Some(1),
        "{listed}"
    );
}
