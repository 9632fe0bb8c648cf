//! Edits of binary files, and of files that another program encrypts.

use serde_json::{Value, json};

use crate::ops::stage::{Stage, bring, done, file, place, ran, small};
use fileshed_test_support::{Answer, Client, TestApp};

/// A picture of one pixel.
const PICTURE: &str = "89504e470d0a1a0a0000000d4948445200000001000000010806000000\
    1f15c4890000000d49444154789c63f8cfc0f01f00050001ff56c72f0d0000000049454e44ae426082";

/// First bytes of a file that a later version of the original Fileshed encrypted.
const MAGIC: &[u8] = b"FILESHED_ENC_V1\0";

fn bytes(client: &Client<'_>, path: &str, hex: &str) {
    let arguments = json!({"zone": "storage", "path": path, "content": hex, "file_type": "bytes"});
    done(client, "shed_create_file", &arguments);
}

/// A picture in the storage of a case.
pub(crate) fn picture(stage: &Stage<'_>) {
    bytes(&stage.client(), "p.png", PICTURE);
}

/// A file that is encrypted takes nothing from the operation of the case.
pub(crate) fn encrypted(stage: &Stage<'_>) {
    bytes(&stage.client(), "sealed", &hex::encode(sealed()));
    stage.refuses_example("path", "sealed", &["`sealed` is encrypted"]);
}

/// Files that `shed_patch_text` refuses to edit.
pub(crate) fn edits_of_text(stage: &Stage<'_>) {
    encrypted(stage);
    picture(stage);
    let edit = json!({"zone": "storage", "path": "p.png", "content": "x\n", "line": 1, "position": "replace"});
    stage.refuses(&edit, &["binary"]);
    bytes(&stage.client(), "wide.txt", "fffe61000a00");
    let edit = json!({"zone": "storage", "path": "wide.txt", "content": "x\n"});
    stage.refuses(&edit, &["utf-16le"]);
}

/// An encrypted file: after the magic nothing is recognised.
fn sealed() -> Vec<u8> {
    let noise = (1..=200u8).map(|number| number.wrapping_mul(91) | 1);
    MAGIC.iter().copied().chain(noise).collect()
}

fn text(client: &Client<'_>, path: &str, more: &Value) -> Answer {
    let mut arguments = json!({"zone": "storage", "path": path, "content": "new\n"});
    for (name, value) in more.as_object().unwrap() {
        arguments[name] = value.clone();
    }
    client.call("shed_patch_text", &arguments)
}

fn on_disk(server: &TestApp, path: &str) -> Vec<u8> {
    std::fs::read(place(server, "alice", "storage").join(path)).unwrap()
}

#[test]
fn no_edit_of_lines_spoils_what_is_no_text() {
    let server = small().app();
    let alice = server.as_user("alice");
    let gzip = "1f8b0808111111110203782e74787400cb48cdc9c9070086a6103605000000";
    let pdf = hex::encode(b"%PDF-1.4\n%\xe2\xe3\xcf\xd3\n1 0 obj\n<<>>\nendobj\n");
    let noise = hex::encode((0..=255u8).rev().collect::<Vec<_>>());
    let sealed = hex::encode(sealed());
    for (path, hex) in [
        ("p.png", PICTURE),
        ("a.gz", gzip),
        ("a.pdf", &pdf),
        ("noise.bin", &noise),
        ("sealed", &sealed),
        ("wide.txt", "fffe61000a00"),
    ] {
        // The name says nothing: a binary that is called text is one.
        for path in [path.to_owned(), format!("{path}.txt")] {
            bytes(&alice, &path, hex);
            let before = on_disk(&server, &path);
            for more in [
                json!({}),
                json!({"position": "start"}),
                json!({"position": "before", "line": 1}),
                json!({"position": "after", "line": 1}),
                json!({"position": "replace", "line": 1}),
                json!({"position": "replace", "pattern": "(?s)."}),
                json!({"position": "replace", "pattern": "P", "match_all": true}),
            ] {
                let answer = text(&alice, &path, &more);
                answer.refused(400, "INVALID_FORMAT");
                let hint = answer.body["error"]["hint"].as_str().unwrap();
                let ways = ["shed_patch_bytes", "shed_delete"];
                assert!(ways.iter().any(|way| hint.contains(way)), "{hint}");
                assert_eq!(
                    answer.body["error"]["details"]["path"], *path,
                    "{}",
                    answer.text
                );
                assert_eq!(on_disk(&server, &path), before, "{path} {more}");
            }
        }
    }
    // A whole new content is what it says, and bytes are changed as bytes.
    text(&alice, "p.png", &json!({"overwrite": true})).data();
    assert_eq!(on_disk(&server, "p.png"), b"new\n");
    let patch = json!({"zone": "storage", "path": "a.gz", "content": "ff", "position": "replace", "offset": 0, "length": 1});
    done(&alice, "shed_patch_bytes", &patch);
    assert_eq!(on_disk(&server, "a.gz")[0], 0xff);
}

#[test]
fn text_in_old_encodings_stays_editable() {
    let server = small().app();
    let alice = server.as_user("alice");
    for (path, before) in [
        ("latin.txt", &b"gr\xf6\xdfer\nals gro\xdf\n"[..]),
        ("torn.txt", b"\x80\xff\xc3(\n\xe2\x82\n"),
        ("controls.txt", b"\x01\x02 \x1b[0m \x7f\x1a\n"),
        ("begins-with-BM", b"BM\xe4rz\n"),
    ] {
        bytes(&alice, path, &hex::encode(before));
        text(&alice, path, &json!({})).data();
        text(&alice, path, &json!({"position": "before", "line": 1})).data();
        assert_eq!(
            on_disk(&server, path),
            [b"new\n", before, b"new\n"].concat(),
            "{path}"
        );
    }
}

#[test]
fn nothing_is_written_into_or_over_an_encrypted_file() {
    let server = small().app();
    let alice = server.as_user("alice");
    let content = sealed();
    let call = |operation: &str, more: Value| {
        let mut arguments = json!({"zone": "storage", "path": "sealed"});
        for (name, value) in more.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        alice.call(operation, &arguments)
    };
    bytes(&alice, "sealed", &hex::encode(&content));
    file(&alice, "storage", "plain", "plain");
    let bytes_of = |more: Value| {
        let mut all = json!({"content": "00"});
        for (name, value) in more.as_object().unwrap() {
            all[name] = value.clone();
        }
        all
    };
    for (operation, more) in [
        ("shed_patch_text", json!({"content": "x"})),
        (
            "shed_patch_text",
            json!({"content": "x", "overwrite": true}),
        ),
        ("shed_create_file", json!({"content": "x"})),
        (
            "shed_create_file",
            json!({"content": "00", "file_type": "bytes"}),
        ),
        ("shed_patch_bytes", bytes_of(json!({}))),
        ("shed_patch_bytes", bytes_of(json!({"position": "start"}))),
        (
            "shed_patch_bytes",
            bytes_of(json!({"position": "replace", "offset": 20, "length": 1})),
        ),
        ("shed_patch_bytes", bytes_of(json!({"overwrite": true}))),
        ("shed_convert_eol", json!({"to": "unix"})),
        ("shed_lockedit_open", json!({})),
        ("shed_sqlite", json!({"query": "CREATE TABLE t (a)"})),
        (
            "shed_sqlite",
            json!({"path": "x.db", "query": "SELECT 1 AS a", "output_csv": "sealed"}),
        ),
        (
            "shed_exec",
            json!({"cmd": "cat", "args": ["plain"], "stdout_file": "sealed"}),
        ),
    ] {
        if operation == "shed_sqlite" && more["path"] == "x.db" {
            done(
                &alice,
                operation,
                &json!({"zone": "storage", "path": "x.db", "query": "CREATE TABLE t (a)"}),
            );
        }
        call(operation, more.clone()).refused(400, "INVALID_FORMAT");
        assert_eq!(on_disk(&server, "sealed"), content, "{operation} {more}");
    }
    bring(&alice, "uploads", "sealed", "from outside");
    let over = json!({"src": "sealed", "dest": "sealed", "overwrite": true});
    let answer = alice.call("shed_move_uploads_to_storage", &over);
    answer.refused(400, "INVALID_FORMAT");
    assert_eq!(on_disk(&server, "sealed"), content);
    // It is found, copied, moved and given up as any other file.
    assert_eq!(
        ran(&alice, "storage", "cp", &["sealed", "copy"])["returncode"],
        0
    );
    let rename = json!({"zone": "storage", "old_path": "copy", "new_path": "moved"});
    done(&alice, "shed_rename", &rename);
    assert_eq!(on_disk(&server, "moved"), content);
    call("shed_delete", json!({})).data();
    file(&alice, "storage", "sealed", "plain now");
}
