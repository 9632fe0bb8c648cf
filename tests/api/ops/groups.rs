//! Rules of every operation that takes a group.

use fileshed::ops::OPERATIONS;
use serde_json::{Value, json};

use crate::ops::calls;
use crate::ops::stage::{done, small};
use fileshed_test_support::TestApp;

/// The first example of an operation, in a group.
fn example(entry: &fileshed::ops::OperationTool, group: &str) -> Value {
    let mut arguments: Value = serde_json::from_str(entry.examples[0]).unwrap();
    if arguments.get("zone").is_some() {
        arguments["zone"] = "group".into();
    }
    arguments["group"] = group.into();
    arguments
}

#[test]
fn a_group_of_others_does_not_exist() {
    let server = small().app();
    let club = server.as_member("ursula", "5f0e4a52-secret");
    let made = json!({"zone": "group", "group": "team", "path": "notes/todo.md",
        "content": "secret\n"});
    done(&club, "shed_create_file", &made);
    let groups = || {
        let list = std::fs::read_dir(server.data().join("groups")).unwrap();
        let mut names: Vec<_> = list.map(|item| item.unwrap().file_name()).collect();
        names.sort();
        names
    };
    for entry in OPERATIONS.iter().filter(|entry| entry.takes_group()) {
        let eve = server.as_user(entry.id);
        calls::prepare(
            &eve,
            entry.id,
            &serde_json::from_str(entry.examples[0]).unwrap(),
        );
        let before = groups();
        for group in ["5f0e4a52-secret", "nowhere", "Teams"] {
            let answer = eve.call(entry.id, &example(entry, group));
            answer.refused(404, "GROUP_NOT_FOUND");
            // The same answer, whether there is such a group or not.
            let text = answer.text.replace(group, "");
            assert!(
                !text.contains("ursula") && !text.contains("secret"),
                "{text}"
            );
            let details = &answer.body["error"]["details"];
            assert_eq!(details["your_groups"], json!(["team"]), "{}", entry.id);
        }
        for group in ["../x", "a/b", "a\u{0}b", &"x".repeat(300)] {
            let answer = eve.call(entry.id, &example(entry, group));
            answer.refused(400, "INVALID_GROUP_ID");
        }
        for group in [Value::Null, json!(""), json!("  ")] {
            let mut arguments = example(entry, "");
            arguments["group"] = group;
            let answer = eve.call(entry.id, &arguments);
            answer.refused(400, "MISSING_PARAMETER");
        }
        assert_eq!(groups(), before, "{}", entry.id);
    }
}

#[test]
fn what_was_meant_is_suggested_from_the_caller_s_own_groups() {
    let server = small().app();
    let answer = server
        .as_user("eve")
        .call("shed_group_info", &json!({"group": "tem"}));
    answer.refused(404, "GROUP_NOT_FOUND");
    let hint = answer.body["error"]["hint"].as_str().unwrap();
    assert_eq!(hint, "repeat the call with group=\"team\"");
}

#[test]
fn one_person_alone_has_no_groups() {
    let server = TestApp::start();
    for entry in OPERATIONS.iter().filter(|entry| entry.takes_group()) {
        let answer = server.call(entry.id, &example(entry, "team"));
        // Some look at their other arguments first.
        if answer.code() != "FILE_NOT_FOUND" {
            answer.refused(503, "GROUP_NOT_AVAILABLE");
        }
    }
    assert!(!server.data().join("groups").exists());
}
