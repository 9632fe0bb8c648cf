//! Searches over the tree.

mod compare;
mod gitignore;
mod glob;
mod grep;
mod matches;
mod names;
mod tools;

use std::path::PathBuf;

use fileshed_test_support::{Answer, Client, TestApp};
use serde_json::{Value, json};

/// Makes files in the storage of the caller.
fn fill(client: &Client<'_>, files: &[(&str, &str)]) {
    for (path, content) in files {
        let made = client.call(
            "shed_create_file",
            &json!({"zone": "storage", "path": path, "content": content}),
        );
        assert_eq!(made.status, 200, "{}", made.body);
    }
}

/// Returns the directory of the storage zone in shared mode.
fn storage(app: &TestApp) -> PathBuf {
    app.data().join("shared/Storage/data")
}

/// The values of a field of each match.
fn field<'a>(answer: &'a Answer, list: &str, name: &str) -> Vec<&'a str> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let items = answer.body[list].as_array().expect("a list");
    items
        .iter()
        .filter_map(|item| item[name].as_str())
        .collect()
}

/// Files and lines of an answer of grep.
fn lines(answer: &Answer) -> Vec<(&str, u64, &str)> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    let text = |value: &'_ Value| value.as_str().is_some();
    let items = answer.body["matches"].as_array().expect("matches");
    assert!(items.iter().all(|item| text(&item["file"])));
    items
        .iter()
        .map(|item| {
            (
                item["file"].as_str().unwrap_or_default(),
                item["line"].as_u64().unwrap_or_default(),
                item["content"].as_str().unwrap_or_default(),
            )
        })
        .collect()
}
