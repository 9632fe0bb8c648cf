//! `shed_move_uploads_to_storage`

use serde_json::json;

use crate::ops::cross_zone;
use crate::ops::stage::{Provoked, content, done, output, small, upload};

pub(crate) const PROVOKED: Provoked = cross_zone::PROVOKED;

#[test]
fn a_conversation_moves_its_own_uploads() {
    let server = small().app();
    let alice = server.as_user("alice");
    let other = server.as_user("alice").chat("other");
    upload(&alice, "a.md", "first");
    upload(&other, "a.md", "second");
    upload(&other, "project/.git/config", "a repository of its own");
    let arguments = json!({"src": "a.md", "dest": "a.md"});
    let data = done(&alice, "shed_move_uploads_to_storage", &arguments);
    let expected = json!({"source": "a.md", "destination": "a.md", "size": 5});
    assert_eq!(data, expected);
    let answer = alice.call("shed_move_uploads_to_storage", &arguments);
    answer.refused(404, "FILE_NOT_FOUND");
    let mut arguments = arguments;
    arguments["overwrite"] = true.into();
    done(&other, "shed_move_uploads_to_storage", &arguments);
    assert_eq!(content(&alice, "storage", "a.md"), "second");
    // Storage takes repositories.
    let arguments = json!({"src": "project", "dest": "project"});
    done(&other, "shed_move_uploads_to_storage", &arguments);
    let found = output(&alice, "storage", "find", &["project", "-type", "f"]);
    assert_eq!(found, "project/.git/config\n");
}
