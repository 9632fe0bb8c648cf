//! Texts that models read, as a whole: the committed files in `tests/texts` are the server's texts, so that
//! a change of them is reviewed as text. With `FILESHED_WRITE_CATALOGUE=1` they are written anew.

use std::fmt::Write as _;

use fileshed::openapi::document;
use fileshed_core::Toolset;
use fileshed_test_support::{TestApp, repository};
use serde_json::{Value, json};

use crate::ops::stage::done;
use crate::server::documents::tools;

mod failures;

/// Compares a text with the committed one.
#[track_caller]
fn compare(name: &str, text: &str) {
    let place = repository().join("tests/texts").join(name);
    if std::env::var_os("FILESHED_WRITE_CATALOGUE").is_some() {
        std::fs::write(&place, text).unwrap();
    }
    let committed = std::fs::read_to_string(&place).unwrap_or_default();
    let mut lines = committed.lines().zip(text.lines());
    let first = lines.find(|(old, new)| old != new);
    assert!(
        committed == text,
        "tests/texts/{name} is out of date, {first:?}: FILESHED_WRITE_CATALOGUE=1 cargo test --test api texts"
    );
}

/// Every guide, as it is answered to callers of all operations and of the small toolset.
#[test]
fn guides_are_as_committed() {
    let server = TestApp::start();
    let client = server.client();
    for (toolset, prefix, name) in [("all", "", "help.md"), ("core", "core/", "help-core.md")] {
        let help = format!("{prefix}shed_help");
        let howtos = done(&client, &help, &json!({}))["howtos"].clone();
        let mut text = format!("# What `shed_help` says: toolset `{toolset}`\n");
        let topics = howtos.as_object().unwrap().keys().map(String::as_str);
        for topic in std::iter::once("").chain(topics.filter(|topic| *topic != "full")) {
            let guide = done(&client, &help, &json!({"howto": topic}));
            let guide = guide["help"].as_str().unwrap().trim_end();
            write!(text, "\n---\n\n`shed_help(howto=\"{topic}\")`\n\n{guide}\n").unwrap();
        }
        compare(name, &text);
    }
}

/// Every tool, as Open WebUI makes it of the document and tells it to a model.
#[test]
fn tools_are_as_committed() {
    for (toolset, title, name) in [
        (Toolset::All, "all", "tools.md"),
        (Toolset::Core, "core", "tools-core.md"),
    ] {
        let mut text = format!("# Tools that Open WebUI offers a model: toolset `{title}`\n");
        for tool in tools(&document(toolset)) {
            text.push_str(&shown(&tool));
        }
        compare(name, &text);
    }
}

/// The same of terminals.
#[test]
fn tools_of_terminals_are_as_committed() {
    let mut text = "# Tools that Open WebUI offers a model: terminals\n".to_owned();
    for tool in tools(&fileshed::http::terminal::document::document()) {
        text.push_str(&shown(&tool));
    }
    compare("terminal.md", &text);
}

fn shown(tool: &Value) -> String {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let mut text = format!(
        "\n## {}\n\n{}\n\n",
        word(&tool["name"]),
        word(&tool["description"])
    );
    let required = tool["parameters"]["required"].as_array().unwrap();
    for (name, property) in tool["parameters"]["properties"].as_object().unwrap() {
        write!(text, "- `{name}` ({}", word(&property["type"])).unwrap();
        if required.iter().any(|one| one == name.as_str()) {
            text.push_str(", required");
        }
        text.push(')');
        if let Some(description) = property["description"].as_str() {
            write!(text, ": {description}").unwrap();
        }
        let others = property.as_object().unwrap().iter();
        for (key, value) in
            others.filter(|(key, _)| !["type", "description"].contains(&key.as_str()))
        {
            write!(text, "; {key} {value}").unwrap();
        }
        text.push('\n');
    }
    text
}
