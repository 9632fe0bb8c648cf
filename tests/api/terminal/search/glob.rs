//! `GET /terminal/files/glob`

use fileshed_test_support::TestApp;
use serde_json::json;

use super::{field, fill};

#[test]
fn names_fit_patterns_at_any_depth() {
    let app = TestApp::start();
    let client = app.client();
    fill(
        &client,
        &[
            ("a.py", "1"),
            ("b.md", "22"),
            ("src/c.py", "333"),
            ("src/deep/d.py", "4"),
            ("src/deep/.hidden.py", "5"),
            ("node_modules/e.py", "6"),
        ],
    );
    let found = |query: &str| {
        let answer = client.get(&format!("/terminal/files/glob?{query}"));
        let paths = field(&answer, "matches", "path");
        paths.into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(
        found("pattern=*.py&exclude=node_modules"),
        ["a.py", "src/c.py", "src/deep/.hidden.py", "src/deep/d.py"]
    );
    assert_eq!(
        found("pattern=*.py&exclude=node_modules/*&exclude=**/deep/**"),
        ["a.py", "src/c.py"]
    );
    assert_eq!(found("pattern=src/*.py"), ["src/c.py"]);
    assert_eq!(
        found("pattern=src/**/*.py"),
        ["src/c.py", "src/deep/.hidden.py", "src/deep/d.py"]
    );
    assert_eq!(found("pattern=**/*.{md,txt}"), ["b.md"]);
    assert_eq!(found("pattern=d*&path=src"), ["deep", "deep/d.py"]);
    assert_eq!(found("pattern=d*&path=src&type=file"), ["deep/d.py"]);
    assert_eq!(
        found("pattern=*&type=directory"),
        ["node_modules", "src", "src/deep"]
    );
    assert_eq!(found("pattern=[ab].%3F%3F&max_results=1"), ["a.py"]);
}

#[test]
fn an_entry_has_its_type_size_and_time() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, &[("src/c.py", "333")]);
    let found = client.get("/terminal/files/glob?pattern=*&path=/");
    assert_eq!(found.body["pattern"], "*");
    assert_eq!(found.body["path"], "/");
    assert_eq!(found.body["truncated"], false);
    let matches = found.body["matches"].as_array().expect("matches");
    let file = matches
        .iter()
        .find(|entry| entry["path"] == "storage/src/c.py")
        .expect("the file");
    assert_eq!((&file["type"], &file["size"]), (&json!("file"), &json!(3)));
    assert!(file["modified"].as_f64().is_some_and(|time| time > 1e9));
    let cut = client.get("/terminal/files/glob?pattern=*&path=/storage&max_results=1");
    assert_eq!(cut.body["truncated"], true);
}

#[test]
fn what_cannot_be_searched_is_refused() {
    let app = TestApp::start();
    let client = app.client();
    fill(&client, &[("a.txt", "a")]);
    assert_eq!(
        client
            .get("/terminal/files/glob?pattern=*&path=none")
            .status,
        404
    );
    assert_eq!(
        client
            .get("/terminal/files/glob?pattern=*&path=a.txt")
            .status,
        404
    );
    assert_eq!(
        client
            .get("/terminal/files/glob?pattern=*&type=link")
            .status,
        400
    );
    let refused = client.get("/terminal/files/glob?pattern=%7Ba,b");
    assert_eq!(refused.status, 400, "{}", refused.body);
    assert_eq!(client.get("/terminal/files/glob").status, 400);
}
