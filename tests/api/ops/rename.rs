//! `shed_rename`

use serde_json::json;

use crate::ops::fault;
use crate::ops::stage::{Provoked, content, done, file, output, small};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[
    ("PERMISSION_DENIED", fault::not_yours),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("FILE_NOT_FOUND", |stage| {
        for path in ["missing.md", "missing/below", "notes/missing"] {
            stage.refuses_example("old_path", path, &[&format!("`{path}`")]);
        }
    }),
    ("FILE_EXISTS", |stage| {
        stage.file("storage", "there/a.md", "x");
        for path in ["there/a.md", "there", "notes/todo.md"] {
            stage.refuses_example("new_path", path, &[&format!("`{path}`")]);
        }
    }),
    ("PATH_ESCAPE", |stage| {
        fault::escape_by_link(stage);
        for (path, named) in [("../x", "`../x`"), ("way-out/x", "`way-out`")] {
            fault::way_out(stage);
            stage.refuses_example("new_path", path, &[named]);
        }
    }),
    ("PATH_STARTS_WITH_ZONE", |stage| {
        fault::zone_prefix(stage);
        stage.refuses_example("new_path", "storage/x", &["`new_path`", "`storage/x`"]);
    }),
    ("PROTECTED_PATH", |stage| {
        fault::protected_with_git(stage);
        stage.refuses_example("new_path", ".lfsig", &["`new_path`", "`.lfsig`"]);
        let arguments = stage.example(&json!({"zone": "documents", "new_path": "a/.git"}));
        stage.file("documents", "notes/todo.md", "x");
        stage.refuses(&arguments, &["`new_path`", "`a/.git`"]);
    }),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_root(stage);
        fault::through_a_file(stage);
        for (path, named) in [
            (".", "root"),
            ("a\u{7}", "U+0007"),
            ("new?", "`new?`"),
            ("con.md", "`con.md`"),
        ] {
            stage.refuses_example("new_path", path, &["`new_path`", named]);
        }
        let arguments = json!({"zone": "storage", "old_path": "notes", "new_path": "notes/x/y"});
        stage.refuses(&arguments, &["notes", "into itself"]);
        stage.refuses_example("new_path", "plain/below", &["plain"]);
    }),
    ("FILE_LOCKED", |stage| {
        fault::locked(stage);
        stage.file("storage", "d/held.md", "x");
        stage.done(
            "shed_lockedit_open",
            &json!({"zone": "storage", "path": "d/held.md"}),
        );
        let arguments = json!({"zone": "storage", "old_path": "d", "new_path": "e"});
        stage.refuses(&arguments, &["`d/held.md`"]);
    }),
];

#[test]
fn files_and_directories_move() {
    let server = TestApp::start();
    let client = server.client();
    for zone in ["storage", "documents"] {
        file(&client, zone, "a/b/c.txt", "text");
        let arguments = json!({"zone": zone, "old_path": "/a/b", "new_path": "x/y//z"});
        let data = done(&client, "shed_rename", &arguments);
        assert_eq!(
            data,
            json!({"zone": zone, "old_path": "a/b", "new_path": "x/y/z"})
        );
        assert_eq!(content(&client, zone, "x/y/z/c.txt"), "text");
        let arguments = json!({"zone": zone, "old_path": "x/y/z/c.txt", "new_path": "x/y/z/C.txt"});
        done(&client, "shed_rename", &arguments);
        assert_eq!(output(&client, zone, "ls", &["x/y/z"]), "C.txt\n");
    }
    let same = json!({"zone": "storage", "old_path": "x", "new_path": "x"});
    client
        .call("shed_rename", &same)
        .refused(409, "FILE_EXISTS");
}

#[test]
fn one_commit_that_git_takes_for_a_move() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(
        &alice,
        "documents",
        "d/a.md",
        "a text that is long enough to be recognised\n",
    );
    let arguments = json!({"zone": "documents", "old_path": "d", "new_path": "e"});
    done(&alice, "shed_rename", &arguments);
    let log = output(
        &alice,
        "documents",
        "git",
        &["log", "--format=%s", "--name-status", "-M", "-1"],
    );
    assert_eq!(log, "Rename d to e\n\nR100\td/a.md\te/a.md\n");
    let log = output(&alice, "documents", "git", &["log", "--oneline"]);
    assert_eq!(log.lines().count(), 2);
    let mut back = json!({"zone": "documents", "old_path": "e", "new_path": "d"});
    back["message"] = "Back".into();
    done(&alice, "shed_rename", &back);
    assert_eq!(
        output(&alice, "documents", "git", &["log", "--format=%s", "-1"]),
        "Back\n"
    );
}
