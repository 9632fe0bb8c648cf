//! `shed_maintenance`

use fileshed_test_support::TestApp;
use serde_json::json;

use crate::ops::stage::{Provoked, done, file, small};

pub(crate) const PROVOKED: Provoked = &[];

#[test]
fn nothing_to_do_and_a_good_lock_stays() {
    let server = small().app();
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
    let server = small().env("FILESHED_LOCK_MAX_AGE_HOURS", "1").app();
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
    // A user's leftovers are cleaned by the user's own call.
    let data = done(&bob, "shed_maintenance", &json!({}));
    assert_eq!(data["expired_locks"], json!(["documents/old.md"]));
    assert_eq!(data["corrupted_locks"], json!([]));
}

#[test]
fn administrators_clean_up_for_everybody_and_see_numbers() {
    let server = small().env("FILESHED_LOCK_MAX_AGE_HOURS", "1").app();
    let admin = server
        .as_user("root")
        .header("X-OpenWebUI-User-Role", "admin");
    let all = json!({"all": true});
    let none = json!({"users": 0, "groups": 0, "expired_locks": 0, "corrupted_locks": 0,
        "orphan_editzones": 0, "orphan_ownerships": 0, "ended_uploads": 0, "ended_deletions": 0, "failed": 0});
    assert_eq!(done(&admin, "shed_maintenance", &all)["others"], none);

    // Leftovers of every user are cleaned, and the answer names none of the users.
    for user in ["alice", "bob", "carol-the-tidy"] {
        let client = server.as_user(user);
        for path in ["secret-old.md", "secret-fine.md"] {
            file(&client, "storage", path, "x");
            if user != "carol-the-tidy" {
                let open = json!({"zone": "storage", "path": path});
                done(&client, "shed_lockedit_open", &open);
            }
        }
    }
    let alice = server.as_user("alice");
    let shared =
        json!({"zone": "group", "group": "team", "path": "secret-gone.md", "content": "x"});
    done(&alice, "shed_create_file", &shared);
    let registry = rusqlite::Connection::open(server.data().join("access_auth.sqlite")).unwrap();
    registry
        .execute_batch(
            "UPDATE locks SET opened_at = opened_at - 3601 WHERE path = 'secret-old.md';
             INSERT INTO locks (home, zone, path, user_id, chat, working_copy, opened_at) VALUES
                 ('users/removed', 'storage', 'secret.md', 'removed', 'c', 'copy', 9999999999);",
        )
        .unwrap();
    std::fs::remove_file(server.data().join("groups/team-alice/data/secret-gone.md")).unwrap();
    let editzone = server.data().join("users/bob/Documents/editzone/orphan");
    std::fs::create_dir_all(&editzone).unwrap();

    for user in [
        server.as_user("alice"),
        server
            .as_user("alice")
            .header("X-OpenWebUI-User-Role", "user"),
    ] {
        let refused = user.call("shed_maintenance", &all);
        refused.refused(403, "ACCESS_DENIED");
        assert!(!refused.text.contains("bob"), "{}", refused.text);
    }
    let answer = admin.call("shed_maintenance", &all);
    let data = answer.data();
    let expected = json!({"users": 3, "groups": 1, "expired_locks": 2, "corrupted_locks": 1,
        "orphan_editzones": 1, "orphan_ownerships": 1, "ended_uploads": 0, "ended_deletions": 0, "failed": 0});
    assert_eq!(data["others"], expected);
    assert_eq!(data["expired_locks"], json!([]), "what is the caller's own");
    for name in [
        "alice", "bob", "carol", "secret", "team", "removed", "users/",
    ] {
        assert!(!answer.text.contains(name), "{name}: {}", answer.text);
    }
    assert!(!editzone.exists());
    file(&alice, "storage", "secret-old.md", "free");
    let held = json!({"zone": "storage", "path": "secret-fine.md", "content": "y"});
    alice
        .chat("another")
        .call("shed_create_file", &held)
        .refused(423, "FILE_LOCKED");
    let again = done(&admin, "shed_maintenance", &all);
    assert_eq!(again["others"]["expired_locks"], 0);
    assert_eq!(
        again["others"]["users"], 3,
        "and the caller's own home is not among them"
    );
}

#[test]
fn personal_tokens_have_no_role_and_shared_mode_has_nobody_else() {
    let server = TestApp::start();
    let data = done(&server.client(), "shed_maintenance", &json!({"all": true}));
    assert!(data.get("others").is_none(), "{data}");
    let server = small().app();
    let made = server.run(&["token", "create", "--user", "alice"]);
    let token = server.with_token(made.stdout.trim());
    // A token is made for a user, not for a role.
    token
        .header("X-OpenWebUI-User-Role", "admin")
        .call("shed_maintenance", &json!({"all": true}))
        .refused(403, "ACCESS_DENIED");
}
