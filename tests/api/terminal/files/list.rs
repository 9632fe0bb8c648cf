//! `GET /terminal/files/list`

use fileshed_test_support::TestApp;
use serde_json::{Value, json};

fn names(answer: &Value) -> Vec<&str> {
    let entries = answer["entries"].as_array().expect("entries");
    entries
        .iter()
        .filter_map(|entry| entry["name"].as_str())
        .collect()
}

#[test]
fn the_zones_are_the_top_where_nothing_is_made() {
    let app = TestApp::start();
    let top = app.client().get("/terminal/files/list?directory=/");
    assert_eq!(top.status, 200);
    assert_eq!(top.body["dir"], "/");
    assert_eq!(top.body["writable"], false);
    assert_eq!(
        names(&top.body),
        ["documents", "groups", "logs", "storage", "uploads"]
    );
}

#[test]
fn a_directory_shows_what_operations_put_there() {
    let app = TestApp::start();
    let client = app.client();
    client.call(
        "shed_create_file",
        &json!({"zone": "storage", "path": "notes/a.md", "content": "hi"}),
    );
    let listed = client.get("/terminal/files/list?directory=/storage/notes/");
    assert_eq!(listed.body["dir"], "/storage/notes");
    assert_eq!(names(&listed.body), ["a.md"]);
    let entry = &listed.body["entries"][0];
    assert_eq!(
        (&entry["type"], &entry["size"], &entry["writable"]),
        (&json!("file"), &json!(2), &json!(true))
    );
    let missing = client.get("/terminal/files/list?directory=/storage/none");
    assert_eq!(missing.status, 404);
    assert!(missing.body["detail"].is_string(), "{}", missing.body);
}

#[test]
fn a_large_directory_is_listed_whole_and_in_order() {
    let app = TestApp::start();
    let client = app.client();
    let made = client.send(
        "POST",
        "/terminal/files/mkdir",
        br#"{"path": "/storage/many"}"#,
    );
    assert_eq!(made.status, 200);
    let directory = app.data().join("shared/Storage/data/many");
    for number in 0..2_000 {
        std::fs::write(directory.join(format!("{number:05}.txt")), "x").unwrap();
    }
    let listed = client.get("/terminal/files/list?directory=/storage/many");
    let names = names(&listed.body);
    assert_eq!(names.len(), 2_000);
    assert!(names.is_sorted());
}

#[test]
fn an_address_that_is_none_is_a_404() {
    let app = TestApp::start();
    let answer = app.client().get("/terminal/api/v1/policies");
    assert_eq!(answer.status, 404);
    assert_eq!(answer.body["code"], "UNKNOWN_OPERATION");
}
