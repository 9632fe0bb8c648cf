//! Commands in the background, as the terminal surface starts, shows and ends them.

use fileshed_test_support::{Answer, Client};
use serde_json::{Value, json};

mod changes;
mod control;
mod git;
mod life;
mod limits;
mod logs;
mod run;
mod status;
mod stream;

/// Starts a line and waits for its end.
#[track_caller]
fn ran(client: &Client<'_>, command: &str) -> Value {
    ran_with(client, &json!({"command": command}))
}

/// The same with more arguments.
#[track_caller]
fn ran_with(client: &Client<'_>, arguments: &Value) -> Value {
    let answer = execute(client, "?wait=60", arguments);
    assert_eq!(answer.status, 200, "{}", answer.text);
    assert_ne!(answer.body["status"], "running", "{}", answer.text);
    answer.body
}

/// Starts a line and does not wait.
#[track_caller]
fn started(client: &Client<'_>, command: &str) -> String {
    let answer = execute(client, "?wait=0", &json!({"command": command}));
    assert_eq!(answer.status, 200, "{}", answer.text);
    let id = answer.body["id"].as_str();
    id.expect("an id").to_owned()
}

fn execute(client: &Client<'_>, query: &str, arguments: &Value) -> Answer {
    let path = format!("/terminal/execute{query}");
    client.send("POST", &path, arguments.to_string().as_bytes())
}

/// Status and output of a process.
fn status(client: &Client<'_>, id: &str, query: &str) -> Answer {
    client.get(&format!("/terminal/execute/{id}/status{query}"))
}

/// Returns the rows of the list.
fn listed(client: &Client<'_>) -> Vec<Value> {
    let answer = client.get("/terminal/execute");
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer.body.as_array().expect("a bare list").clone()
}

/// The one that was started last.
fn last(client: &Client<'_>) -> Value {
    listed(client).pop().expect("a process")
}

fn input(client: &Client<'_>, id: &str, text: &str) -> Answer {
    let path = format!("/terminal/execute/{id}/input");
    client.send("POST", &path, json!({"input": text}).to_string().as_bytes())
}

fn kill(client: &Client<'_>, id: &str, query: &str) -> Answer {
    client.send("DELETE", &format!("/terminal/execute/{id}{query}"), b"")
}

/// Everything that was written to a stream.
fn written(answer: &Value, stream: &str) -> String {
    let entries = answer["output"].as_array().expect("output").iter();
    let entries = entries.filter(|entry| entry["type"] == stream);
    entries.filter_map(|entry| entry["data"].as_str()).collect()
}

fn stdout(answer: &Value) -> String {
    written(answer, "stdout")
}
