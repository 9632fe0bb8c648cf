//! `shed_move_documents_to_storage`

use serde_json::json;

use crate::ops::cross_zone;
use crate::ops::stage::{Provoked, content, done, file, output, small};

pub(crate) const PROVOKED: Provoked = cross_zone::PROVOKED;

#[test]
fn the_removal_is_a_commit_and_the_history_stays() {
    let server = small().app();
    let alice = server.as_user("alice");
    file(&alice, "documents", "d/a.md", "one");
    file(&alice, "documents", "d/b.md", "two");
    file(&alice, "storage", "old/c.md", "three");
    let arguments = json!({"src": "d", "dest": "old", "overwrite": true});
    let data = done(&alice, "shed_move_documents_to_storage", &arguments);
    let git = |args: &[&str]| output(&alice, "documents", "git", args);
    assert_eq!(git(&["rev-parse", "HEAD"]).trim(), data["commit"]);
    let shown = git(&["show", "--format=%s", "--name-status"]);
    let expected = "Move d from documents to storage as old\n\nD\td/a.md\nD\td/b.md\n";
    assert_eq!(shown, expected);
    assert_eq!(git(&["show", "HEAD~1:d/b.md"]), "two");
    assert_eq!(output(&alice, "storage", "ls", &["old"]), "a.md\nb.md\n");
    assert_eq!(content(&alice, "storage", "old/a.md"), "one");
    file(&alice, "documents", "e.md", "text");
    let arguments = json!({"src": "e.md", "dest": "e.md", "message": "Not final"});
    done(&alice, "shed_move_documents_to_storage", &arguments);
    assert_eq!(git(&["log", "-1", "--format=%s"]), "Not final\n");
}
