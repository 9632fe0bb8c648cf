//! `shed_copy`

use serde_json::json;

use crate::ops::paths::fifo;
use crate::ops::stage::{Provoked, bring, done, file, output, ran, small};
use fileshed_test_support::{Client, TestApp};

pub(crate) const PROVOKED: Provoked = &[
    ("INVALID_ZONE", |stage| {
        for place in ["attic/a.md", "notes", "group", "group//x"] {
            stage.refuses_example("from", place, &["`from`", &format!("`{place}`")]);
            stage.refuses_example("to", place, &["`to`", &format!("`{place}`")]);
        }
    }),
    ("INVALID_GROUP_ID", |stage| {
        stage.refuses_example("from", "group/a\u{7}b/x", &["`group`"]);
    }),
    ("GROUP_NOT_FOUND", |stage| {
        stage.refuses_example("from", "group/nobodys/x", &["`nobodys`"]);
        stage.refuses_example("to", "group/nobodys/x", &["`nobodys`"]);
    }),
    ("GROUP_NOT_AVAILABLE", |stage| {
        let alone = TestApp::start();
        let call = json!({"from": "group/team/a.md", "to": "storage/a.md"});
        stage.refused_elsewhere(&alone.client().call("shed_copy", &call));
    }),
    ("FILE_NOT_FOUND", |stage| {
        stage.refuses_example("from", "storage/missing.md", &["`missing.md`"]);
    }),
    ("NOT_A_FILE", |stage| {
        // Something that is neither a file nor a directory.
        stage.file("storage", "a.md", "x");
        fifo(&stage.place("storage").join("pipe"));
        stage.refuses_example("from", "storage/pipe", &["`pipe`"]);
    }),
    ("FILE_EXISTS", |stage| {
        stage.done("shed_copy", &stage.example(&json!({})));
        stage.refuses(&stage.example(&json!({})), &["`to`", "`todo.md`"]);
        // Neither onto itself nor into what it holds.
        stage.refuses_example("to", "storage/notes/todo.md", &["`to`"]);
    }),
    ("ZONE_READONLY", |stage| {
        stage.refuses_example("to", "uploads/x.md", &["uploads"]);
    }),
    ("PERMISSION_DENIED", |stage| {
        stage.theirs("theirs.md");
        let onto = json!({"to": "group/team/theirs.md", "overwrite": true});
        stage.refuses(&stage.example(&onto), &["`theirs.md`"]);
        let away = json!({"from": "group/team/theirs.md", "to": "storage/t.md", "move": true});
        stage.refuses(&stage.example(&away), &["`theirs.md`"]);
    }),
    ("PATH_ESCAPE", |stage| {
        stage.refuses_example("from", "storage/../../x", &["`from`"]);
        stage.refuses_example("to", "documents/../x", &["`to`"]);
    }),
    ("PROTECTED_PATH", |stage| {
        stage.refuses_example("from", "storage/.lfsig", &["`from`"]);
        stage.refuses_example("to", "documents/a/.git/config", &["`to`"]);
    }),
    ("INVALID_PATH", |stage| {
        stage.refuses_example("from", "storage/", &["`from`", "root"]);
        stage.refuses_example("to", "documents/a<b", &["`to`", "`a<b`"]);
    }),
    ("FILE_LOCKED", |stage| {
        stage.done("shed_copy", &stage.example(&json!({})));
        let open = json!({"zone": "documents", "path": "todo.md"});
        stage.done("shed_lockedit_open", &open);
        stage.refuses(&stage.example(&json!({"overwrite": true})), &["`todo.md`"]);
    }),
    ("FILE_TOO_LARGE", |stage| {
        stage.bring("uploads", "large", &"x".repeat((1 << 20) + 1));
        let call = json!({"from": "uploads/large", "to": "storage/large", "move": true});
        stage.refuses(&call, &["`large`"]);
    }),
    ("QUOTA_EXCEEDED", |stage| {
        stage.file("storage", "part", &"x".repeat(900 << 10));
        let copy = |to: &str| stage.example(&json!({"from": "storage/part", "to": to}));
        stage.done("shed_copy", &copy("storage/again"));
        stage.refuses(&copy("storage/third"), &["quota"]);
        stage.refuses(&copy("documents/third"), &["quota"]);
    }),
];

#[track_caller]
fn copied(client: &Client<'_>, from: &str, to: &str, moves: bool) -> String {
    let data = done(
        client,
        "shed_copy",
        &json!({"from": from, "to": to, "move": moves}),
    );
    data["to"].as_str().expect("an address").to_owned()
}

fn content(client: &Client<'_>, address: &str) -> Option<String> {
    let (zone, path) = address.split_once('/').expect("an address");
    let mut read = json!({"zone": zone, "path": path});
    if zone == "group" {
        let (group, path) = path.split_once('/').expect("a group");
        read = json!({"zone": zone, "group": group, "path": path});
    }
    let answer = client.call("shed_read", &read);
    let text = answer.body["data"]["content"].as_str();
    text.map(|text| text.trim_start_matches("     1→").to_owned())
}

#[test]
fn every_place_leads_to_every_other() {
    let server = small().app();
    let ada = server.as_member("ada", "t");
    for from in ["uploads", "storage", "documents", "group/team"] {
        for to in ["storage", "documents", "group/team"] {
            for moves in [false, true] {
                let mark = format!("{}-{to}-{moves}", from.replace('/', "-")).replace('/', "-");
                let (source, target) = (format!("{from}/{mark}.md"), format!("{to}/to/{mark}.md"));
                match from.strip_prefix("group/") {
                    Some(group) => {
                        let arguments = json!({"zone": "group", "group": group,
                            "path": format!("{mark}.md"), "content": mark});
                        done(&ada, "shed_create_file", &arguments);
                    }
                    None => bring(&ada, from, &format!("{mark}.md"), &mark),
                }
                assert_eq!(copied(&ada, &source, &target, moves), target);
                assert_eq!(
                    content(&ada, &target),
                    Some(mark.clone()),
                    "{source} {target}"
                );
                let left = (!moves).then_some(mark);
                assert_eq!(content(&ada, &source), left, "{source} {target}");
            }
        }
    }
}

#[test]
fn what_is_binary_and_whole_directories_leave_a_group() {
    let server = small().app();
    let (ada, bob) = server.team();
    let bytes = json!({"zone": "group", "group": "team", "path": "plan/pixel.bin", "content": "AAECAw==",
        "file_type": "bytes", "content_format": "base64"});
    done(&ada, "shed_create_file", &bytes);
    let text = json!({"zone": "group", "group": "team", "path": "plan/a.md", "content": "a\n"});
    done(&ada, "shed_create_file", &text);
    assert_eq!(
        copied(&bob, "/groups/team/plan", "Storage/", false),
        "storage/plan"
    );
    assert_eq!(
        output(&bob, "storage", "od", &["-An", "-tx1", "plan/pixel.bin"]),
        " 00 01 02 03\n"
    );
    // Bob's copy is his, and stays so where it goes back.
    assert_eq!(
        copied(&bob, "storage/plan", "group/team/copy", false),
        "group/team/copy"
    );
    let info = done(&bob, "shed_group_info", &json!({"group": "team"}));
    let files = info["files"].as_array().expect("files");
    let owner = |path: &str| {
        let file = files.iter().find(|file| file["path"] == path);
        file.expect("listed")["owner"]
            .as_str()
            .expect("an owner")
            .to_owned()
    };
    assert_eq!(
        (owner("plan/a.md").as_str(), owner("copy/a.md").as_str()),
        ("ada", "bob")
    );
}

#[test]
fn a_directory_that_is_there_takes_what_is_brought() {
    let server = small().app();
    let ada = server.as_user("ada");
    file(&ada, "storage", "a.md", "a");
    ran(&ada, "documents", "mkdir", &["in"]);
    assert_eq!(
        copied(&ada, "storage/a.md", "documents/in", false),
        "documents/in/a.md"
    );
    assert_eq!(
        copied(&ada, "storage/a.md", "documents", false),
        "documents/a.md"
    );
    assert_eq!(
        copied(&ada, "storage/a.md", "storage/new/", false),
        "storage/new/a.md"
    );
    // Inside a zone, too, and into no directory of itself.
    assert_eq!(
        copied(&ada, "storage/new", "storage/moved", true),
        "storage/moved"
    );
    let into = json!({"from": "storage/moved", "to": "storage/moved/inside", "move": true});
    ada.call("shed_copy", &into).refused(400, "INVALID_PATH");
    assert_eq!(content(&ada, "storage/moved/a.md"), Some("a".to_owned()));
    // A file never replaces a directory, nor the reverse.
    file(&ada, "storage", "d/a.md/b.md", "b");
    let onto = json!({"from": "storage/a.md", "to": "storage/d", "overwrite": true});
    let refused = ada.call("shed_copy", &onto);
    refused.refused(400, "NOT_A_FILE");
    let hint = refused.body["error"]["hint"].as_str().expect("a hint");
    assert!(hint.contains(r#"to="storage/d/a.md/a.md""#), "{hint}");
    let onto = json!({"from": "storage/moved", "to": "storage/a.md", "overwrite": true});
    ada.call("shed_copy", &onto).refused(409, "FILE_EXISTS");
    assert_eq!(content(&ada, "storage/d/a.md/b.md"), Some("b".to_owned()));
    assert_eq!(content(&ada, "storage/a.md"), Some("a".to_owned()));
    let log = output(&ada, "documents", "git", &["log", "--format=%s"]);
    assert_eq!(
        log,
        "Copy a.md from storage to documents\nCopy a.md from storage to documents as in/a.md\n"
    );
}

#[test]
fn a_command_between_zones_is_answered_with_the_call() {
    let server = small().app();
    let ada = server.as_member("ada", "t");
    file(&ada, "storage", "x.md", "x");
    file(&ada, "documents", "y.md", "y");
    for (zone, cmd, args, expected) in [
        (
            "storage",
            "cp",
            json!(["/storage/x.md", "/documents/x.md"]),
            r#"shed_copy(from="storage/x.md", to="documents/x.md")"#,
        ),
        (
            "storage",
            "cp",
            json!(["-r", "../documents/y.md", "."]),
            r#"shed_copy(from="documents/y.md", to="storage/")"#,
        ),
        (
            "documents",
            "mv",
            json!(["y.md", "../storage/"]),
            r#"shed_copy(from="documents/y.md", to="storage/", move=true)"#,
        ),
        (
            "storage",
            "cp",
            json!(["x.md", "/groups/team/x.md"]),
            r#"shed_copy(from="storage/x.md", to="group/team/x.md")"#,
        ),
    ] {
        let answer = ada.call(
            "shed_exec",
            &json!({"zone": zone, "cmd": cmd, "args": args}),
        );
        let hint = answer.body["error"]["hint"].as_str().expect("a hint");
        assert!(hint.contains(expected), "{args}: {hint}");
    }
    let answer = ada.call(
        "shed_exec",
        &json!({"zone": "group", "group": "team", "cmd": "cp",
        "args": ["a.md", "/storage/a.md"]}),
    );
    let hint = answer.body["error"]["hint"].as_str().expect("a hint");
    assert!(
        hint.contains(r#"from="group/team/a.md", to="storage/a.md""#),
        "{hint}"
    );
}

#[test]
fn the_group_that_is_meant_is_named() {
    let server = small().app();
    let ada = server.as_member("ada", "t");
    let answer = ada.call(
        "shed_copy",
        &json!({"from": "group/teem/a.md", "to": "storage/a.md"}),
    );
    let hint = answer.body["error"]["hint"].as_str().expect("a hint");
    assert_eq!(hint, r#"repeat the call with from="group/team/a.md""#);
}

#[test]
fn what_is_missing_is_found_elsewhere() {
    let server = small().app();
    let ada = server.as_member("ada", "t");
    file(&ada, "documents", "plans/spring.md", "x");
    for from in [
        "storage/spring.md",
        "storage/plans/spring.md",
        "documents/spring.md",
    ] {
        let call = json!({"from": from, "to": "storage/s.md"});
        let answer = ada.call("shed_copy", &call);
        answer.refused(404, "FILE_NOT_FOUND");
        let hint = answer.body["error"]["hint"].as_str().expect("a hint");
        assert!(
            hint.contains(r#"from="documents/plans/spring.md""#),
            "{hint}"
        );
    }
}
