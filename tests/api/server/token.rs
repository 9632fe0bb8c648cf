//! Personal tokens, made beside a running server.

use serde_json::json;

use fileshed_test_support::{Finished, Server, TestApp};

const CALL: &str = "shed_parameters";

#[track_caller]
fn printed(finished: &Finished) -> &str {
    assert_eq!(finished.code, Some(0), "{finished:?}");
    finished.stdout.trim_end()
}

fn create(server: &TestApp, more: &[&str]) -> String {
    let arguments = [&["token", "create", "--user", "alice"], more].concat();
    printed(&server.run(&arguments)).to_owned()
}

/// The columns of the only token.
fn listed(server: &TestApp) -> Vec<String> {
    let finished = server.run(&["token", "list"]);
    let line = printed(&finished).to_owned();
    assert_eq!(line.lines().count(), 1, "{line}");
    line.split('\t').map(str::to_owned).collect()
}

#[test]
fn a_token_opens_its_users_workspace_until_it_is_revoked() {
    let server = Server::with_key();
    let secret = create(&server, &["--label", "laptop"]);
    assert!(secret.len() >= 32 && !secret.contains(char::is_whitespace));
    server.with_token(&secret).call(CALL, &json!({})).data();

    let columns = listed(&server);
    assert_eq!(columns[1..3], ["alice", "write"]);
    assert_eq!(columns[4..], ["valid", "laptop"]);
    assert!(!columns.contains(&secret));

    assert_eq!(
        server.run(&["token", "revoke", "--id", &columns[0]]).code,
        Some(0)
    );
    assert_eq!(listed(&server)[4], "revoked");
    let answer = server.with_token(&secret).call(CALL, &json!({}));
    answer.refused(401, "UNAUTHORIZED");
    assert!(!answer.text.contains(&secret));
    assert!(!server.log().contains(&secret), "{}", server.log());
}

#[test]
fn a_token_is_its_user_and_nobody_else() {
    let server = TestApp::with_key();
    let secret = create(&server, &["--scope", "read", "--expires-days", "3"]);
    assert_eq!(listed(&server)[2], "read");
    assert!(listed(&server)[4].starts_with("until "));
    let client = || server.with_token(&secret);
    client()
        .header("X-User-Id", "alice")
        .call(CALL, &json!({}))
        .data();
    for header in ["X-User-Id", "X-OpenWebUI-User-Id"] {
        let answer = client().header(header, "bob").call(CALL, &json!({}));
        answer.refused(403, "ACCESS_DENIED");
    }
}

#[test]
fn a_token_isolates_in_shared_mode_too() {
    let server = Server::start();
    let secret = create(&server, &[]);
    server.with_token(&secret).call(CALL, &json!({})).data();
    server.call(CALL, &json!({})).data();
    assert!(server.logged("namespace=\"shared\""));
    let other = server
        .log()
        .lines()
        .any(|line| line.contains(CALL) && line.contains("namespace=") && !line.contains("shared"));
    assert!(other, "{}", server.log());
}

#[test]
fn what_cannot_be_a_token() {
    let server = TestApp::with();
    for arguments in [
        &["token"][..],
        &["token", "create"],
        &["token", "create", "--user", ""],
        &["token", "create", "--user", "a", "--scope", "all"],
        &["token", "create", "--user", "a", "--expires-days", "0"],
        &["token", "revoke"],
    ] {
        assert_eq!(server.run(arguments).code, Some(2), "{arguments:?}");
    }
    let server = server.app();
    let unknown = server.run(&["token", "revoke", "--id", "nothing"]);
    assert_eq!(unknown.code, Some(1));
    assert!(unknown.stderr.contains("there is no token `nothing`"));
}
