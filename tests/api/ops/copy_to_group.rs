//! `shed_copy_to_group`

use serde_json::json;

use crate::ops::fault;
use crate::ops::stage::{Provoked, bring, done, file, small};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", |stage| {
        stage.refuses_example("src_zone", "attic", &["`src_zone`", "`attic`"]);
    }),
    ("ZONE_FORBIDDEN", |stage| {
        stage.refuses_example("src_zone", "group", &["group"]);
    }),
    ("INVALID_MODE", fault::invalid_mode),
    ("PERMISSION_DENIED", |stage| {
        stage.theirs("theirs.md");
        stage.theirs("d/theirs.md");
        stage.file("storage", "dir/new.md", "x");
        let onto =
            |src: &str, dest: &str| stage.example(&json!({"src_path": src, "dest_path": dest}));
        stage.refuses(&onto("notes/todo.md", "theirs.md"), &["`theirs.md`"]);
        stage.refuses(&onto("dir", "d"), &["`d/theirs.md`"]);
    }),
    ("FILE_NOT_FOUND", |stage| {
        stage.refuses_example("src_path", "missing.md", &["`missing.md`"]);
    }),
    ("FILE_EXISTS", |stage| {
        let arguments = stage.example(&json!({}));
        stage.done("shed_copy_to_group", &arguments);
        let again = stage.example(&json!({"overwrite": false}));
        stage.refuses(&again, &["`dest_path`", "`shared/todo.md`"]);
        stage.file("storage", "dir/a.md", "x");
        stage.refuses_example("src_path", "dir", &["`src_path`", "`dest_path`"]);
    }),
    ("NOT_A_FILE", |stage| {
        stage.done("shed_copy_to_group", &stage.example(&json!({})));
        stage.refuses_example("dest_path", "shared", &["`dest_path`", "`shared`"]);
    }),
    ("PATH_ESCAPE", |stage| {
        fault::escape(stage);
        stage.refuses_example("dest_path", "../x", &["`dest_path`", "`../x`"]);
    }),
    ("PATH_STARTS_WITH_ZONE", |stage| {
        stage.refuses_example("src_path", "storage/x", &["`src_path`", "`storage/x`"]);
        stage.refuses_example("dest_path", "group/x", &["`dest_path`", "`group/x`"]);
    }),
    ("PROTECTED_PATH", |stage| {
        fault::protected(stage);
        stage.refuses_example("dest_path", "a/.git/config", &["`dest_path`"]);
    }),
    ("INVALID_PATH", |stage| {
        fault::unusable_or_root(stage);
        for root in [".", "/", "a/.."] {
            stage.refuses_example("dest_path", root, &["`dest_path`", "root"]);
        }
        stage.refuses_example("dest_path", "a<b", &["`dest_path`", "`a<b`"]);
    }),
    ("FILE_LOCKED", |stage| {
        stage.done("shed_copy_to_group", &stage.example(&json!({})));
        let open = json!({"zone": "group", "group": "team", "path": "shared/todo.md"});
        done(&stage.colleague(), "shed_lockedit_open", &open);
        stage.refuses(
            &stage.example(&json!({})),
            &["`shared/todo.md`", "is locked by colleague-of-"],
        );
    }),
    ("FILE_TOO_LARGE", |stage| {
        let arguments = stage.example(&json!({"src_zone": "uploads", "src_path": "large"}));
        bring(
            &stage.client(),
            "uploads",
            "large",
            &"x".repeat((1 << 20) + 1),
        );
        stage.refuses(&arguments, &["`shared/todo.md`"]);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        let part = "x".repeat(900 << 10);
        stage.file("storage", "part", &part);
        for name in ["a", "b"] {
            let arguments = json!({"src_zone": "storage", "src_path": "part", "group": "team",
                "dest_path": name});
            stage.done("shed_copy_to_group", &arguments);
        }
        stage.refuses_example("src_path", "part", &["quota"]);
    }),
];

#[test]
fn every_file_of_a_directory_is_the_copier_s() {
    let server = small().app();
    let (ada, bob) = server.team();
    file(&ada, "documents", "d/a.md", "a\n");
    file(&ada, "documents", "d/b/c.md", "c\n");
    let copy = json!({"src_zone": "documents", "src_path": "d", "group": "team",
        "dest_path": "shared/d", "mode": "owner", "message": "Share"});
    let data = done(&ada, "shed_copy_to_group", &copy);
    assert_eq!(
        data,
        json!({"src_zone": "documents", "src_path": "d", "group": "team",
            "dest_path": "shared/d", "mode": "owner"})
    );
    for path in ["shared/d/a.md", "shared/d/b/c.md"] {
        let write = json!({"zone": "group", "group": "team", "path": path, "content": "x"});
        bob.call("shed_patch_text", &write)
            .refused(403, "PERMISSION_DENIED");
        done(&ada, "shed_patch_text", &write);
    }
    // An overwritten file keeps its owner and its mode.
    file(&bob, "storage", "mine.md", "bob\n");
    let open = json!({"zone": "group", "group": "team", "path": "open.md", "content": "x"});
    done(&ada, "shed_create_file", &open);
    let over = json!({"src_zone": "storage", "src_path": "mine.md", "group": "team",
        "dest_path": "open.md", "mode": "owner", "overwrite": true});
    done(&bob, "shed_copy_to_group", &over);
    let info = done(&bob, "shed_group_info", &json!({"group": "team"}));
    let record = json!({"path": "open.md", "size": 4, "owner": "ada", "mode": "group"});
    assert_eq!(info["files"][0], record);
    let log = json!({"zone": "group", "group": "team", "cmd": "git",
        "args": ["log", "--format=%an: %s"]});
    let log = done(&ada, "shed_exec", &log);
    assert!(
        log["stdout"].as_str().unwrap().contains("ada: Share\n"),
        "{log}"
    );
}
