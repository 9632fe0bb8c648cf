//! `shed_move_uploads_to_documents`

use serde_json::json;

use crate::ops::cross_zone;
use crate::ops::stage::{Provoked, done, output, small, upload};

pub(crate) const PROVOKED: Provoked = &[
    ("FILE_NOT_FOUND", cross_zone::missing),
    ("FILE_EXISTS", cross_zone::exists),
    ("NOT_A_FILE", cross_zone::not_a_file),
    ("PATH_ESCAPE", cross_zone::escape),
    ("PATH_STARTS_WITH_ZONE", cross_zone::zone_prefix),
    ("PROTECTED_PATH", cross_zone::protected_with_git),
    ("INVALID_PATH", cross_zone::invalid),
    ("FILE_LOCKED", cross_zone::locked),
    ("FILE_TOO_LARGE", cross_zone::too_large),
];

#[test]
fn one_commit_with_everything_that_arrived() {
    let server = small().app();
    let alice = server
        .as_user("alice")
        .header("X-OpenWebUI-User-Name", "Alice");
    upload(&alice, "d/a.md", "one");
    upload(&alice, "d/e/b.md", "two");
    upload(&alice, "c.md", "three");
    let arguments = json!({"src": "d", "dest": "x/d"});
    let data = done(&alice, "shed_move_uploads_to_documents", &arguments);
    let git = |args: &[&str]| output(&alice, "documents", "git", args);
    assert_eq!(git(&["rev-parse", "HEAD"]).trim(), data["commit"]);
    let shown = git(&["show", "--format=%an: %s", "--name-status"]);
    let expected = "Alice: Move d from uploads to documents as x/d\n\nA\tx/d/a.md\nA\tx/d/e/b.md\n";
    assert_eq!(shown, expected);
    let arguments =
        json!({"src": "c.md", "dest": "x/d/a.md", "overwrite": true, "message": "Newer"});
    let data = done(&alice, "shed_move_uploads_to_documents", &arguments);
    assert_eq!(data["size"], 5);
    let shown = git(&["show", "--format=%s", "--name-status"]);
    assert_eq!(shown, "Newer\n\nM\tx/d/a.md\n");
    // The old content is in the history.
    assert_eq!(git(&["show", "HEAD~1:x/d/a.md"]), "one");
    assert_eq!(git(&["status", "--porcelain"]), "");
}
