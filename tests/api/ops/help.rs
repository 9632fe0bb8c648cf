//! `shed_help`

use fileshed::ops::OPERATIONS;
use serde_json::json;

use crate::ops::stage::{Provoked, done};
use fileshed_test_support::TestApp;

pub(crate) const PROVOKED: Provoked = &[];

const TOPICS: [&str; 10] = [
    "commands",
    "csv_to_sqlite",
    "download",
    "edit",
    "full",
    "large_files",
    "network",
    "paths",
    "share",
    "upload",
];

#[test]
fn every_topic_has_a_guide() {
    let server = TestApp::start();
    let client = server.client();
    let overview = done(&client, "shed_help", &json!({"howto": ""}));
    let topics: Vec<&str> = overview["howtos"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(topics, TOPICS);
    let full = done(&client, "shed_help", &json!({"howto": "full"}));
    let full = full["help"].as_str().unwrap();
    for topic in TOPICS {
        let guide = done(
            &client,
            "shed_help",
            &json!({"howto": format!(" {} ", topic.to_uppercase())}),
        );
        let text = guide["help"].as_str().unwrap();
        assert!(text.starts_with("# "), "{topic}");
        assert!(full.contains(text), "{topic}");
        assert!(
            !text.replace("{}", "").contains("{max") && !text.contains("_mode}"),
            "{text}"
        );
    }
}

#[test]
fn the_full_guide_names_every_operation() {
    let server = TestApp::start();
    let full = done(&server.client(), "shed_help", &json!({"howto": "full"}));
    let text = full["help"].as_str().unwrap();
    let named = |id: &str| {
        let after = |at: usize| text[at + id.len()..].chars().next();
        let mut places = text.match_indices(id);
        places.any(|(at, _)| !after(at).is_some_and(|c| c == '_' || c.is_ascii_lowercase()))
    };
    let missing = OPERATIONS.iter().map(|entry| entry.id);
    let missing: Vec<&str> = missing.filter(|id| !named(id)).collect();
    assert!(
        missing.is_empty(),
        "no guide in src/ops/help names {missing:?}"
    );
}

#[test]
fn guides_say_what_holds_on_this_server() {
    let server = TestApp::with()
        .env("FILESHED_NETWORK_MODE", "all")
        .env("FILESHED_QUOTA_PER_USER_MB", "77")
        .app();
    let client = server.client();
    let full = done(&client, "shed_help", &json!({"howto": "full"}));
    let text = full["help"].as_str().unwrap();
    assert!(text.contains("network_mode of this server: all."), "{text}");
    assert!(text.contains("all zones together 77 MB"), "{text}");
}

#[test]
fn an_unknown_topic_lists_the_others() {
    let server = TestApp::start();
    let answer = server
        .client()
        .call("shed_help", &json!({"howto": "cooking"}));
    answer.refused(400, "INVALID_PARAMETER");
    let error = &answer.body["error"];
    assert!(
        error["message"].as_str().unwrap().contains("\"cooking\""),
        "{}",
        answer.text
    );
    let listed = error["details"]["howtos"].as_object().unwrap();
    assert_eq!(listed.len(), TOPICS.len());
}
