//! Limits that configuration and headers set.

use fileshed_test_support::TestApp;
use serde_json::json;

use super::{done, refused};

#[test]
fn read_only_disables_what_changes() {
    let app = TestApp::start();
    done(
        &app.client(),
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    let by_header = app.client().header("X-Fileshed-Read-Only", "true");
    let configured = TestApp::with().env("FILESHED_FS_READ_ONLY", "true").app();
    // A header only narrows.
    let widened = configured.client().header("X-Fileshed-Read-Only", "false");
    for client in [by_header, configured.client(), widened] {
        for (tool, arguments) in [
            ("write_file", json!({"path": "b.md", "content": "x"})),
            (
                "edit_file",
                json!({"path": "a.md", "old_string": "x", "new_string": "y"}),
            ),
            ("remove_file", json!({"path": "a.md"})),
        ] {
            let error = refused(&client, tool, &arguments);
            assert!(
                error.to_lowercase().contains("read-only"),
                "{tool}: {error}"
            );
        }
    }
    let read = done(&app.client(), "read_file", &json!({"path": "a.md"}));
    assert_eq!(read["content"], "     1→x");
}

#[test]
fn a_token_that_only_reads_changes_nothing() {
    let app = TestApp::with_key();
    let made = app.run(&["token", "create", "--user", "alice", "--scope", "read"]);
    let secret = made
        .stdout
        .split_whitespace()
        .find(|word| word.starts_with("shed_"));
    let alice = app.with_token(secret.expect("a token"));
    let answer = super::call(&alice, "write_file", &json!({"path": "a", "content": "x"}));
    assert_eq!(answer.status, 403, "{}", answer.text);
    assert!(answer.body["error"].is_string(), "{}", answer.text);
}

#[test]
fn a_quota_that_is_full_is_said_in_the_words_of_the_tools() {
    let app = TestApp::with().env("FILESHED_QUOTA_PER_USER_MB", "1").app();
    let content = "x".repeat(1_048_577);
    let error = refused(
        &app.client(),
        "write_file",
        &json!({"path": "a", "content": content}),
    );
    assert!(
        error.contains("quota") || error.contains("space"),
        "{error}"
    );
    assert!(!error.contains("shed_"), "{error}");
}

#[test]
fn a_locked_edit_of_an_operation_holds_a_file_for_the_tools_too() {
    let app = TestApp::start();
    let client = app.client();
    done(
        &client,
        "write_file",
        &json!({"path": "a.md", "content": "x"}),
    );
    let open = client.clone().chat("one").call(
        "shed_lockedit_open",
        &json!({"zone": "storage", "path": "a.md"}),
    );
    assert_eq!(open.status, 200, "{}", open.text);
    let error = refused(
        &client.clone().chat("two"),
        "write_file",
        &json!({"path": "a.md", "content": "y"}),
    );
    assert!(error.contains("a.md"), "{error}");
    let read = done(&client, "read_file", &json!({"path": "a.md"}));
    assert_eq!(read["content"], "     1→x");
}
