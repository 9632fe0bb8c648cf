//! Files of the tree.

mod change;
mod cwd;
mod list;
mod places;
mod read;
mod replace;
mod transfer;

use fileshed_test_support::{Answer, Client};
use serde_json::{Value, json};

/// `GET` of an address below `/terminal` with these parameters.
pub(crate) fn get(client: &Client<'_>, path: &str, query: &[(&str, &str)]) -> Answer {
    client.get(&address(path, query))
}

/// `POST` of JSON.
pub(crate) fn post(client: &Client<'_>, path: &str, body: &Value) -> Answer {
    client.send("POST", &address(path, &[]), body.to_string().as_bytes())
}

/// `DELETE /files/delete`
pub(crate) fn delete(client: &Client<'_>, path: &str) -> Answer {
    client.send("DELETE", &address("/files/delete", &[("path", path)]), b"")
}

/// An address below `/terminal`.
pub(crate) fn address(path: &str, query: &[(&str, &str)]) -> String {
    let mut text = form_urlencoded::Serializer::new(format!("/terminal{path}?"));
    text.extend_pairs(query);
    text.finish()
}

/// Writes a file.
#[track_caller]
pub(crate) fn write(client: &Client<'_>, path: &str, content: &str) {
    let answer = post(
        client,
        "/files/write",
        &json!({"path": path, "content": content}),
    );
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    assert_eq!(answer.body, json!({"path": path, "size": content.len()}));
}

/// The text of a file.
#[track_caller]
pub(crate) fn text(client: &Client<'_>, path: &str) -> String {
    let answer = get(client, "/files/read", &[("path", path)]);
    assert_eq!(answer.status, 200, "{path}: {}", answer.text);
    answer.body["content"].as_str().unwrap().to_owned()
}

/// The names in a directory.
#[track_caller]
pub(crate) fn names(client: &Client<'_>, directory: &str) -> Vec<String> {
    let answer = get(client, "/files/list", &[("directory", directory)]);
    assert_eq!(answer.status, 200, "{directory}: {}", answer.text);
    let entries = answer.body["entries"].as_array().unwrap();
    let names = entries.iter().filter_map(|entry| entry["name"].as_str());
    names.map(str::to_owned).collect()
}

/// A failure, whose sentence names this.
#[track_caller]
pub(crate) fn refused(answer: &Answer, status: u16, code: &str, names: &str) {
    assert_eq!(
        (answer.status, &answer.body["code"]),
        (status, &json!(code)),
        "{}",
        answer.text
    );
    let detail = answer.body["detail"].as_str().unwrap();
    assert!(detail.contains(names), "{detail}");
    assert!(
        !detail.contains("shed_") && !detail.contains("no tool here"),
        "{detail}"
    );
}
