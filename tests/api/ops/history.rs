//! `shed_history`

use serde_json::{Value, json};

use crate::ops::stage::{Provoked, done, file, small};
use fileshed_test_support::{Client, TestApp};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", |stage| {
        stage.refuses(&json!({"path": "attic/a.md"}), &["`path`", "`attic/a.md`"]);
    }),
    ("INVALID_GROUP_ID", |stage| {
        stage.refuses(&json!({"path": "group/a\u{7}b"}), &["`group`"]);
    }),
    ("GROUP_NOT_FOUND", |stage| {
        stage.refuses(&json!({"path": "group/nobodys"}), &["`nobodys`"]);
    }),
    ("GROUP_NOT_AVAILABLE", |stage| {
        let alone = TestApp::start();
        let refused = alone
            .client()
            .call("shed_history", &json!({"path": "group/team"}));
        stage.refused_elsewhere(&refused);
    }),
    ("PATH_ESCAPE", |stage| {
        stage.refuses(&json!({"path": "storage/../x"}), &["`path`"]);
    }),
    ("PROTECTED_PATH", |stage| {
        stage.refuses(&json!({"path": "storage/.lfsig"}), &["`path`"]);
    }),
    ("INVALID_PATH", |stage| {
        stage.refuses(
            &json!({"path": format!("storage/{}", "x".repeat(300))}),
            &["`path`"],
        );
    }),
];

fn changes(client: &Client<'_>, arguments: &Value) -> Vec<Value> {
    let data = done(client, "shed_history", arguments);
    data["changes"].as_array().expect("a list").clone()
}

fn files(change: &Value) -> Vec<&str> {
    let files = change["files"].as_array().expect("a list").iter();
    files.filter_map(Value::as_str).collect()
}

#[test]
fn changes_of_all_zones_stand_in_one_list() {
    let server = small().app();
    let ada = server.as_user("ada").chat("one");
    let first = ada.clone().header("X-OpenWebUI-Message-Id", "first");
    file(&first, "storage", "notes/a.md", "one\n");
    file(&first, "documents", "b.md", "two\n");
    let second = ada.clone().header("X-OpenWebUI-Message-Id", "second");
    file(&second, "storage", "notes/a.md", "three\n");
    done(
        &second,
        "shed_delete",
        &json!({"zone": "documents", "path": "b.md"}),
    );

    let all = changes(&ada, &json!({"diff": true}));
    let said: Vec<_> = all
        .iter()
        .map(|change| (&change["answer"], files(change)))
        .collect();
    assert_eq!(
        said,
        [
            (&json!("second"), vec!["documents/b.md deleted"]),
            (&json!("second"), vec!["storage/notes/a.md changed"]),
            (&json!("first"), vec!["documents/b.md created"]),
            (&json!("first"), vec!["storage/notes/a.md created"]),
        ]
    );
    let diff = |at: usize| all[at]["diff"].as_str().expect("a difference");
    assert!(diff(0).contains("-two"), "{all:?}");
    assert!(diff(1).contains("-one\n+three"), "{all:?}");
    assert!(
        diff(3).contains("+one") && !diff(3).contains("three"),
        "{all:?}"
    );

    // Of one file, of one chat, of the newest.
    assert_eq!(
        changes(&ada, &json!({"path": "storage/notes/a.md"})).len(),
        2
    );
    assert_eq!(changes(&ada, &json!({"path": "storage/notes"})).len(), 2);
    assert_eq!(changes(&ada, &json!({"path": "documents"})).len(), 2);
    assert_eq!(changes(&ada, &json!({"limit": 1})).len(), 1);
    let two = server.as_user("ada").chat("two");
    assert_eq!(changes(&two, &json!({"chat": true})).len(), 0);
    assert_eq!(changes(&two, &json!({})).len(), 4);
    let since = all[1]["change"].to_string();
    assert_eq!(changes(&ada, &json!({"since": since})).len(), 1);
    let since = all[3]["change"].to_string();
    let after = changes(
        &ada,
        &json!({"since": since, "path": "storage/notes", "limit": 1}),
    );
    assert_eq!(
        after,
        [all[1].clone()].map(|mut change| {
            change.as_object_mut().expect("a change").remove("diff");
            change
        })
    );
    assert_eq!(
        changes(&ada, &json!({"since": all[0]["change"].to_string()})).len(),
        0
    );
    // Other users do not see them.
    assert_eq!(changes(&server.as_user("bob"), &json!({})).len(), 0);
    let refused = ada.call("shed_history", &json!({"since": "yesterday"}));
    refused.refused(400, "INVALID_PARAMETER");
}

#[test]
fn members_see_what_others_changed() {
    let server = small().app();
    let (ada, bob) = server.team();
    let plan = json!({"zone": "group", "group": "team", "path": "plan.md", "content": "x\n"});
    done(&ada, "shed_create_file", &plan);
    let seen = changes(&bob, &json!({"path": "group/team"}));
    assert_eq!(files(&seen[0]), ["group/team/plan.md created"]);
    assert_eq!(seen[0]["by"], "ada");
    assert_eq!(changes(&bob, &json!({})).len(), 0);
}

#[test]
fn a_call_without_a_message_is_an_answer_of_its_own() {
    let server = small().app();
    let ada = server.as_user("ada");
    file(&ada, "storage", "a.md", "one\n");
    file(&ada, "storage", "b.md", "two\n");
    let all = changes(&ada, &json!({}));
    assert_ne!(all[0]["answer"], all[1]["answer"]);
}

#[test]
fn the_list_says_where_the_user_sees_it() {
    let server = small()
        .env("FILESHED_PUBLIC_URL", "https://files.example.org/shed/")
        .app();
    let ada = server.as_user("ada");
    file(&ada, "storage", "a.md", "x");
    let listed = ada.call("shed_history", &json!({}));
    let page = "1 changes; the user sees them at https://files.example.org/shed/#/changes";
    assert_eq!(listed.body["message"], page, "{}", listed.text);
}

#[test]
fn a_long_list_is_read_by_the_page() {
    let server = small().app();
    let ada = server.as_user("ada");
    for number in 0..205 {
        file(&ada, "storage", "a.md", &format!("{number}\n"));
    }
    let all = changes(&ada, &json!({"limit": 200}));
    let numbers: Vec<i64> = all
        .iter()
        .filter_map(|change| change["change"].as_i64())
        .collect();
    assert_eq!(numbers.len(), 200);
    assert!(
        numbers.is_sorted_by(|one, other| one > other),
        "{numbers:?}"
    );
    // Changes that are older than a page are found, too.
    file(&ada, "storage", "b.md", "b\n");
    for number in 0..205 {
        file(&ada, "storage", "a.md", &format!("{number}\n"));
    }
    assert_eq!(changes(&ada, &json!({"path": "storage/b.md"})).len(), 1);
    done(&ada, "shed_undo", &json!({"path": "storage/b.md"}));
    assert!(
        !crate::ops::stage::place(&server, "ada", "storage")
            .join("b.md")
            .exists()
    );
}
