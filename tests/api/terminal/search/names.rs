//! `GET /terminal/files/search`

use fileshed_test_support::TestApp;
use serde_json::json;

use super::{field, fill};

#[test]
fn the_nearest_name_comes_first() {
    let app = TestApp::start();
    let client = app.client();
    fill(
        &client,
        &[
            ("Notes", "x"),
            ("my-notes.md", "x"),
            ("notes-2026.md", "x"),
            ("notes.md", "x"),
            ("deep/notes/todo.md", "x"),
            (".notes", "x"),
        ],
    );
    let found = client.get("/terminal/files/search?query=notes&path=.&limit=20&type=any");
    assert_eq!(
        field(&found, "results", "path"),
        [
            "/storage/deep/notes",
            "/storage/Notes",
            "/storage/notes.md",
            "/storage/notes-2026.md",
            "/storage/my-notes.md",
        ]
    );
    let first = &found.body["results"][1];
    assert_eq!(
        (&first["name"], &first["type"], &first["size"]),
        (&json!("Notes"), &json!("file"), &json!(1))
    );
    assert!(first["modified"].is_f64());
    let hidden = client.get("/terminal/files/search?query=.notes&show_hidden=true");
    assert_eq!(field(&hidden, "results", "name")[0], ".notes");
    let few = client.get("/terminal/files/search?query=notes&type=file&limit=1");
    assert_eq!(field(&few, "results", "name"), ["Notes"]);
    let all = client.get("/terminal/files/search?query=&path=/storage/deep");
    assert_eq!(field(&all, "results", "name"), ["notes", "todo.md"]);
    assert_eq!(
        client
            .get("/terminal/files/search?query=a&path=none")
            .status,
        404
    );
}

#[test]
fn only_the_callers_own_names_are_there() {
    let app = TestApp::with_key();
    fill(&app.as_user("alice"), &[("secret-plan.md", "x")]);
    for path in ["/", "/storage", "."] {
        let found = app
            .as_user("bob")
            .get(&format!("/terminal/files/search?query=secret&path={path}"));
        assert_eq!(found.body, json!({"results": []}));
    }
}
