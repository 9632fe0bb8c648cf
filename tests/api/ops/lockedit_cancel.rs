//! `shed_lockedit_cancel`

use serde_json::json;

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
];

#[test]
fn cancelling_drops_the_copy_and_unlocks() {
    let server = small().app();
    let alice = server.as_user("alice");
    for zone in ["storage", "documents"] {
        file(&alice, zone, "d/a.md", "old");
        for changed in [true, false] {
            let arguments = json!({"zone": zone, "path": "d/a.md", "content": "new"});
            done(&alice, "shed_lockedit_open", &arguments);
            if changed {
                done(&alice, "shed_lockedit_overwrite", &arguments);
            }
            let data = done(&alice, "shed_lockedit_cancel", &arguments);
            assert_eq!(
                data,
                json!({"zone": zone, "path": "d/a.md", "changes_discarded": changed})
            );
            assert_eq!(content(&alice, zone, "d/a.md"), "old");
            alice
                .call("shed_lockedit_cancel", &arguments)
                .refused(409, "NOT_IN_EDIT_MODE");
        }
        let editzone = server
            .data()
            .join("users/alice")
            .join(if zone == "storage" {
                "Storage"
            } else {
                "Documents"
            });
        let copies = std::fs::read_dir(editzone.join("editzone"))
            .unwrap()
            .count();
        assert_eq!(copies, 0);
        file(&alice, zone, "d/a.md", "free");
    }
}
