//! `shed_maintenance`

use serde_json::json;

use crate::stage::{Provoked, done, file, small};

pub(crate) const PROVOKED: Provoked = &[];

#[test]
fn nothing_to_do_and_a_good_lock_stays() {
    let server = small().start();
    let alice = server.as_user("alice");
    file(&alice, "storage", "a.md", "x");
    done(
        &alice,
        "shed_lockedit_open",
        &json!({"zone": "storage", "path": "a.md"}),
    );
    let data = done(&alice, "shed_maintenance", &json!({}));
    let expected = json!({"expired_locks": [], "corrupted_locks": [], "orphan_editzones": [], "orphan_ownerships": []});
    assert_eq!(data, expected);
    done(
        &alice,
        "shed_lockedit_save",
        &json!({"zone": "storage", "path": "a.md"}),
    );
}

#[test]
fn broken_and_expired_locks_end() {
    let server = small().env("FILESHED_LOCK_MAX_AGE_HOURS", "1").start();
    let (alice, bob) = (server.as_user("alice"), server.as_user("bob"));
    for client in [&alice, &bob] {
        for path in ["broken.md", "old.md", "fine.md"] {
            file(client, "documents", path, "x");
            done(
                client,
                "shed_lockedit_open",
                &json!({"zone": "documents", "path": path}),
            );
        }
    }
    let registry = rusqlite::Connection::open(server.data().join("access_auth.sqlite")).unwrap();
    let copy: String = registry
        .query_row(
            "SELECT working_copy FROM locks WHERE path = 'broken.md' AND home = 'users/alice'",
            [],
            |row| row.get(0),
        )
        .unwrap();
    let editzone = server.data().join("users/alice/Documents/editzone");
    std::fs::remove_dir_all(editzone.join(copy)).unwrap();
    registry
        .execute(
            "UPDATE locks SET opened_at = opened_at - 3601 WHERE path = 'old.md'",
            [],
        )
        .unwrap();
    std::fs::create_dir(editzone.join("orphan")).unwrap();
    std::fs::write(editzone.join("orphan/x"), "x").unwrap();

    let data = done(&alice, "shed_maintenance", &json!({}));
    assert_eq!(data["expired_locks"], json!(["documents/old.md"]));
    assert_eq!(data["corrupted_locks"], json!(["documents/broken.md"]));
    assert_eq!(data["orphan_editzones"], json!(["documents (1)"]));
    assert!(!editzone.join("orphan").exists());
    for path in ["old.md", "broken.md"] {
        file(&alice, "documents", path, "free");
    }
    let held = json!({"zone": "documents", "path": "fine.md", "content": "y"});
    alice
        .call("shed_create_file", &held)
        .refused(423, "FILE_LOCKED");
    // What is bob's is for bob to clean.
    let data = done(&bob, "shed_maintenance", &json!({}));
    assert_eq!(data["expired_locks"], json!(["documents/old.md"]));
    assert_eq!(data["corrupted_locks"], json!([]));
}
