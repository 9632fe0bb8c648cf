//! `shed_delete`

use serde_json::json;

use crate::ops::fault;
use crate::ops::stage::{Provoked, done, file, output, ran, small};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", fault::not_yours),
    ("INVALID_ZONE", fault::invalid_zone),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.md", "missing/below", "notes/missing"] {
            stage.refuses_example("path", path, &[&format!("`{path}`")]);
        }
        // Uploads can be deleted from, where there is something.
        stage.refuses(&json!({"zone": "uploads", "path": "a"}), &["`a`"]);
    }),
    ("PATH_ESCAPE", fault::escape_by_link),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_root(stage);
        fault::through_a_file(stage);
    }),
    ("FILE_EXISTS", |stage| {
        // Only a server with a bin brings anything back.
        let app = small().env("FILESHED_BIN_DAYS", "7").app();
        let client = app.as_user("ada");
        let arguments = json!({"zone": "storage", "path": "a.md"});
        file(&client, "storage", "a.md", "old");
        done(&client, "shed_delete", &arguments);
        file(&client, "storage", "a.md", "new");
        let again = json!({"zone": "storage", "path": "a.md", "restore": true});
        stage.refused_elsewhere(&client.call("shed_delete", &again));
    }),
    ("FILE_LOCKED", |stage| {
        fault::locked(stage);
        // A directory that holds a locked file is locked too.
        stage.file("storage", "d/held.md", "x");
        stage.done(
            "shed_lockedit_open",
            &json!({"zone": "storage", "path": "d/held.md"}),
        );
        stage.refuses(&json!({"zone": "storage", "path": "d"}), &["`d/held.md`"]);
    }),
];

#[test]
fn files_and_directories_go() {
    let server = TestApp::with().env("FILESHED_BIN_DAYS", "0").app();
    let client = server.client();
    for zone in ["storage", "documents"] {
        file(&client, zone, "a/b/c.txt", "x");
        file(&client, zone, "a/d.txt", "x");
        file(&client, zone, "ab", "x");
        let data = done(
            &client,
            "shed_delete",
            &json!({"zone": zone, "path": "/a/d.txt"}),
        );
        assert_eq!(
            data,
            json!({"zone": zone, "deleted": "a/d.txt", "was_directory": false})
        );
        let data = done(&client, "shed_delete", &json!({"zone": zone, "path": "a/"}));
        assert_eq!(
            data,
            json!({"zone": zone, "deleted": "a", "was_directory": true})
        );
        assert_eq!(output(&client, zone, "ls", &[]), "ab\n");
    }
    ran(&client, "storage", "mkdir", &["-p", "empty/x"]);
    done(
        &client,
        "shed_delete",
        &json!({"zone": "storage", "path": "empty"}),
    );
}

#[test]
fn what_was_deleted_from_documents_is_in_history() {
    let server = small().app();
    let alice = server
        .as_user("alice")
        .header("X-OpenWebUI-User-Name", "Alice");
    file(&alice, "documents", "d/a.md", "text\n");
    file(&alice, "documents", "d/b.md", "text\n");
    done(
        &alice,
        "shed_delete",
        &json!({"zone": "documents", "path": "d", "message": "Not needed"}),
    );
    let log = output(
        &alice,
        "documents",
        "git",
        &["log", "-1", "--format=%an: %s", "--name-status"],
    );
    assert_eq!(log, "Alice: Not needed\n\nD\td/a.md\nD\td/b.md\n");
    output(
        &alice,
        "documents",
        "git",
        &["restore", "--source=HEAD~1", "d/a.md"],
    );
    assert_eq!(output(&alice, "documents", "cat", &["d/a.md"]), "text\n");
    done(
        &alice,
        "shed_delete",
        &json!({"zone": "documents", "path": "d"}),
    );
    let log = output(&alice, "documents", "git", &["log", "-1", "--format=%s"]);
    assert_eq!(log, "Delete d\n");
}
