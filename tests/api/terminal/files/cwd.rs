//! `GET` and `POST /terminal/files/cwd`

use fileshed_test_support::{Server, TestApp};
use serde_json::json;

use super::{delete, get, post, refused, text, write};

#[test]
fn each_conversation_has_a_directory_of_its_own() {
    let app = TestApp::with_key();
    let ada = app.as_user("ada");
    let (one, two) = (
        ada.clone().header("X-Session-Id", "c1"),
        ada.clone().header("X-Session-Id", "c2"),
    );
    write(&ada, "/storage/work/a.md", "a");
    let at_first = get(&one, "/files/cwd", &[]);
    assert_eq!(
        at_first.body,
        json!({"cwd": "/storage", "home": "/storage"})
    );
    let set = post(&one, "/files/cwd", &json!({"path": "/storage/work/"}));
    assert_eq!(set.body, json!({"cwd": "/storage/work"}));
    assert_eq!(get(&one, "/files/cwd", &[]).body["cwd"], "/storage/work");
    assert_eq!(get(&two, "/files/cwd", &[]).body["cwd"], "/storage");
    assert_eq!(
        get(
            &app.as_user("bob").header("X-Session-Id", "c1"),
            "/files/cwd",
            &[]
        )
        .body["cwd"],
        "/storage"
    );
    // Relative paths begin there, whatever is done.
    assert_eq!(
        get(&one, "/files/read", &[("path", "a.md")]).body["content"],
        "a"
    );
    assert_eq!(get(&one, "/files/list", &[]).body["dir"], "/storage/work");
    let written = post(
        &one,
        "/files/write",
        &json!({"path": "../b.md", "content": "b"}),
    );
    assert_eq!(written.body["path"], "/storage/b.md");
    assert_eq!(text(&two, "b.md"), "b");
    assert_eq!(text(&one, "~/b.md"), "b");
}

#[test]
fn only_a_directory_that_is_there_is_one() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/a.md", "a");
    for path in [
        "/storage/a.md",
        "/storage/none",
        "/groups/none",
        "/etc",
        "/logs/none",
    ] {
        let answer = post(&client, "/files/cwd", &json!({"path": path}));
        refused(&answer, 404, "FILE_NOT_FOUND", "`/");
    }
    for path in ["/", "/groups", "/logs", "/documents", "/uploads"] {
        let answer = post(&client, "/files/cwd", &json!({"path": path}));
        assert_eq!(answer.body, json!({"cwd": path}), "{}", answer.text);
    }
}

#[test]
fn a_directory_that_is_gone_leads_to_what_is_above() {
    let app = TestApp::start();
    let client = app.client();
    write(&client, "/storage/a/b/c.md", "x");
    post(&client, "/files/cwd", &json!({"path": "/storage/a/b"}));
    assert_eq!(delete(&client, "/storage/a/b").status, 200);
    assert_eq!(get(&client, "/files/cwd", &[]).body["cwd"], "/storage/a");
    let missing = get(&client, "/files/list", &[]);
    refused(&missing, 404, "FILE_NOT_FOUND", "`/storage/a/b`");
}

#[test]
fn it_is_there_after_a_restart() {
    let mut server = Server::with().start();
    let client = server.client();
    write(&client, "/storage/work/a.md", "a");
    post(&client, "/files/cwd", &json!({"path": "work"}));
    server.kill();
    let again = server.again();
    assert_eq!(
        get(&again.client(), "/files/cwd", &[]).body["cwd"],
        "/storage/work"
    );
}
