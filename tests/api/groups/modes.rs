//! A mode that a call asks for, and the one that is in force.

use serde_json::{Value, json};

use crate::groups::team::{app, assert_sound, call, file, owners};
use fileshed_test_support::{Answer, Client};

/// Every call that writes `a.md` and may ask for a mode.
fn writes(client: &Client<'_>, mode: Option<&str>) -> Vec<Answer> {
    let source = json!({"zone": "storage", "path": "new.md", "content": "new\n"});
    client.call("shed_create_file", &source).data();
    let copy = json!({"src_zone": "storage", "src_path": "new.md", "dest_path": "a.md", "overwrite": true});
    let calls = [
        ("shed_create_file", json!({"path": "a.md", "content": "x"})),
        ("shed_patch_text", json!({"path": "a.md", "content": "x"})),
        (
            "shed_patch_text",
            json!({"path": "a.md", "content": "x", "overwrite": true}),
        ),
        ("shed_patch_bytes", json!({"path": "a.md", "content": "78"})),
        ("shed_copy_to_group", copy),
    ];
    let with_mode = |(operation, mut arguments): (&str, Value)| {
        if let Some(mode) = mode {
            arguments["mode"] = mode.into();
        }
        call(client, operation, arguments)
    };
    calls.into_iter().map(with_mode).collect()
}

#[test]
fn the_owner_s_wish_counts_and_nobody_else_s() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    let record = |mode: &str| (Some("ada".to_owned()), mode.to_owned());
    file(&ada, "a.md", "text\n", "group");
    for mode in ["owner", "group"] {
        for answer in writes(&ada, Some(mode)) {
            assert_eq!(answer.data()["mode"], mode, "{}", answer.text);
            assert!(!answer.text.contains("keeps mode"), "{}", answer.text);
        }
        assert_eq!(owners(&ada)["a.md"], record(mode));
        for answer in writes(&ada, None) {
            assert_eq!(answer.data()["mode"], mode, "{}", answer.text);
        }
        assert_eq!(owners(&ada)["a.md"], record(mode));
    }
    // Another member may write the file, and is told that the mode stays.
    for answer in writes(&bob, Some("owner")) {
        assert_eq!(answer.data()["mode"], "group", "{}", answer.text);
        let message = answer.body["message"].as_str().unwrap();
        assert!(message.contains("keeps mode group"), "{message}");
    }
    assert_eq!(owners(&ada)["a.md"], record("group"));
    // The last wish may be that nobody writes it.
    let last = json!({"path": "a.md", "content": "done\n", "mode": "owner_ro"});
    let answer = call(&ada, "shed_create_file", last.clone());
    assert_eq!(answer.data()["mode"], "owner_ro");
    call(&ada, "shed_create_file", last).refused(403, "PERMISSION_DENIED");
    assert_sound(&server);
}

#[test]
fn of_a_directory_each_file_keeps_what_is_not_the_caller_s() {
    let server = app();
    let (ada, bob) = (server.as_user("ada"), server.as_user("bob"));
    file(&ada, "d/hers", "text\n", "group");
    file(&bob, "d/his", "text\n", "group");
    for name in ["hers", "his", "new"] {
        let path = format!("d/{name}");
        let source = json!({"zone": "storage", "path": path, "content": "new\n"});
        bob.call("shed_create_file", &source).data();
    }
    let copy = json!({"src_zone": "storage", "src_path": "d", "dest_path": "d", "overwrite": true, "mode": "owner"});
    let answer = call(&bob, "shed_copy_to_group", copy);
    assert_eq!(answer.data()["mode"], "owner");
    let message = answer.body["message"].as_str().unwrap();
    assert!(message.contains("1 file(s) of other members"), "{message}");
    let of = |path: &str| owners(&ada)[path].clone();
    assert_eq!(of("d/hers"), (Some("ada".to_owned()), "group".to_owned()));
    for path in ["d/his", "d/new"] {
        assert_eq!(of(path), (Some("bob".to_owned()), "owner".to_owned()));
    }
    assert_sound(&server);
}
