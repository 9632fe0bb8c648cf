//! Reads leave nothing behind: a conversation has a directory once something was uploaded into it.

use serde_json::{Value, json};

use fileshed_test_support::TestApp;

#[test]
fn a_conversation_that_only_looks_has_no_directory() {
    let server = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_NAMESPACE", "plain")
        .app();
    let uploads = server.data().join("users/alice/Uploads");
    for chat in ["one", "two", "{odd}"] {
        let alice = server.as_user("alice").chat(chat);
        alice.data_in("uploads", "shed_tree", json!({}));
        for line in [
            &["ls", "-la"][..],
            &["find", "."],
            &["du", "-s", "."],
            &["sort", "-o", "/dev/stdout"],
        ] {
            let ran = json!({"cmd": line[0], "args": line[1..]});
            let answer = alice.call(
                "shed_exec",
                &json!({"zone": "uploads", "cmd": ran["cmd"], "args": ran["args"]}),
            );
            assert!(
                answer.status == 200 || line[0] == "sort",
                "{line:?}: {}",
                answer.text
            );
        }
        let found = alice.data_in(
            "uploads",
            "shed_exec",
            json!({"cmd": "find", "args": ["."]}),
        );
        assert_eq!(found["stdout"], ".\n");
        alice.call("shed_stats", &json!({})).data();
        alice.call("shed_link_list", &json!({})).data();
        let none = |operation: &str, arguments: Value| {
            alice
                .call(operation, &arguments)
                .refused(404, "FILE_NOT_FOUND");
        };
        none("shed_delete", json!({"zone": "uploads", "path": "a"}));
        none("shed_file_type", json!({"zone": "uploads", "path": "a"}));
        none(
            "shed_move_uploads_to_storage",
            json!({"src": "a", "dest": "a"}),
        );
        alice.call("shed_import", &json!({"import_all": true}));
        alice.call("shed_maintenance", &json!({})).data();
        alice
            .call(
                "shed_create_file",
                &json!({"zone": "uploads", "path": "a", "content": "a"}),
            )
            .refused(403, "ZONE_READONLY");
        alice.get("/files/content?zone=uploads&path=a");
        assert!(!uploads.exists(), "{chat}");
    }
    // An upload makes the directory, which exists for its conversation alone.
    let alice = server.as_user("alice").chat("one");
    let brought = alice.send(
        "PUT",
        "/files/content?zone=uploads&path=a.txt",
        b"brought\n",
    );
    assert!(matches!(brought.status, 200 | 201), "{}", brought.text);
    let shown = alice.data_in(
        "uploads",
        "shed_exec",
        json!({"cmd": "cat", "args": ["a.txt"]}),
    );
    assert_eq!(shown["stdout"], "brought\n");
    let made: Vec<_> = std::fs::read_dir(&uploads)
        .expect("listed")
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert_eq!(made, ["one"]);
    let other = server.as_user("alice").chat("two");
    let found = other.data_in(
        "uploads",
        "shed_exec",
        json!({"cmd": "find", "args": ["."]}),
    );
    assert_eq!(found["stdout"], ".\n");
    let nothing = server.data().join("users/alice/.empty");
    assert_eq!(std::fs::read_dir(nothing).expect("listed").count(), 0);
}
