//! `shed_patch_bytes`

use serde_json::{Value, json};

use crate::ops::create_file::{fill, not_a_file};
use crate::ops::fault;
use crate::ops::stage::{Provoked, done, output};
use fileshed_test_support::{Client, TestApp};

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", fault::not_yours),
    ("INVALID_MODE", fault::invalid_mode),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("FILE_NOT_FOUND", |stage| {
        for position in ["at", "replace"] {
            let arguments = json!({
                "zone": "storage", "path": "missing/a.bin", "content": "00", "position": position, "offset": 0,
            });
            stage.refuses(&arguments, &["`missing/a.bin`"]);
        }
    }),
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
        stage.file("storage", "full.bin", &"x".repeat(1 << 20));
        for position in ["start", "end"] {
            let arguments = json!({"zone": "storage", "path": "full.bin", "content": "00", "position": position});
            stage.refuses(&arguments, &["`full.bin`", "1048577"]);
        }
    }),
    ("QUOTA_EXCEEDED", |stage| {
        fill(stage);
        let arguments = json!({"zone": "documents", "path": "new.bin", "content": "00"});
        stage.refuses(&arguments, &["2.0 MB"]);
    }),
];

#[track_caller]
fn hex(client: &Client<'_>) -> String {
    let dump = output(client, "storage", "od", &["-An", "-v", "-tx1", "a.bin"]);
    dump.replace([' ', '\n'], "")
}

/// A call on `a.bin` with more arguments.
fn with(more: &Value) -> Value {
    let mut arguments = json!({"zone": "storage", "path": "a.bin"});
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    arguments
}

#[test]
fn each_position() {
    let server = TestApp::start();
    let client = server.client();
    for (more, affected, after) in [
        (json!({"content": "3333"}), 2, "0011223333"),
        (json!({"content": "33", "position": "START"}), 1, "33001122"),
        (
            json!({"content": "33", "position": "at", "offset": 1}),
            1,
            "00331122",
        ),
        (
            json!({"content": "33", "position": "at", "offset": "3"}),
            1,
            "00112233",
        ),
        (
            json!({"content": "33", "position": "replace", "offset": 0}),
            1,
            "331122",
        ),
        (
            json!({"content": "3344", "position": "replace", "offset": 2}),
            2,
            "00113344",
        ),
        (
            json!({"content": "33", "position": "replace", "offset": 0, "length": 2}),
            2,
            "3322",
        ),
        (
            json!({"content": "", "position": "replace", "offset": 1, "length": 99}),
            2,
            "00",
        ),
        (
            json!({"content": "33", "position": "replace", "offset": 3, "length": 0}),
            1,
            "00112233",
        ),
        (
            json!({"content": "33", "overwrite": true, "position": "x", "offset": "y", "length": {}}),
            1,
            "33",
        ),
        (
            json!({"content": "33", "position": "overwrite", "offset": 1}),
            1,
            "33",
        ),
        (
            json!({"content": "Mw==", "content_format": "base64"}),
            1,
            "00112233",
        ),
    ] {
        done(
            &client,
            "shed_patch_bytes",
            &with(&json!({"content": "001122", "overwrite": "true"})),
        );
        let data = done(&client, "shed_patch_bytes", &with(&more));
        assert_eq!(hex(&client), after, "{more}");
        assert_eq!(
            (&data["bytes_affected"], &data["created"]),
            (&json!(affected), &json!(false)),
            "{more}"
        );
        assert_eq!(data["file_size"], after.len() / 2, "{more}");
    }
}

#[test]
fn all_fields() {
    let server = TestApp::start();
    let client = server.client();
    let arguments =
        json!({"zone": "storage", "path": "new/a.bin", "content": "0011", "safe": false});
    let expected = json!({
        "path": "new/a.bin", "zone": "storage", "position": "end", "bytes_written": 2, "bytes_affected": 2,
        "created": true, "file_size": 2, "safe_mode": false, "content_format": "hex",
    });
    assert_eq!(done(&client, "shed_patch_bytes", &arguments), expected);
    let arguments = json!({
        "zone": "storage", "path": "new/a.bin", "content": "x", "content_format": "raw", "position": "at", "offset": 1,
    });
    let data = done(&client, "shed_patch_bytes", &arguments);
    assert_eq!(
        (&data["offset"], &data["content_format"]),
        (&json!(1), &json!("raw"))
    );
}

#[test]
fn places_that_are_none() {
    let server = TestApp::start();
    let client = server.client();
    done(
        &client,
        "shed_patch_bytes",
        &with(&json!({"content": "001122"})),
    );
    for (more, code, named) in [
        (json!({"position": "at"}), "MISSING_PARAMETER", "`offset`"),
        (
            json!({"position": "replace"}),
            "MISSING_PARAMETER",
            "`offset`",
        ),
        (
            json!({"position": "at", "offset": 4}),
            "INVALID_PARAMETER",
            "`4`",
        ),
        (
            json!({"position": "at", "offset": -1}),
            "INVALID_PARAMETER",
            "`-1`",
        ),
        (
            json!({"position": "replace", "offset": 0, "length": -5}),
            "INVALID_PARAMETER",
            "`-5`",
        ),
        (
            json!({"position": "before", "offset": 0}),
            "INVALID_PARAMETER",
            "`before`",
        ),
        (json!({"content": "0"}), "INVALID_PARAMETER", "`content`"),
        (json!({"content": "zz"}), "INVALID_PARAMETER", "`z`"),
        (
            json!({"content_format": "utf8"}),
            "INVALID_PARAMETER",
            "`utf8`",
        ),
    ] {
        let mut arguments = with(&json!({"content": "33"}));
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        let answer = client.call("shed_patch_bytes", &arguments);
        answer.refused(400, code);
        assert!(
            answer.body["error"]["message"]
                .as_str()
                .unwrap()
                .contains(named),
            "{}",
            answer.text
        );
        assert_eq!(hex(&client), "001122");
    }
}
