//! `shed_lockedit_overwrite`

use serde_json::json;

use crate::ops::create_file::fill;
use crate::ops::fault;
use crate::ops::stage::{Provoked, content, done, file, small};

pub(crate) const PROVOKED: Provoked = &[
    ("NOT_LOCK_OWNER", fault::not_lock_owner),
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("INVALID_PATH", fault::unusable_or_root),
    ("PATH_ESCAPE", fault::escape),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("NOT_IN_EDIT_MODE", fault::not_open),
    ("FILE_LOCKED", fault::open_elsewhere),
    ("INVALID_FORMAT", |stage| {
        let place = json!({"zone": "storage", "path": "p.png"});
        crate::ops::binary::picture(stage);
        stage.done("shed_lockedit_open", &place);
        let append = json!({"zone": "storage", "path": "p.png", "content": "x", "append": true});
        stage.refuses(&append, &["binary"]);
        stage.done("shed_lockedit_cancel", &place);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        stage.file("storage", "a.md", "");
        let arguments = json!({"zone": "storage", "path": "a.md", "content": "x"});
        stage.done("shed_lockedit_open", &arguments);
        fill(stage);
        stage.refuses(&arguments, &["2.0 MB", "1 B more"]);
        stage.done("shed_lockedit_cancel", &arguments);
        for zone in ["storage", "documents"] {
            let full = json!({"zone": zone, "path": "full.txt"});
            stage.done("shed_delete", &full);
        }
    }),
    ("FILE_TOO_LARGE", |stage| {
        let large = "x".repeat((1 << 20) + 1);
        stage.refuses_example("content", &large, &["1048577", "1048576"]);
        let arguments = stage.example(&json!({"content": "x".repeat(1 << 20), "append": true}));
        stage.refuses(&arguments, &["1048576"]);
    }),
];

#[test]
fn the_copy_changes_and_the_file_does_not() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a.md", "old\n");
    done(
        &alice,
        "shed_lockedit_open",
        &json!({"zone": "storage", "path": "a.md"}),
    );
    for (text, append, size, mode) in [
        ("é\n", json!("false"), 3, "overwrite"),
        ("more\n", json!(true), 8, "append"),
        ("", json!(true), 8, "append"),
        ("", json!(null), 0, "overwrite"),
        ("a line", json!("TRUE"), 6, "append"),
        ("end", json!(true), 10, "append"),
    ] {
        let arguments =
            json!({"zone": "storage", "path": "a.md", "content": text, "append": append});
        let data = done(&alice, "shed_lockedit_overwrite", &arguments);
        let expected = json!({
            "zone": "storage", "path": "a.md", "bytes_written": text.len(), "new_size": size, "mode": mode,
        });
        assert_eq!(data, expected);
        assert_eq!(content(&alice, "storage", "a.md"), "old\n");
    }
    done(
        &alice,
        "shed_lockedit_save",
        &json!({"zone": "storage", "path": "a.md"}),
    );
    assert_eq!(content(&alice, "storage", "a.md"), "a line\nend");
}
