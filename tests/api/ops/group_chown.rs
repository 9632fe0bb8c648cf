//! `shed_group_chown`

use serde_json::json;

use crate::ops::fault;
use crate::ops::stage::{Provoked, done, small};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_OWNER", |stage| {
        for owner in ["nobody", "GRACE", "../x"] {
            let given = format!("`{owner}`");
            stage.refuses_example("new_owner", owner, &["`new_owner`", &given]);
        }
    }),
    ("NOT_FILE_OWNER", fault::owned_by_others),
    ("FILE_NOT_FOUND", fault::not_shared),
    ("NOT_A_FILE", fault::shared_directory),
    ("PATH_ESCAPE", fault::escape),
    ("PATH_STARTS_WITH_ZONE", fault::group_prefix),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("INVALID_PATH", fault::unusable_or_root),
];

#[test]
fn a_file_is_given_away() {
    let server = small().app();
    let (ada, bob) = server.team();
    let bob = bob.header("X-OpenWebUI-User-Name", "Bob");
    done(&bob, "shed_group_list", &json!({}));
    let shared = json!({"zone": "group", "group": "team", "path": "a.md", "content": "x",
        "mode": "owner"});
    done(&ada, "shed_create_file", &shared);
    // By the name that the gateway sends.
    let give = json!({"group": "team", "path": "a.md", "new_owner": "Bob"});
    let data = done(&ada, "shed_group_chown", &give);
    assert_eq!(
        data,
        json!({"path": "a.md", "old_owner": "ada", "new_owner": "bob"})
    );
    done(&bob, "shed_patch_text", &shared);
    ada.call("shed_patch_text", &shared)
        .refused(403, "PERMISSION_DENIED");
    ada.call("shed_group_chown", &give)
        .refused(403, "NOT_FILE_OWNER");
}
