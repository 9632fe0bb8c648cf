//! `shed_history`

use serde_json::{Value, json};

use crate::ops::diff::{NEW, OLD};
use crate::ops::stage::{Provoked, done, file, ran, small};
use fileshed_test_support::{Client, TestApp, within};

const DAY: i64 = 24 * 60 * 60;

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

fn without_diffs(changes: &[Value]) -> Vec<Value> {
    let mut changes = changes.to_vec();
    for change in &mut changes {
        change.as_object_mut().expect("a change").remove("diff");
    }
    changes
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
    assert_eq!(after, without_diffs(&all[1..2]));
    assert_eq!(
        changes(&ada, &json!({"since": all[0]["change"].to_string()})).len(),
        0
    );
    file(&two, "storage", "c.md", "of the other chat\n");
    let here = changes(&two, &json!({"chat": true}));
    assert_eq!(here.len(), 1, "{here:?}");
    assert_eq!(files(&here[0]), ["storage/c.md created"]);
    assert_eq!(changes(&ada, &json!({"chat": true})), without_diffs(&all));
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

/// The moment of a change in seconds.
fn moment(change: &Value) -> i64 {
    let at = change["at"].as_str().expect("a text");
    at.parse::<jiff::Timestamp>().expect("a time").as_second()
}

#[test]
fn each_change_says_when_and_by_what_it_was_made() {
    let server = small().app();
    let ada = server.as_user("ada");
    let began = jiff::Timestamp::now().as_second();
    for zone in ["storage", "documents"] {
        file(&ada, zone, "a.md", "one\n");
        server.advance(DAY);
        ran(&ada, zone, "cp", &["a.md", "b.md"]);
        server.advance(DAY);
        let gone = json!({"zone": zone, "path": "a.md"});
        done(&ada, "shed_delete", &gone);
        server.advance(DAY);
    }
    let ended = jiff::Timestamp::now().as_second();
    let all = changes(&ada, &json!({}));
    let operations: Vec<&Value> = all.iter().map(|change| &change["operation"]).collect();
    let by = ["shed_delete", "cp", "shed_create_file"];
    assert_eq!(operations, [by, by].concat());
    for (days, change) in (0..).zip(all.iter().rev()) {
        let at = moment(change) - days * DAY;
        assert!((began..=ended).contains(&at), "{change}");
    }
}

#[test]
fn a_change_of_many_files_names_the_first_and_counts_all() {
    let server = small().app();
    let ada = server.as_user("ada");
    let names: Vec<String> = (10..35).map(|number| format!("{number}.md")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for zone in ["storage", "documents"] {
        ran(&ada, zone, "touch", &names);
        let made = &changes(&ada, &json!({"path": zone}))[0];
        assert_eq!(made["count"], 25, "{made}");
        let first = names[..20].iter();
        let first: Vec<String> = first.map(|name| format!("{zone}/{name} created")).collect();
        assert_eq!(files(made), first);
    }
}

#[test]
fn changes_stay_thirty_days_whatever_the_bin_keeps() {
    for bin_days in [0, 60] {
        let server = small()
            .env("FILESHED_BIN_DAYS", &bin_days.to_string())
            .app();
        let ada = server.as_user("ada");
        let admin = server
            .as_user("root")
            .header("X-OpenWebUI-User-Role", "admin");
        for zone in ["storage", "documents"] {
            file(&ada, zone, "a.md", "one\n");
            file(&ada, zone, "a.md", "two\n");
        }
        for (days, left) in [(29, 4), (2, 0)] {
            server.advance(days * DAY);
            done(&admin, "shed_maintenance", &json!({"all": true}));
            assert_eq!(changes(&ada, &json!({})).len(), left, "{bin_days}");
        }
        let bin = ada.get("/page/bin").body["entries"].clone();
        let kept = bin.as_array().map_or(0, Vec::len);
        assert_eq!(kept, usize::from(bin_days > 30), "{bin}");
    }
}

#[test]
fn documents_and_tables_differ_by_their_text() {
    let server = small().app();
    let ada = server.as_user("ada");
    for zone in ["storage", "documents"] {
        for (version, text) in [(OLD, "a,b\n1,sold\n"), (NEW, "a,b\n1,returned\n")] {
            let address = format!("/files/content?zone={zone}&path=a.docx");
            let put = ada.send("PUT", &address, version);
            assert!(matches!(put.status, 200 | 201), "{}", put.text);
            file(&ada, zone, "a.csv", text);
            let convert = json!({"zone": zone, "path": "a.csv", "to": "a.xlsx"});
            done(&ada, "shed_convert", &convert);
        }
        let diff = |path: &str| {
            let asked = json!({"path": format!("{zone}/{path}"), "diff": true, "limit": 1});
            let diff = changes(&ada, &asked)[0]["diff"].clone();
            diff.as_str().expect("a difference").to_owned()
        };
        let (document, table) = (diff("a.docx"), diff("a.xlsx"));
        let expected = "-Paid in 30 days & signed\n+Paid in 14 days & signed\n";
        assert!(document.contains(expected), "{zone}: {document}");
        for row in ["-1\tsold", "+1\treturned"] {
            assert!(table.contains(row), "{zone}: {table}");
        }
    }
}

#[test]
fn since_is_a_change_a_moment_or_a_day() {
    let server = small().app();
    let (ada, bob) = server.team();
    let write = |path: &str| {
        let plan = within("group", json!({"path": path, "content": "x\n"}));
        done(&bob, "shed_create_file", &plan);
    };
    write("before.md");
    server.advance(2 * DAY);
    write("after.md");
    let list = |since: Option<&str>| {
        let mut asked = json!({"path": "group/team"});
        if let Some(since) = since {
            asked["since"] = since.into();
        }
        changes(&ada, &asked)
    };
    let all = list(None);
    assert_eq!(all.len(), 2);
    let at = all[0]["at"].as_str().expect("a time");
    let (day, _) = at.split_once('T').expect("a day");
    for since in [&*all[1]["change"].to_string(), at, day] {
        assert_eq!(list(Some(since)), all[..1], "{since}");
    }
    let first = all[1]["at"].as_str().expect("a time");
    assert_eq!(list(Some(first)), all);
}
