//! The document of terminals: committed, served from memory, and of use to Open WebUI.

use std::collections::BTreeSet;

use fileshed::http::terminal::document::{document, pretty};
use fileshed_test_support::{TestApp, repository};
use serde_json::{Value, json};

use crate::server::documents::{assert_plain, tools};

/// Most characters that the tools may cost a model on every turn.
const BUDGET: usize = 12_000;

#[test]
fn the_committed_document_is_the_generated_one() {
    let path = repository().join("openapi/terminal.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == pretty().expect("a document"),
        "openapi/terminal.json is out of date: cargo run -- openapi --terminal > openapi/terminal.json"
    );
}

/// OpenAPI has no null: a description that is not there is left out.
#[test]
fn no_document_says_null() {
    for name in ["fileshed", "fs", "terminal"] {
        let path = repository().join(format!("openapi/{name}.json"));
        let document: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
        assert_eq!(nulls(&document), Vec::<String>::new(), "{name}");
    }
}

fn nulls(value: &Value) -> Vec<String> {
    let below = |name: String, value: &Value| {
        nulls(value)
            .into_iter()
            .map(move |path| format!("/{name}{path}"))
            .collect::<Vec<_>>()
    };
    match value {
        Value::Null => vec![String::new()],
        Value::Object(object) => object
            .iter()
            .flat_map(|(name, value)| below(name.clone(), value))
            .collect(),
        Value::Array(items) => (0..)
            .zip(items)
            .flat_map(|(number, value)| below(format!("{number}"), value))
            .collect(),
        _ => Vec::new(),
    }
}

#[test]
fn the_program_prints_it() {
    let printed = TestApp::with().run(&["openapi", "--terminal"]);
    assert_eq!(printed.stdout, pretty().expect("a document"));
    let both = TestApp::with().run(&["openapi", "--terminal", "--toolset", "core"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn what_is_known_is_not_sent_again() {
    let app = TestApp::with().env("FILESHED_TERMINAL_API_KEYS", "k").app();
    let first = app.client().get("/terminal/openapi.json");
    assert_eq!(
        (first.status, first.header("content-type")),
        (200, "application/json")
    );
    let tag = first.header("etag").to_owned();
    assert!(!tag.is_empty(), "{:?}", first.headers);
    let again = app
        .client()
        .header("If-None-Match", &tag)
        .get("/terminal/openapi.json");
    assert_eq!((again.status, again.text.as_str()), (304, ""));
}

#[test]
fn open_webui_makes_cheap_tools_with_plain_parameters_of_it() {
    let app = TestApp::start();
    let served = app.client().get("/terminal/openapi.json").body;
    for document in [document(), served] {
        expect_cheap_and_plain(&tools(&document));
    }
}

#[track_caller]
fn expect_cheap_and_plain(tools: &[Value]) {
    let mut names = BTreeSet::new();
    for tool in tools {
        let name = tool["name"].as_str().expect("a name");
        assert!(names.insert(name), "{name} twice");
        let text = tool["description"].as_str().unwrap_or_default();
        assert!(text.len() > 10, "{tool}");
        let properties = tool["parameters"]["properties"]
            .as_object()
            .expect("properties");
        for (parameter, property) in properties {
            let place = format!("{name}.{parameter}");
            assert_plain(property, &place);
            let text = property["description"].as_str().unwrap_or_default();
            assert!(
                !text.is_empty() && !text.contains('\n'),
                "{place}: {text:?}"
            );
        }
        for required in tool["parameters"]["required"].as_array().expect("required") {
            let is_there = properties.contains_key(required.as_str().unwrap_or_default());
            assert!(is_there, "{tool}");
        }
    }
    for program in ["list_skills", "read_skill", "list_ports"] {
        assert!(!names.contains(program), "{program} is for programs");
    }
    let cost = json!(tools).to_string().chars().count();
    println!("{} tools, {cost} of {BUDGET} characters", tools.len());
    assert!(cost <= BUDGET, "{cost} characters, {BUDGET} are allowed");
}

#[test]
fn every_tool_is_called_where_the_document_says() {
    let app = TestApp::start();
    let document = document();
    for (path, methods) in document["paths"].as_object().expect("paths") {
        for (method, operation) in methods.as_object().expect("methods") {
            let address = format!("/terminal{}", path.replace("{process_id}", "none"));
            let body: &[u8] = if method == "get" { b"" } else { b"{}" };
            let answer = app.client().send(&method.to_uppercase(), &address, body);
            assert_ne!(answer.status, 405, "{method} {path}");
            assert_ne!(
                answer.body["code"], "UNKNOWN_OPERATION",
                "{method} {path}: {}",
                answer.text
            );
            assert_ne!(operation["operationId"], Value::Null, "{path}");
        }
    }
}
