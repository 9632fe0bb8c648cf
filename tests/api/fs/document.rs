//! The document of the compact tools: committed, served from memory, and cheap.

use fileshed::http::fs::document::{document, pretty};
use fileshed_test_support::{TestApp, repository};
use serde_json::json;

use crate::server::documents::{assert_plain, tools};

/// Most characters that the tools may cost a model on every turn.
const BUDGET: usize = 5_000;

#[test]
fn the_committed_document_is_the_generated_one() {
    let path = repository().join("openapi/fs.json");
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == pretty().expect("a document"),
        "openapi/fs.json is out of date: cargo run -- openapi --fs > openapi/fs.json"
    );
}

#[test]
fn the_program_prints_it() {
    let printed = TestApp::with().run(&["openapi", "--fs"]);
    assert_eq!(printed.stdout, pretty().expect("a document"));
    let both = TestApp::with().run(&["openapi", "--fs", "--terminal"]);
    assert_eq!(both.code, Some(2), "{both:?}");
}

#[test]
fn open_webui_makes_cheap_tools_with_plain_parameters_of_it() {
    let app = TestApp::start();
    let served = app.client().get("/fs/openapi.json");
    assert_eq!(served.status, 200);
    assert_eq!(served.body, document());
    let tools = tools(&served.body);
    let names: Vec<_> = tools
        .iter()
        .filter_map(|tool| tool["name"].as_str())
        .collect();
    let expected = [
        "read_file",
        "write_file",
        "edit_file",
        "glob_search",
        "grep_search",
        "list_files",
        "remove_file",
        "history",
        "undo",
        "stat_file",
        "output_file",
    ];
    assert_eq!(names, expected);
    for tool in &tools {
        let properties = tool["parameters"]["properties"]
            .as_object()
            .expect("properties");
        for (parameter, property) in properties {
            let place = format!("{}.{parameter}", tool["name"]);
            assert_plain(property, &place);
            assert!(
                property["description"]
                    .as_str()
                    .is_some_and(|text| !text.is_empty()),
                "{place}"
            );
        }
    }
    let cost = json!(tools).to_string().chars().count();
    println!("{} tools, {cost} of {BUDGET} characters", tools.len());
    assert!(cost <= BUDGET, "{cost} characters, {BUDGET} are allowed");
}
