//! Callers that may speak the protocol, and the files that they reach.

use fileshed_test_support::TestApp;
use serde_json::json;

use super::client::{NEWEST, OLDER, Peer};

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
        .split_once(server.address())
        .unwrap();
    let metadata = server.client().get(path).body;
    assert_eq!(metadata["authorization_servers"], json!([]), "{metadata}");
    assert_eq!(metadata["resource"], server.url("/mcp"));
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
}

#[test]
fn a_gateway_that_names_nobody_learns_what_there_is_and_no_more() {
    let server = TestApp::with_key();
    let ada = Peer::new(server.as_user("ada"));
    let file = json!({"zone": "storage", "path": "a.md", "content": "a"});
    ada.done("shed_create_file", &file);
    let key = "Bearer service-key";
    let nobody = || Peer::new(server.client().header("Authorization", key));
    for version in OLDER.into_iter().chain([NEWEST]) {
        let nobody = nobody().speaking(version);
        let (mine, all) = (json!({}), ada.request("tools/list", &json!({})));
        assert_eq!(nobody.request("tools/list", &mine)["tools"], all["tools"]);
        nobody.request("resources/templates/list", &mine);
        nobody.request("prompts/list", &mine);
        for (method, params) in [
            ("tools/call", json!({"name": "shed_stats", "arguments": {}})),
            ("resources/list", json!({})),
            ("resources/read", json!({"uri": "fileshed://storage/a.md"})),
            ("prompts/get", json!({"name": "edit"})),
            (
                "completion/complete",
                json!({
                    "ref": {"type": "ref/resource", "uri": "fileshed://{zone}/{+path}"},
                    "argument": {"name": "path", "value": ""},
                    "context": {"arguments": {"zone": "storage"}},
                }),
            ),
            (
                "resources/subscribe",
                json!({"uri": "fileshed://storage/a.md"}),
            ),
            ("subscriptions/listen", json!({"notifications": {}})),
        ] {
            nobody.send(method, &params).refused(401, "INVALID_USER");
        }
    }
    nobody().request("server/discover", &json!({}));
    // Batches, and bodies with two methods or none, are refused like requests without a user.
    let client = server
        .client()
        .header("Authorization", key)
        .header("Content-Type", "application/json");
    for body in [
        r#"[{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}]"#,
        r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "method": "resources/list"}"#,
        r#"{"jsonrpc": "2.0", "id": 1}"#,
    ] {
        let answer = client.send("POST", "/mcp", body.as_bytes());
        answer.refused(401, "INVALID_USER");
    }
    // Neither a wrong key nor a page elsewhere.
    let wrong = Peer::new(server.client().header("Authorization", "Bearer other"));
    wrong
        .send("tools/list", &json!({}))
        .refused(401, "UNAUTHORIZED");
    let page = server
        .client()
        .header("Authorization", key)
        .header("Origin", "https://evil.example");
    Peer::new(page)
        .send("tools/list", &json!({}))
        .refused(403, "ACCESS_DENIED");
    assert!(!server.data().join("shared").exists());
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
        (&server.url(""), 200),
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
    let server = TestApp::start();
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
