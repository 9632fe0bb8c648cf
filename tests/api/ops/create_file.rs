//! `shed_create_file`

use serde_json::{Value, json};

use crate::ops::fault;
use crate::ops::stage::{Provoked, Stage, content, done, file, output, small};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", fault::not_yours),
    ("INVALID_MODE", fault::invalid_mode),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("NOT_A_FILE", not_a_file),
    ("INVALID_FORMAT", crate::ops::binary::encrypted),
    ("PATH_ESCAPE", fault::escape_by_link),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_odd(stage);
        fault::through_a_file(stage);
    }),
    ("FILE_LOCKED", fault::locked),
    ("FILE_TOO_LARGE", |stage| {
        let large = "x".repeat((1 << 20) + 1);
        let arguments = json!({"zone": "storage", "path": "new.txt", "content": large});
        stage.refuses(&arguments, &["`new.txt`", "1048577", "1048576"]);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        fill(stage);
        let arguments = json!({"zone": "documents", "path": "new.txt", "content": "x"});
        stage.refuses(&arguments, &["2.0 MB"]);
    }),
];

/// A directory where a file should be.
pub(crate) fn not_a_file(stage: &Stage<'_>) {
    stage.file("storage", "folder/x", "x");
    stage.refuses_example("path", "folder", &["`folder`", "a directory"]);
}

/// Uses the quota to the last byte.
pub(crate) fn fill(stage: &Stage<'_>) {
    for zone in ["storage", "documents"] {
        stage.file(zone, "full.txt", &"x".repeat(1 << 20));
    }
}

#[test]
fn a_format_alone_means_bytes() {
    let server = TestApp::start();
    let client = server.client();
    let mut arguments = json!({"zone": "storage", "path": "a", "content": "aGVsbG8=",
        "content_format": "base64"});
    done(&client, "shed_create_file", &arguments);
    assert_eq!(content(&client, "storage", "a"), "hello");
    arguments["file_type"] = "text".into();
    done(&client, "shed_create_file", &arguments);
    assert_eq!(content(&client, "storage", "a"), "aGVsbG8=");
}

#[test]
fn text_is_written_as_it_is() {
    let server = TestApp::start();
    let client = server.client();
    for (text, lines) in [
        ("", 0),
        ("a", 1),
        ("a\n", 1),
        ("a\r\nb", 2),
        ("\n\n", 2),
        ("\u{feff}é\u{0}\u{2028}x\n", 1),
    ] {
        let arguments =
            json!({"zone": "storage", "path": "d/a.txt", "content": text, "position": "nonsense"});
        let created = json!({
            "path": "d/a.txt", "zone": "storage", "position": "overwrite", "lines_affected": lines,
            "created": text.is_empty(), "file_size": text.len(), "safe_mode": true,
        });
        assert_eq!(done(&client, "shed_create_file", &arguments), created);
        assert_eq!(content(&client, "storage", "d/a.txt"), text);
    }
}

#[test]
fn bytes_in_each_format() {
    let server = TestApp::start();
    let client = server.client();
    for (given, format, hex) in [
        ("00ff10", Value::Null, "00ff10"),
        ("00 FF 10", json!("hex"), "00ff10"),
        ("0x00, 0xff", json!("HEX"), "00ff"),
        ("AP8Q", json!("base64"), "00ff10"),
        ("AP8", json!("base64"), "00ff"),
        ("é", json!("raw"), "c3a9"),
        ("", json!(""), ""),
    ] {
        let arguments = json!({
            "zone": "storage", "path": "a.bin", "content": given, "file_type": "BYTES", "content_format": format,
        });
        let data = done(&client, "shed_create_file", &arguments);
        assert_eq!(
            (&data["bytes_written"], &data["file_size"]),
            (&json!(hex.len() / 2), &json!(hex.len() / 2))
        );
        assert!(data.get("lines_affected").is_none());
        let dump = output(&client, "storage", "od", &["-An", "-tx1", "a.bin"]);
        assert_eq!(dump.replace([' ', '\n'], ""), hex, "{given}");
    }
}

#[test]
fn content_that_is_not_in_its_format() {
    let server = TestApp::start();
    let client = server.client();
    for (name, value) in [
        ("content", "0g"),
        ("content", "abc"),
        ("content_format", "octal"),
        ("file_type", "picture"),
    ] {
        let mut arguments =
            json!({"zone": "storage", "path": "a.bin", "content": "00", "file_type": "bytes"});
        arguments[name] = value.into();
        let answer = client.call("shed_create_file", &arguments);
        answer.refused(400, "INVALID_PARAMETER");
        let message = answer.body["error"]["message"].as_str().unwrap();
        assert!(message.contains(name), "{message}");
    }
    assert_eq!(output(&client, "storage", "ls", &[]), "");
}

#[test]
fn one_commit_a_file_in_documents() {
    let server = small().app();
    let alice = server
        .as_user("alice")
        .header("X-OpenWebUI-User-Name", "Alice Li")
        .header("X-OpenWebUI-User-Email", "alice@example.org");
    file(&alice, "documents", "a.md", "one\n");
    file(&alice, "documents", "a.md", "one\n");
    let arguments =
        json!({"zone": "documents", "path": "a.md", "content": "two\n", "message": "Say two"});
    done(&alice, "shed_create_file", &arguments);
    let log = output(&alice, "documents", "git", &["log", "--format=%an %ae: %s"]);
    let author = "Alice Li alice@example.org";
    assert_eq!(log, format!("{author}: Say two\n{author}: Create a.md\n"));
}

/// The whole quota of the server below.
const MEBIBYTE: usize = 1 << 20;

#[test]
fn the_quota_holds_to_the_byte() {
    let server = small().env("FILESHED_QUOTA_PER_USER_MB", "1").app();
    let alice = server.as_user("alice");
    let call = |path: &str, size: usize| {
        let arguments = json!({"zone": "storage", "path": path, "content": "x".repeat(size)});
        alice.call("shed_create_file", &arguments)
    };
    call("a", MEBIBYTE - 10).data();
    call("b", 11).refused(507, "QUOTA_EXCEEDED");
    call("b", 10).data();
    call("c", 1).refused(507, "QUOTA_EXCEEDED");
    call("c", 0).data();
    // The bytes of a replaced file do not count against the quota.
    call("a", MEBIBYTE - 9).refused(507, "QUOTA_EXCEEDED");
    call("a", MEBIBYTE - 10).data();
    call("a", MEBIBYTE - 11).data();
    call("c", 1).data();
    // Others have their own.
    file(&server.as_user("bob"), "storage", "a", "x");
    let stats = done(&alice, "shed_stats", &json!({}));
    assert_eq!(stats["total"]["size_bytes"], MEBIBYTE);
}
