//! No operation serves a caller who is nobody, or shows one user's things to another.

use fileshed::ops::OPERATIONS;
use serde_json::{Value, json};

use crate::ops::calls;
use crate::ops::stage::{collect, done, file, small};
use fileshed_test_support::TestApp;

#[test]
fn nobody_gets_nothing() {
    let server = TestApp::with_key();
    let list = || {
        let entries = std::fs::read_dir(server.data()).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = list();
    for entry in OPERATIONS {
        for example in entry.examples {
            let arguments: Value = serde_json::from_str(example).unwrap();
            let answer = server.call(entry.id, &arguments);
            answer.refused(401, "UNAUTHORIZED");
            let named = server.client().header("X-OpenWebUI-User-Id", "alice");
            named
                .call(entry.id, &arguments)
                .refused(401, "UNAUTHORIZED");
        }
    }
    assert_eq!(list(), before);
    assert!(!server.data().join("users").exists());
}

#[test]
fn another_user_is_somewhere_else() {
    let server = small().app();
    for entry in OPERATIONS {
        let (alice, bob) = (
            server.as_user(&format!("alice-{}", entry.id)),
            server.as_user(&format!("bob-{}", entry.id)),
        );
        let home = server.data().join(format!("users/alice-{}", entry.id));
        let everything = || {
            let mut found = std::collections::BTreeMap::new();
            collect(&home, &mut found);
            found
        };
        let arguments: Value = serde_json::from_str(entry.examples[0]).unwrap();
        calls::prepare(&alice, entry.id, &arguments);
        file(&alice, "storage", "hers.md", "only for her\n");
        done(
            &alice,
            "shed_lockedit_open",
            &json!({"zone": "storage", "path": "hers.md"}),
        );
        let before = everything();

        let answer = bob.call(entry.id, &arguments);
        for text in ["alice", "only for her", "hers.md", "buy milk"] {
            assert!(!answer.text.contains(text), "{}: {}", entry.id, answer.text);
        }
        if let Some(parameter) = ["path", "old_path"]
            .into_iter()
            .find(|name| arguments.get(name).is_some())
        {
            let mut hers = arguments.clone();
            hers[parameter] = "hers.md".into();
            let answer = bob.call(entry.id, &hers);
            assert!(
                !answer.text.contains("alice"),
                "{}: {}",
                entry.id,
                answer.text
            );
            assert!(
                !answer.text.contains("only for her"),
                "{}: {}",
                entry.id,
                answer.text
            );
            assert_ne!(answer.code(), "FILE_LOCKED", "{}", entry.id);
        }
        assert_eq!(everything(), before, "{}", entry.id);
        // Her locked edit is as it was.
        let answer = done(
            &alice,
            "shed_lockedit_save",
            &json!({"zone": "storage", "path": "hers.md"}),
        );
        assert_eq!(answer["size"], 13);
        let stats = done(&bob, "shed_stats", &json!({}));
        let hers = done(&alice, "shed_stats", &json!({}));
        assert_ne!(stats["storage"], hers["storage"], "{}", entry.id);
    }
}
