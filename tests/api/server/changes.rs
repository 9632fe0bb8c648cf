//! The list of changes on the page, and what is taken back there.

use fileshed_test_support::{Answer, Client};
use serde_json::{Value, json};

use crate::ops::stage::{content, done, file, output, ran, small};

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
        json!({"path": "plan.md", "did": "changed", "is_undone": false}),
        json!({"path": "new.txt", "did": "created", "is_undone": false}),
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

/// The number of the last change.
fn last(client: &Client<'_>) -> i64 {
    let number = &answers(client)[0]["changes"][0]["number"];
    number.as_i64().expect("a number")
}

#[test]
fn one_file_of_a_change_comes_back_by_itself() {
    let app = small().app();
    let ada = app.as_member("ada", "team");
    for (zone, group) in [("documents", ""), ("storage", ""), ("group", "&group=team")] {
        let there = |name: &str| {
            let address = format!("/files/content?zone={zone}{group}&path={name}");
            ada.get(&address).status == 200
        };
        for name in ["a", "b"] {
            let address = format!("/files/content?zone={zone}{group}&path={name}");
            assert_eq!(ada.send("PUT", &address, b"first").status, 201);
        }
        let moved = json!({"zone": zone, "cmd": "mv", "args": ["a", "b", "d"]});
        let made = json!({"zone": zone, "cmd": "mkdir", "args": ["d"]});
        for mut command in [made, moved] {
            if zone == "group" {
                command["group"] = "team".into();
            }
            done(&ada, "shed_exec", &command);
        }
        let number = last(&ada);
        let taken = |change: i64, name: &str| {
            let query = format!("zone={zone}{group}&change={change}&path={name}");
            undo(&ada, &query)
        };
        assert_eq!(taken(number, "d/a").status, 200, "{zone}");
        assert!(!there("d/a") && there("d/b"), "{zone}");
        let answer = answers(&ada)[1].clone();
        assert_eq!(answer["is_undone"], false, "{zone}");
        for file in answer["changes"][0]["files"].as_array().expect("files") {
            assert_eq!(file["is_undone"], file["path"] == "d/a", "{zone}: {answer}");
        }
        taken(number, "d/a").refused(409, "FILE_EXISTS");
        taken(number, "other").refused(404, "FILE_NOT_FOUND");
        taken(999, "d/b").refused(404, "FILE_NOT_FOUND");
        let bob = app.as_user("bob");
        let query = format!("zone={zone}{group}&change={number}&path=d/b");
        assert_ne!(undo(&bob, &query).status, 200, "{zone}");
        assert!(there("d/b"), "{zone}");
        // The rest of the change comes back with it as a whole.
        assert_eq!(undo(&ada, &format!("change={number}")).status, 200);
        assert!(!there("d/b") && there("b"), "{zone}");
    }
}

#[test]
fn a_file_comes_back_from_an_older_change_and_keeps_the_later_ones() {
    let app = small().app();
    let ada = app.as_user("ada");
    for zone in ["documents", "storage"] {
        file(&ada, zone, "a.md", "one\n\n\n\ntwo\n");
        file(&ada, zone, "b.md", "b");
        ran(
            &ada,
            zone,
            "sed",
            &["-i", "s/one/ONE/;s/b/B/", "a.md", "b.md"],
        );
        let number = last(&ada);
        ran(&ada, zone, "sed", &["-i", "s/two/TWO/", "a.md"]);
        let undone = undo(&ada, &format!("zone={zone}&change={number}&path=a.md"));
        assert_eq!(undone.status, 200, "{zone}: {}", undone.text);
        assert_eq!(content(&ada, zone, "a.md"), "one\n\n\n\nTWO\n", "{zone}");
        assert_eq!(content(&ada, zone, "b.md"), "B", "{zone}");
        // Without a number it is the last change of the path.
        let undone = undo(&ada, &format!("zone={zone}&path=b.md"));
        assert_eq!(undone.status, 200, "{zone}: {}", undone.text);
        assert_eq!(content(&ada, zone, "b.md"), "b", "{zone}");
        let id = undone.data()["id"].as_str().expect("an id").to_owned();
        assert_eq!(undo(&ada, &format!("answer={id}")).status, 200, "{zone}");
        assert_eq!(content(&ada, zone, "b.md"), "B", "{zone}");
    }
    undo(&ada, "answer=m&path=a.md&zone=storage").refused(400, "INVALID_PARAMETER");
}

/// A file before and after what a query names.
#[track_caller]
fn difference(client: &Client<'_>, query: &str) -> Value {
    let shown = client.get(&format!("/page/difference?{query}"));
    assert_eq!(shown.status, 200, "{query}: {}", shown.text);
    shown.body
}

#[test]
fn a_change_shows_both_sides_of_its_files() {
    let app = small().app();
    let ada = app.as_user("ada");
    for zone in ["documents", "storage"] {
        let sides = |path: &str| {
            let number = last(&ada);
            difference(&ada, &format!("zone={zone}&change={number}&path={path}"))
        };
        file(&ada, zone, "a.md", "one\n");
        let first = last(&ada);
        assert_eq!(sides("a.md"), json!({"before": "", "after": "one\n"}));
        file(&ada, zone, "a.md", "two\n");
        assert_eq!(sides("a.md"), json!({"before": "one\n", "after": "two\n"}));
        // The side after an older change is known, too.
        let of_first = difference(&ada, &format!("zone={zone}&change={first}&path=a.md"));
        assert_eq!(of_first, json!({"before": "", "after": "one\n"}));
        file(&ada, zone, "t.csv", "item;sum\npen;1\n");
        ran(&ada, zone, "rm", &["a.md", "t.csv"]);
        if zone == "documents" {
            assert_eq!(sides("a.md"), json!({"before": "two\n", "after": ""}));
            let rows = "@@ -1,2 +0,0 @@\n-item\tsum\n-pen\t1\n";
            let table = json!({"diff": rows, "is_table": true, "truncated": false});
            assert_eq!(sides("t.csv"), table);
        }
    }
    let commits = output(
        &ada,
        "documents",
        "git",
        &["log", "--format=%H", "--", "a.md"],
    );
    let texts: Vec<Value> = commits
        .lines()
        .map(|commit| difference(&ada, &format!("zone=documents&commit={commit}&path=a.md")))
        .collect();
    let sides = |before: &str, after: &str| json!({"before": before, "after": after});
    let expected = [
        sides("two\n", ""),
        sides("one\n", "two\n"),
        sides("", "one\n"),
    ];
    assert_eq!(texts, expected);

    let number = last(&ada);
    let bob = app.as_user("bob");
    let foreign = difference(&bob, &format!("zone=storage&change={number}&path=a.md"));
    assert_eq!(foreign, json!({}), "nobody else sees it");
    ada.get("/page/difference?zone=storage&path=a.md")
        .refused(400, "INVALID_PARAMETER");
    ada.get(&format!(
        "/page/difference?zone=storage&change={number}&path=../a"
    ))
    .refused(403, "PATH_ESCAPE");
}

#[test]
fn what_is_new_goes_again_by_its_name() {
    let app = small().app();
    let ada = app.as_user("ada");
    let named = ada.clone().header("X-Fileshed-Page", "1");
    for zone in ["documents", "storage", "uploads"] {
        let page = named.clone().header("X-Fileshed-Action", zone);
        let address = format!("/files/content?zone={zone}&path=new/a.txt&chat=c-1");
        assert_eq!(page.send("PUT", &address, b"new").status, 201, "{zone}");
        if zone != "uploads" {
            let made = json!({"zone": zone, "path": "b.md", "content": ""});
            done(&page, "shed_create_file", &made);
        }
        assert_eq!(undo(&ada, &format!("answer=person-{zone}")).status, 200);
        let listed = ada.get(&format!("/page/list?zone={zone}&path=.&chat=c-1"));
        assert_eq!(listed.body["entries"], json!([]), "{zone}");
    }
    file(&ada, "storage", "r.txt", "r");
    let away = json!({"zone": "storage", "path": "r.txt"});
    done(&ada, "shed_delete", &away);
    let deleted = ada.get("/page/bin").body["entries"][0].clone();
    let address = format!("/page/bin/restore?id={}", deleted["id"].as_str().unwrap());
    let page = named.header("X-Fileshed-Action", "back");
    assert_eq!(page.send("POST", &address, b"").status, 200);
    assert_eq!(content(&ada, "storage", "r.txt"), "r");
    assert_eq!(undo(&ada, "answer=person-back").status, 200);
    let again = ada.get("/page/bin").body["entries"][0].clone();
    assert_eq!(again["path"], "r.txt");
}
