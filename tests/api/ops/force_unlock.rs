//! `shed_force_unlock`

use serde_json::json;

use crate::ops::fault;
use crate::ops::stage::{Provoked, done, file, small};

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
    let server = small().app();
    let (first, second) = (
        server.as_user("alice").chat("one"),
        server.as_user("alice").chat("two"),
    );
    for (zone, chat, whose) in [
        ("storage", &second, "another conversation of yours"),
        ("documents", &first, "this conversation"),
    ] {
        file(&first, zone, "a.md", "old");
        let arguments = json!({"zone": zone, "path": "a.md", "content": "new"});
        done(&first, "shed_lockedit_open", &arguments);
        done(&first, "shed_lockedit_overwrite", &arguments);
        let data = done(chat, "shed_force_unlock", &arguments);
        let message = data["message"].as_str().unwrap();
        assert!(
            message.contains("a.md") && message.contains(whose),
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
fn a_zone_or_a_group_is_named() {
    let server = small().app();
    let anna = server.as_member("anna", "team-of-both");
    let shared = json!({"zone": "group", "group": "team", "path": "a.md", "content": "x"});
    done(&anna, "shed_create_file", &shared);
    done(&anna, "shed_lockedit_open", &shared);
    let unlock = json!({"group": "team", "path": "a.md"});
    done(&anna, "shed_force_unlock", &unlock);
    anna.call("shed_force_unlock", &unlock)
        .refused(409, "NOT_IN_EDIT_MODE");
    anna.call("shed_force_unlock", &json!({"path": "a.md"}))
        .refused(400, "MISSING_PARAMETER");
}

#[test]
fn nobody_ends_the_lock_of_another_user() {
    let server = small().app();
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

#[test]
fn whose_lock_it_was_is_told_and_not_in_which_conversation() {
    let server = small().app();
    let member = |user| server.as_member(user, "team-of-both");
    let anna = member("anna")
        .header("X-OpenWebUI-User-Name", "Anna%20Berg")
        .chat("annas-secret-chat");
    let (ben, cleo) = (member("ben"), member("cleo").chat("cleos-secret-chat"));
    let shared =
        |text: &str| json!({"zone": "group", "group": "team", "path": "a.md", "content": text});
    done(&ben, "shed_create_file", &shared("old"));
    for (holder, shown, details) in [
        (
            &anna,
            "Anna Berg (anna)",
            json!({"id": "anna", "name": "Anna Berg"}),
        ),
        (&cleo, "cleo", json!({"id": "cleo"})),
    ] {
        done(holder, "shed_lockedit_open", &shared("new"));
        for (operation, status, code) in [
            ("shed_lockedit_open", 423, "FILE_LOCKED"),
            ("shed_create_file", 423, "FILE_LOCKED"),
            ("shed_delete", 423, "FILE_LOCKED"),
            ("shed_lockedit_save", 403, "NOT_LOCK_OWNER"),
            ("shed_lockedit_cancel", 403, "NOT_LOCK_OWNER"),
        ] {
            let answer = ben.call(operation, &shared("new"));
            answer.refused(status, code);
            let error = &answer.body["error"];
            let message = error["message"].as_str().unwrap();
            assert!(message.contains(shown), "{message}");
            assert_eq!(error["details"]["holder"], details);
            assert!(!answer.text.contains("secret-chat"), "{}", answer.text);
        }
        let answer = ben.call("shed_force_unlock", &shared("new"));
        let message = answer.data()["message"].as_str().unwrap();
        assert!(message.contains(shown), "{message}");
        assert!(!answer.text.contains("secret-chat"), "{}", answer.text);
    }
}
