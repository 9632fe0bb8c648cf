//! `shed_lockedit_open`, and what a locked edit is to everybody else.

use serde_json::{Value, json};

use crate::ops::create_file::{fill, not_a_file};
use crate::ops::fault;
use crate::ops::stage::{Provoked, content, done, file, place, ran, small};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", fault::not_yours),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_root(stage);
        fault::through_a_file(stage);
    }),
    ("PATH_ESCAPE", fault::escape_by_link),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.md", "missing/below.md"] {
            stage.refuses_example("path", path, &[&format!("`{path}`")]);
        }
    }),
    ("NOT_A_FILE", not_a_file),
    ("INVALID_FORMAT", crate::ops::binary::encrypted),
    ("QUOTA_EXCEEDED", |stage| {
        fill(stage);
        let arguments = json!({"zone": "storage", "path": "full.txt"});
        stage.refuses(&arguments, &["2.0 MB"]);
    }),
    ("FILE_LOCKED", |stage| {
        let arguments = stage.example(&json!({}));
        stage.done("shed_lockedit_open", &arguments);
        let answer = stage.refuses_to(
            &stage.client().chat("other"),
            &arguments,
            &["`notes/todo.md`", "another"],
        );
        assert!(answer.body["error"]["details"]["locked_at"].is_string());
    }),
];

#[test]
fn all_fields() {
    let server = small().app();
    let alice = server.as_user("alice").chat("chat-1");
    file(&alice, "storage", "d/a.md", "text é\n");
    let arguments = json!({"zone": "Storage", "path": "/d/a.md"});
    let expected = json!({
        "zone": "storage", "path": "d/a.md", "content": "text é\n", "is_binary": false, "size": 8,
        "locked_by": "chat-1",
    });
    assert_eq!(done(&alice, "shed_lockedit_open", &arguments), expected);
}

#[test]
fn binary_content_is_not_shown() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a.bin", "");
    for bytes in [&b"\xff\x00"[..], b"a\0b"] {
        std::fs::write(place(&server, "alice", "storage").join("a.bin"), bytes).unwrap();
        let arguments = json!({"zone": "storage", "path": "a.bin"});
        let data = done(&alice, "shed_lockedit_open", &arguments);
        assert_eq!(
            (&data["content"], &data["is_binary"]),
            (&Value::Null, &json!(true))
        );
        assert_eq!(data["size"], bytes.len());
        done(&alice, "shed_lockedit_cancel", &arguments);
    }
}

#[test]
fn opening_again_goes_on_with_the_copy() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a.md", "old");
    let arguments = json!({"zone": "storage", "path": "a.md", "content": "new"});
    done(&alice, "shed_lockedit_open", &arguments);
    done(&alice, "shed_lockedit_overwrite", &arguments);
    assert_eq!(
        done(&alice, "shed_lockedit_open", &arguments)["content"],
        "new"
    );
    assert_eq!(content(&alice, "storage", "a.md"), "old");
}

#[test]
fn no_writer_passes_a_lock() {
    let server = small().app();
    for zone in ["storage", "documents"] {
        let (first, second) = (
            server.as_user("alice").chat("1"),
            server.as_user("alice").chat("2"),
        );
        file(&first, zone, "d/a.md", "kept\n");
        file(&first, zone, "b.md", "other\n");
        done(
            &first,
            "shed_lockedit_open",
            &json!({"zone": zone, "path": "d/a.md"}),
        );
        for (operation, arguments) in [
            (
                "shed_create_file",
                json!({"path": "d/a.md", "content": "x"}),
            ),
            ("shed_patch_text", json!({"path": "d/a.md", "content": "x"})),
            (
                "shed_patch_text",
                json!({"path": "d/a.md", "content": "x", "overwrite": true, "safe": false}),
            ),
            (
                "shed_patch_bytes",
                json!({"path": "d/a.md", "content": "00"}),
            ),
            ("shed_delete", json!({"path": "d/a.md"})),
            ("shed_delete", json!({"path": "d"})),
            (
                "shed_rename",
                json!({"old_path": "d/a.md", "new_path": "c.md"}),
            ),
            ("shed_rename", json!({"old_path": "d", "new_path": "e"})),
            ("shed_exec", json!({"cmd": "rm", "args": ["d/a.md"]})),
            ("shed_exec", json!({"cmd": "rm", "args": ["-r", "d"]})),
            ("shed_exec", json!({"cmd": "rm", "args": ["d/*.md"]})),
            (
                "shed_exec",
                json!({"cmd": "sed", "args": ["-i", "s/a/b/", "d/a.md"]}),
            ),
            (
                "shed_exec",
                json!({"cmd": "cp", "args": ["b.md", "d/a.md"]}),
            ),
            ("shed_exec", json!({"cmd": "mv", "args": ["d", "e"]})),
            (
                "shed_exec",
                json!({"cmd": "echo", "args": ["x"], "stdout_file": "d/a.md"}),
            ),
            (
                "shed_exec",
                json!({"cmd": "ls", "args": ["missing"], "stderr_file": "d/a.md"}),
            ),
        ] {
            let mut arguments = arguments.clone();
            arguments["zone"] = zone.into();
            for (client, whose) in [
                (&first, "this conversation"),
                (&second, "another conversation"),
            ] {
                let answer = client.call(operation, &arguments);
                answer.refused(423, "FILE_LOCKED");
                let message = answer.body["error"]["message"].as_str().unwrap();
                assert!(message.contains(whose), "{message}");
            }
        }
        // Readers are in nobody's way, and neighbours are free.
        assert_eq!(content(&second, zone, "d/a.md"), "kept\n");
        file(&second, zone, "d/a.md2", "x");
        ran(&second, zone, "cp", &["d/a.md", "copy.md"]);
        assert_eq!(content(&second, zone, "copy.md"), "kept\n");
        done(
            &first,
            "shed_lockedit_cancel",
            &json!({"zone": zone, "path": "d/a.md"}),
        );
        file(&second, zone, "d/a.md", "free\n");
    }
}

#[test]
fn one_of_many_gets_the_lock() {
    let server = small().app();
    file(&server.as_user("alice"), "storage", "a.md", "x");
    let opened: usize = std::thread::scope(|scope| {
        let chats: Vec<_> = (0..8)
            .map(|chat| {
                let client = server.as_user("alice").chat(&format!("chat-{chat}"));
                scope.spawn(move || {
                    let answer = client.call(
                        "shed_lockedit_open",
                        &json!({"zone": "storage", "path": "a.md"}),
                    );
                    assert!(matches!(answer.status, 200 | 423), "{}", answer.text);
                    usize::from(answer.status == 200)
                })
            })
            .collect();
        chats.into_iter().map(|chat| chat.join().unwrap()).sum()
    });
    assert_eq!(opened, 1);
}

#[test]
fn names_that_look_like_locks_are_names() {
    let server = TestApp::start();
    let client = server.client();
    let long = format!("{}.md", "x".repeat(250));
    for path in ["a", "a.lock/b", &long] {
        file(&client, "storage", path, "x");
        let arguments = json!({"zone": "storage", "path": path, "content": "y"});
        done(&client, "shed_lockedit_open", &arguments);
        done(&client, "shed_lockedit_overwrite", &arguments);
        done(&client, "shed_lockedit_save", &arguments);
        assert_eq!(content(&client, "storage", path), "y");
    }
}
