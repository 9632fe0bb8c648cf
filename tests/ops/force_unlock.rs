//! `shed_force_unlock`

use serde_json::json;

use crate::fault;
use crate::stage::{Provoked, done, file, small};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", fault::invalid_zone),
    ("ZONE_READONLY", fault::uploads),
    ("NOT_IN_EDIT_MODE", fault::not_open),
    ("INVALID_PATH", fault::unusable_or_root),
    ("PATH_ESCAPE", fault::escape),
    ("PATH_STARTS_WITH_ZONE", fault::zone_prefix),
    ("PROTECTED_PATH", fault::protected_with_git),
];

#[test]
fn any_conversation_ends_a_lock() {
    let server = small().start();
    let (first, second) = (
        server.as_user("alice").chat("one"),
        server.as_user("alice").chat("two"),
    );
    for (zone, chat) in [("storage", &second), ("documents", &first)] {
        file(&first, zone, "a.md", "old");
        let arguments = json!({"zone": zone, "path": "a.md", "content": "new"});
        done(&first, "shed_lockedit_open", &arguments);
        done(&first, "shed_lockedit_overwrite", &arguments);
        let data = done(chat, "shed_force_unlock", &arguments);
        let message = data["message"].as_str().unwrap();
        assert!(
            message.contains("a.md") && message.contains("one"),
            "{message}"
        );
        for operation in [
            "shed_lockedit_save",
            "shed_lockedit_overwrite",
            "shed_lockedit_cancel",
        ] {
            first
                .call(operation, &arguments)
                .refused(409, "NOT_IN_EDIT_MODE");
        }
        file(&second, zone, "a.md", "free");
    }
}

#[test]
fn nobody_ends_the_lock_of_another_user() {
    let server = small().start();
    let (alice, bob) = (server.as_user("alice"), server.as_user("bob"));
    for client in [&alice, &bob] {
        file(client, "storage", "a.md", "x");
    }
    let arguments = json!({"zone": "storage", "path": "a.md"});
    done(&alice, "shed_lockedit_open", &arguments);
    bob.call("shed_force_unlock", &arguments)
        .refused(409, "NOT_IN_EDIT_MODE");
    done(&alice, "shed_lockedit_save", &arguments);
}
