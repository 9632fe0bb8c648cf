//! The answer that a call of a terminal belongs to: the one that its conversation named last.

use fileshed_test_support::{Client, TestApp};
use serde_json::{Value, json};

/// A client with the headers that the proxy sends for a user in a chat.
fn proxy<'a>(app: &'a TestApp, user: &str, chat: &str) -> Client<'a> {
    app.client()
        .header("Authorization", "Bearer terminal-key")
        .header("X-User-Id", user)
        .header("X-Session-Id", chat)
}

/// Writes a file as a model does.
fn write(client: &Client<'_>, path: &str) {
    let file = json!({"path": path, "content": "x"});
    let written = client.send("POST", "/terminal/files/write", file.to_string().as_bytes());
    assert_eq!(written.status, 200, "{}", written.text);
}

/// The answers that changed files of a user, by the names of the files.
fn answers(app: &TestApp, user: &str) -> Vec<(String, String)> {
    let listed = app.as_user(user).get("/page/changes").body["answers"].clone();
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let mut found = Vec::new();
    for answer in listed.as_array().expect("answers") {
        for change in answer["changes"].as_array().expect("changes") {
            found.push((text(&change["files"][0]["path"]), text(&answer["answer"])));
        }
    }
    found
}

#[test]
fn what_a_model_does_belongs_to_the_answer_that_was_named_before_it() {
    let app = TestApp::with()
        .env("FILESHED_API_KEYS", "service-key")
        .env("FILESHED_TERMINAL_API_KEYS", "terminal-key")
        .app();
    let (ada, other) = (proxy(&app, "ada", "c-1"), proxy(&app, "ada", "c-2"));
    write(&ada, "/storage/0");
    let named = ada.clone().header("X-OpenWebUI-Message-Id", "m-1");
    assert_eq!(named.get("/terminal/skills").status, 200);
    write(&ada, "/storage/1");
    write(&ada, "/storage/2");
    write(&other, "/storage/3");
    write(&proxy(&app, "bob", "c-1"), "/storage/of-bob");
    let next = ada.clone().header("X-OpenWebUI-Message-Id", "m-2");
    assert_eq!(next.get("/terminal/files/cwd").status, 200);
    write(&ada, "/storage/4");
    // A person's change in the file browser belongs to no answer.
    let made = ada.send(
        "POST",
        "/terminal/files/mkdir",
        br#"{"path": "/storage/5"}"#,
    );
    assert_eq!(made.status, 200, "{}", made.text);

    let found = answers(&app, "ada");
    let named = |file: &str| {
        let found = found.iter().find(|(path, _)| path == file);
        &*found.expect("a change").1
    };
    for (file, answer) in [("1", "m-1"), ("2", "m-1"), ("4", "m-2")] {
        assert_eq!(named(file), answer, "{file}: {found:?}");
    }
    for (file, by) in [("0", "model-"), ("3", "model-"), ("5", "person-")] {
        assert!(named(file).starts_with(by), "{file}: {found:?}");
    }
    assert_ne!(named("0"), named("3"));
    assert!(answers(&app, "bob")[0].1.starts_with("model-"));
}
