//! The list of changes on the page, and what is taken back there.

use fileshed_test_support::{Answer, Client};
use serde_json::{Value, json};

use crate::ops::stage::{content, done, file, small};

/// The answers that the page lists.
fn answers(client: &Client<'_>) -> Vec<Value> {
    let listed = client.get("/page/changes").body;
    listed["answers"].as_array().expect("answers").clone()
}

/// Takes back what a query names.
fn undo(client: &Client<'_>, query: &str) -> Answer {
    client.send("POST", &format!("/page/undo?{query}"), b"")
}

#[test]
fn an_answer_is_one_entry_and_comes_back_whole_or_change_by_change() {
    let app = small().app();
    let ada = app.as_user("ada").chat("c-1");
    file(&ada, "documents", "plan.md", "one\n");
    let model = ada.clone().header("X-OpenWebUI-Message-Id", "m-1");
    let new = json!({"zone": "storage", "path": "new.txt", "content": "new"});
    done(&model, "shed_create_file", &new);
    let plan = json!({"zone": "documents", "path": "plan.md", "content": "two\n"});
    done(&model, "shed_create_file", &plan);

    let listed = answers(&ada);
    let (answer, first) = (&listed[0], &listed[1]);
    assert_eq!(
        (&answer["answer"], &answer["by"]),
        (&json!("m-1"), &json!("model"))
    );
    assert_eq!(
        (&answer["title"], &answer["count"]),
        (&json!("c-1"), &json!(2))
    );
    let files: Vec<&Value> = [0, 1].map(|at| &answer["changes"][at]["files"][0]).into();
    let expected = [
        json!({"path": "plan.md", "did": "changed"}),
        json!({"path": "new.txt", "did": "created"}),
    ];
    assert_eq!(files, expected.iter().collect::<Vec<_>>());
    assert_eq!(first["count"], 1);
    assert_eq!(answers(&app.as_user("bob")), Vec::<Value>::new());
    undo(&app.as_user("bob"), "answer=m-1").refused(404, "FILE_NOT_FOUND");
    undo(&ada, "").refused(400, "INVALID_PARAMETER");

    let number = &answer["changes"][0]["number"];
    assert_eq!(undo(&ada, &format!("change={number}")).status, 200);
    assert_eq!(content(&ada, "documents", "plan.md"), "one\n");
    assert_eq!(content(&ada, "storage", "new.txt"), "new");
    let undone = undo(&ada, "answer=m-1");
    assert_eq!(undone.status, 200, "{}", undone.text);
    let listed = answers(&ada);
    let answer = listed
        .iter()
        .find(|answer| answer["answer"] == "m-1")
        .expect("it");
    assert_eq!(answer["is_undone"], true);
    assert_eq!(listed[0]["by"], "undo");
    undo(&ada, "answer=m-1").refused(409, "FILE_EXISTS");
}

#[test]
fn what_a_person_does_in_several_calls_has_one_name() {
    let app = small().app();
    let ada = app.as_user("ada");
    for name in ["a", "b"] {
        file(&ada, "storage", name, name);
    }
    let page = ada.clone().header("X-Fileshed-Page", "1");
    let page = page.header("X-Fileshed-Action", "0a1");
    for name in ["a", "b"] {
        done(
            &page,
            "shed_delete",
            &json!({"zone": "storage", "path": name}),
        );
    }
    let answer = &answers(&ada)[0];
    let told = (&answer["answer"], &answer["by"], &answer["count"]);
    assert_eq!(told, (&json!("person-0a1"), &json!("person"), &json!(2)));
    assert_eq!(undo(&ada, "answer=person-0a1").status, 200);
    assert_eq!(
        content(&ada, "storage", "a") + &content(&ada, "storage", "b"),
        "ab"
    );
}

#[test]
fn members_see_what_others_changed_in_their_group_and_nobody_else_does() {
    let app = small().app();
    let bob = app.as_member("bob", "team").chat("of-bob");
    let shared = json!({"zone": "group", "group": "team", "path": "x.md", "content": "x"});
    done(&bob, "shed_create_file", &shared);
    file(&bob, "storage", "own.md", "x");
    let listed = answers(&app.as_member("ada", "team"));
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!(
        (&listed[0]["author"], &listed[0]["changes"][0]["group"]),
        (&json!("bob"), &json!("team"))
    );
    assert_eq!(listed[0]["title"], Value::Null);
    assert_eq!(answers(&app.as_user("eve")), Vec::<Value>::new());
}
