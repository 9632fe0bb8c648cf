//! The compact tools under `/fs`, in the words of the two documents that they come from. Each
//! scenario, table row and rule of those is a test with its name; `scenarios.txt` lists them.

use std::fs;
use std::path::{Path, PathBuf};

use fileshed_test_support::{Answer, Client};
use serde_json::Value;

mod configuration;
mod document;
mod errors;
mod isolation;
mod limits;
mod modes;
mod provider;
mod scenarios;
mod tools;

/// Calls a tool.
#[track_caller]
fn call(client: &Client<'_>, tool: &str, arguments: &Value) -> Answer {
    let answer = client.post(&format!("fs/{tool}"), arguments.to_string().as_bytes());
    assert_eq!(answer.header("content-type"), "application/json");
    answer
}

/// Returns the answer of a tool call that must succeed.
#[track_caller]
fn done(client: &Client<'_>, tool: &str, arguments: &Value) -> Value {
    let answer = call(client, tool, arguments);
    assert_eq!(answer.status, 200, "{tool} {arguments}: {}", answer.text);
    assert_eq!(
        answer.body["error"],
        Value::Null,
        "{tool} {arguments}: {}",
        answer.text
    );
    answer.body
}

/// Returns the message of a tool call that must be refused, in an answer of the usual form.
#[track_caller]
fn refused(client: &Client<'_>, tool: &str, arguments: &Value) -> String {
    let answer = call(client, tool, arguments);
    assert_eq!(answer.status, 200, "{tool} {arguments}: {}", answer.text);
    let members = answer.body.as_object().map(serde_json::Map::len);
    assert_eq!(members, Some(2), "{}", answer.text);
    assert!(answer.body["path"].is_string(), "{}", answer.text);
    answer.body["error"].as_str().expect("an error").to_owned()
}

/// Every file below a directory.
fn files(place: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut pending = vec![place.to_owned()];
    while let Some(directory) = pending.pop() {
        for entry in fs::read_dir(directory).into_iter().flatten() {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}
