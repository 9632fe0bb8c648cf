//! Who may speak the protocol, and with whose files.

use fileshed_test_support::{Server, TestApp};
use serde_json::json;

use super::client::Peer;

#[test]
fn who_calls_is_asked_of_every_request() {
    let server = TestApp::with_key();
    let nobody = Peer::new(server.client());
    let answer = nobody.send("tools/list", &json!({}));
    answer.refused(401, "UNAUTHORIZED");
    let challenge = answer.header("www-authenticate");
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    assert!(
        challenge.contains("there is no OAuth server"),
        "{challenge}"
    );
    let (_, rest) = challenge.split_once("resource_metadata=\"").unwrap();
    let (_, path) = rest
        .trim_end_matches('"')
        .split_once("127.0.0.1:8000")
        .unwrap();
    let metadata = server.client().get(path).body;
    assert_eq!(metadata["authorization_servers"], json!([]), "{metadata}");
    assert_eq!(metadata["resource"], "http://127.0.0.1:8000/mcp");
    let (ada, bob) = (
        Peer::new(server.as_user("ada")),
        Peer::new(server.as_user("bob")),
    );
    ada.done(
        "shed_create_file",
        &json!({"zone": "storage", "path": "secret.md", "content": "ada's\n"}),
    );
    let tree = bob.done("shed_tree", &json!({"zone": "storage"}));
    assert!(!tree.to_string().contains("secret.md"), "{tree}");
    let nobody = server
        .client()
        .header("Authorization", "Bearer service-key");
    Peer::new(nobody)
        .send("tools/list", &json!({}))
        .refused(401, "INVALID_USER");
}

#[test]
fn pages_of_other_sites_are_refused() {
    let server = TestApp::start();
    let page = server.client().header("Origin", "https://evil.example");
    Peer::new(page)
        .send("tools/list", &json!({}))
        .refused(403, "ACCESS_DENIED");
    let page = server.client().header("Host", "evil.example:8000");
    let answer = Peer::new(page).send("tools/list", &json!({}));
    assert_eq!(answer.status, 403, "{}", answer.text);
}

#[test]
fn a_page_needs_to_be_listed_whatever_credential_it_has() {
    let setup = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_CORS_ORIGINS", "https://chat.example.org");
    let server = setup.app();
    for (origin, status) in [
        ("https://chat.example.org", 200),
        ("http://127.0.0.1:8000", 200),
        ("https://evil.example", 403),
        ("null", 403),
    ] {
        let page = server.as_user("ada").header("Origin", origin);
        let answer = Peer::new(page).send("tools/list", &json!({}));
        assert_eq!(answer.status, status, "{origin}: {}", answer.text);
    }
}

#[test]
fn a_token_that_only_reads_changes_nothing() {
    let server = Server::start();
    let made = server.run(&["token", "create", "--user", "ada", "--scope", "read"]);
    let token = made.stdout.trim().to_owned();
    let peer = Peer::new(server.with_token(&token));
    peer.done("shed_tree", &json!({"zone": "storage"}));
    let file = json!({"zone": "storage", "path": "a", "content": "a"});
    let refused = peer.call("shed_create_file", &file);
    assert_eq!(refused["isError"], true);
    assert_eq!(
        refused["structuredContent"]["error"]["code"], "ACCESS_DENIED",
        "{refused}"
    );
}
