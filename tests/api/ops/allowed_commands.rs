//! `shed_allowed_commands`

use serde_json::{Value, json};

use crate::ops::stage::{Provoked, done, has};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[];

fn count(commands: &Value) -> u64 {
    ["available", "missing"]
        .into_iter()
        .map(|list| commands[list].as_array().unwrap().len() as u64)
        .sum()
}

#[test]
fn each_zone_has_its_commands() {
    let server = TestApp::start();
    let data = done(&server.client(), "shed_allowed_commands", &json!({}));
    assert_eq!(data["storage"], data["documents"]);
    let listed = |zone: &str, name: &str| {
        has(&data[zone]["available"], name) || has(&data[zone]["missing"], name)
    };
    for (name, uploads, storage) in [
        ("cat", true, true),
        ("grep", true, true),
        ("rm", false, true),
        ("chmod", false, true),
        ("git", false, true),
        ("ln", false, false),
        ("bash", false, false),
        ("curl", false, false),
    ] {
        assert_eq!(
            (listed("uploads", name), listed("storage", name)),
            (uploads, storage),
            "{name}"
        );
    }
    let summary = &data["summary"];
    let whitelist = summary["total_whitelist"].as_u64().unwrap();
    assert_eq!(whitelist, count(&data["storage"]));
    assert_eq!(
        whitelist,
        summary["available"].as_u64().unwrap() + summary["missing"].as_u64().unwrap()
    );
    assert!(summary["coverage"].as_str().unwrap().ends_with('%'));
    let network = &data["network"];
    assert_eq!(
        (&network["mode"], &network["curl"]),
        (&json!("disabled"), &json!(false))
    );
}

#[test]
fn the_network_brings_commands() {
    let off = TestApp::start();
    let off = done(&off.client(), "shed_allowed_commands", &json!({}));
    for (mode, push) in [("safe", false), ("all", true)] {
        let server = TestApp::with().env("FILESHED_NETWORK_MODE", mode).app();
        let data = done(&server.client(), "shed_allowed_commands", &json!({}));
        assert!(count(&data["storage"]) > count(&off["storage"]));
        assert_eq!(data["network"]["mode"], mode);
        let git = has(&data["storage"]["available"], "git");
        assert_eq!(data["network"]["git_clone"], git);
        assert_eq!(data["network"]["git_push"], git && push);
        assert!(!has(&data["documents"]["missing"], "curl") || data["network"]["curl"] == false);
    }
}

#[test]
fn what_is_listed_runs_and_what_is_missing_says_so() {
    let server = TestApp::start();
    let client = server.client();
    let data = done(&client, "shed_allowed_commands", &json!({}));
    for zone in ["uploads", "storage"] {
        for command in ["cat", "ls", "wc", "head", "sort"] {
            assert!(has(&data[zone]["available"], command), "{command}");
            done(&client, "shed_exec", &json!({"zone": zone, "cmd": command}));
        }
    }
    for command in data["storage"]["missing"].as_array().unwrap() {
        let answer = client.call(
            "shed_exec",
            &json!({"zone": "storage", "cmd": command, "args": ["x"]}),
        );
        assert_ne!(
            (answer.status, answer.code()),
            (403, "COMMAND_FORBIDDEN"),
            "{}",
            answer.text
        );
        assert_ne!(answer.status, 200, "{}", answer.text);
    }
}
