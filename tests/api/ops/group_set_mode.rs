//! `shed_group_set_mode`

use serde_json::json;

use crate::ops::fault;
use crate::ops::stage::{Provoked, done, small};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_MODE", fault::invalid_mode),
    ("NOT_FILE_OWNER", fault::owned_by_others),
    ("FILE_NOT_FOUND", fault::not_shared),
    ("NOT_A_FILE", fault::shared_directory),
    ("PATH_ESCAPE", fault::escape),
    ("PATH_STARTS_WITH_ZONE", fault::group_prefix),
    ("PROTECTED_PATH", fault::protected_with_git),
    ("INVALID_PATH", fault::unusable_or_root),
];

#[test]
fn the_owner_protects_a_file_from_everybody() {
    let server = small().app();
    let (ada, bob) = server.team();
    let shared = json!({"zone": "group", "group": "team", "path": "a.md", "content": "x"});
    done(&ada, "shed_create_file", &shared);
    done(&bob, "shed_patch_text", &shared);
    let set = |mode: &str| json!({"group": "team", "path": "a.md", "mode": mode});
    let data = done(&ada, "shed_group_set_mode", &set("owner_ro"));
    assert_eq!(
        data,
        json!({"path": "a.md", "old_mode": "group", "new_mode": "owner_ro"})
    );
    for client in [&ada, &bob] {
        let answer = client.call("shed_patch_text", &shared);
        answer.refused(403, "PERMISSION_DENIED");
        let hint = answer.body["error"]["hint"].as_str().unwrap();
        let own = "first shed_group_set_mode(group=\"team\", path=\"a.md\", mode=\"owner\")";
        assert_eq!(
            hint.contains(own),
            std::ptr::eq(client, &raw const ada),
            "{hint}"
        );
    }
    done(&ada, "shed_group_set_mode", &set("owner"));
    done(&ada, "shed_patch_text", &shared);
    bob.call("shed_patch_text", &shared)
        .refused(403, "PERMISSION_DENIED");
}
