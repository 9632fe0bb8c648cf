//! `shed_lockedit_save`

pub(crate) mod changed;

use serde_json::json;

use crate::ops::create_file::fill;
use crate::ops::fault;
use crate::ops::stage::{Provoked, content, done, file, output, small};

pub(crate) const PROVOKED: Provoked = &[
    ("NOT_LOCK_OWNER", fault::not_lock_owner),
    ("PERMISSION_DENIED", |stage| {
        let shared = json!({"zone": "group", "group": "team", "path": "a.md", "content": "x"});
        done(&stage.colleague(), "shed_create_file", &shared);
        stage.done("shed_lockedit_open", &shared);
        // Protected while it was open.
        let set = json!({"group": "team", "path": "a.md", "mode": "owner"});
        done(&stage.colleague(), "shed_group_set_mode", &set);
        stage.refuses(&shared, &["`a.md`"]);
    }),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("INVALID_PATH", fault::unusable_or_root),
    ("PATH_ESCAPE", fault::escape),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("NOT_IN_EDIT_MODE", fault::not_open),
    ("FILE_LOCKED", fault::open_elsewhere),
    ("PRECONDITION_FAILED", changed::under_the_lock),
    ("NOT_A_FILE", changed::by_a_directory),
    ("FILE_TOO_LARGE", |stage| {
        let arguments = stage.example(&json!({}));
        let editzone = stage.place("storage").with_file_name("editzone");
        let copy = std::fs::read_dir(editzone)
            .unwrap()
            .next()
            .unwrap()
            .unwrap();
        std::fs::write(copy.path().join("todo.md"), "x".repeat((1 << 20) + 1)).unwrap();
        // Bytes that were written without the server are counted by the first call that looks.
        stage.client().call("shed_lockedit_save", &arguments);
        stage.refuses(&arguments, &["`notes/todo.md`", "1048577"]);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        stage.file("storage", "a.md", "");
        let arguments = json!({"zone": "storage", "path": "a.md", "content": "x"});
        stage.done("shed_lockedit_open", &arguments);
        fill(stage);
        let editzone = stage.place("storage").with_file_name("editzone");
        let copies = std::fs::read_dir(editzone).unwrap();
        let copy = copies
            .flatten()
            .find(|copy| copy.path().join("a.md").exists());
        std::fs::write(copy.unwrap().path().join("a.md"), "x").unwrap();
        stage.client().call("shed_lockedit_save", &arguments);
        stage.refuses(&arguments, &["2.0 MB"]);
        // Lock and copy stay until there is room.
        stage.refuses(&arguments, &["2.0 MB"]);
        stage.done(
            "shed_delete",
            &json!({"zone": "storage", "path": "full.txt"}),
        );
        assert_eq!(stage.done("shed_lockedit_save", &arguments)["size"], 1);
    }),
];

#[test]
fn saving_writes_commits_and_unlocks() {
    let server = small().app();
    let (first, second) = (
        server.as_user("alice").chat("1"),
        server.as_user("alice").chat("2"),
    );
    for (zone, committed) in [("storage", false), ("documents", true)] {
        file(&first, zone, "a.md", "old\n");
        let arguments =
            json!({"zone": zone, "path": "a.md", "content": "new\n", "message": "Better"});
        done(&first, "shed_lockedit_open", &arguments);
        done(&first, "shed_lockedit_overwrite", &arguments);
        let data = done(&first, "shed_lockedit_save", &arguments);
        assert_eq!(
            data,
            json!({"zone": zone, "path": "a.md", "size": 4, "committed": committed})
        );
        assert_eq!(content(&second, zone, "a.md"), "new\n");
        file(&second, zone, "a.md", "free\n");
        first
            .call("shed_lockedit_save", &arguments)
            .refused(409, "NOT_IN_EDIT_MODE");
        // Without a change there is nothing to commit.
        done(&first, "shed_lockedit_open", &arguments);
        assert_eq!(
            done(&first, "shed_lockedit_save", &arguments)["committed"],
            false
        );
    }
    let log = output(&first, "documents", "git", &["log", "--format=%s"]);
    assert_eq!(log, "Update a.md\nBetter\nCreate a.md\n");
}

#[test]
fn a_default_message() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "documents", "a.md", "old\n");
    let arguments =
        json!({"zone": "documents", "path": "a.md", "content": "new\n", "message": " "});
    done(&alice, "shed_lockedit_open", &arguments);
    done(&alice, "shed_lockedit_overwrite", &arguments);
    done(&alice, "shed_lockedit_save", &arguments);
    assert_eq!(
        output(
            &alice,
            "documents",
            "git",
            &["log", "-1", "--format=%an %s"]
        ),
        "alice Edit a.md\n"
    );
}
