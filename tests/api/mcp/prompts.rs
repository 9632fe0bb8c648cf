//! The guides as prompts.

use fileshed_test_support::TestApp;
use serde_json::{Value, json};

use super::client::Peer;

#[test]
fn every_guide_is_a_prompt() {
    let server = TestApp::start();
    for path in ["/mcp", "/mcp/core"] {
        let peer = Peer::new(server.client()).at(path);
        let help = peer.done("shed_help", &json!({}));
        let listed = peer.request("prompts/list", &json!({}));
        let listed = listed["prompts"].as_array().unwrap();
        assert_eq!(listed.len(), help["howtos"].as_object().unwrap().len());
        for prompt in listed {
            let topic = prompt["name"].as_str().unwrap();
            assert_eq!(prompt["description"], help["howtos"][topic]);
            let prompt = peer.request("prompts/get", &json!({"name": topic}));
            let message = &prompt["messages"][0];
            assert_eq!(message["role"], "user");
            let guide = peer.done("shed_help", &json!({"howto": topic}));
            assert_eq!(message["content"]["text"], guide["help"], "{topic}");
        }
    }
    let peer = Peer::new(server.client());
    let refused = peer.refused("prompts/get", &json!({"name": "dance"}));
    assert_eq!(refused["code"], -32_602, "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("dance"));
    let terminal = Peer::new(server.client()).at("/mcp/terminal");
    let listed = terminal.request("prompts/list", &json!({}));
    assert_eq!(listed["prompts"], Value::Array(Vec::new()));
}
