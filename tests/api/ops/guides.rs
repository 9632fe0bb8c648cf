//! Every call that a text shows to a model works: guides and tool descriptions.

use fileshed::ops::OPERATIONS;
use serde_json::{Value, json};

use crate::ops::calls;
use crate::ops::stage::{done, has, small};
use fileshed_test_support::{Client, repository, skip};

/// Makes a call of a text; a command must also end well.
fn make(client: &Client<'_>, operation: &str, arguments: &Value) {
    if let Some(command) = arguments["cmd"].as_str() {
        let commands = done(client, "shed_allowed_commands", &json!({}));
        if has(&commands["storage"]["missing"], command) {
            skip(format_args!("{command} is not installed"));
            return;
        }
    }
    let data = done(client, operation, arguments);
    let ended = data.get("returncode").unwrap_or(&Value::Null);
    assert!(ended.is_null() || *ended == 0, "{arguments}: {data}");
}

/// The calls of a guide: JSON blocks, an object a line, `{"shed_x": {…}}`.
fn blocks(guide: &str) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut inside = false;
    for line in guide.lines() {
        match line {
            "```json" => inside = true,
            "```" => inside = false,
            line if inside => {
                let object: Value = serde_json::from_str(line).expect(line);
                let object = object.as_object().expect(line);
                assert_eq!(object.len(), 1, "{line}");
                found.extend(
                    object
                        .iter()
                        .map(|(name, value)| (name.clone(), value.clone())),
                );
            }
            _ => {}
        }
    }
    found
}

#[test]
fn every_call_of_every_guide_works() {
    let server = small().app();
    let directory = repository().join("src/ops/help");
    let mut calls = 0;
    for entry in std::fs::read_dir(directory).expect("guides") {
        let path = entry.expect("a guide").path();
        let guide = std::fs::read_to_string(&path).expect("a guide");
        let topic = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let client = server.as_user(&topic);
        for (operation, arguments) in blocks(&guide) {
            println!("{topic}: {operation} {arguments}");
            make(&client, &operation, &arguments);
            calls += 1;
        }
        for call in calls::calls(&guide) {
            calls::prepare(&client, &call.operation, &call.arguments);
            make(&client, &call.operation, &call.arguments);
        }
    }
    assert!(calls > 30, "{calls}");
}

#[test]
fn every_call_of_every_description_works() {
    let server = small().app();
    for entry in OPERATIONS {
        let client = server.as_user(entry.id);
        let found = calls::calls(entry.doc);
        for call in found {
            calls::prepare(&client, &call.operation, &call.arguments);
            if call.arguments["cmd"] == "grep" {
                calls::prepare(&client, "shed_tree", &json!({}));
            }
            make(&client, &call.operation, &call.arguments);
        }
    }
}

#[test]
fn guides_of_the_small_toolset_name_no_other() {
    let server = small().app();
    let client = server.as_user("small");
    let guides = done(&client, "shed_help", &json!({}))["howtos"].clone();
    let topics = guides.as_object().unwrap().keys().map(String::as_str);
    for topic in topics.chain([""]) {
        let asked = json!({"howto": topic}).to_string();
        let answer = client.post("core/shed_help", asked.as_bytes());
        let guide = answer.data()["help"].as_str().unwrap();
        assert!(guide.starts_with("# ") && guide.len() > 200, "{guide}");
        assert!(
            guide.contains("shed_") && !guide.contains("```json\n```"),
            "{guide}"
        );
        assert_eq!(guide.matches("```").count() % 2, 0, "{guide}");
        for name in names(guide) {
            let entry = OPERATIONS.iter().find(|entry| entry.id == name);
            assert!(entry.is_some_and(|entry| entry.core), "{name}:\n{guide}");
        }
    }
}

#[test]
fn texts_name_operations_that_exist() {
    let mut texts: Vec<String> = OPERATIONS
        .iter()
        .map(|entry| entry.doc.to_owned())
        .collect();
    for directory in ["src/ops/help", "src/core", "src/ops"] {
        read_all(&repository().join(directory), &mut texts);
    }
    let exists = |name: &str| OPERATIONS.iter().any(|entry| entry.id == name);
    for name in texts.iter().flat_map(|text| names(text)) {
        assert!(exists(name), "{name} does not exist");
    }
}

fn read_all(directory: &std::path::Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            read_all(&path, texts);
        } else if let Ok(text) = std::fs::read_to_string(&path) {
            texts.push(text);
        }
    }
}

/// Names of operations in a text; `shed_copy_*` stands for several.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("shed_").filter_map(|(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at..];
        let end = rest
            .find(|c: char| !(c.is_ascii_lowercase() || c == '_'))
            .unwrap_or(rest.len());
        let name = &rest[..end];
        let alone = !before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
        (alone && name.len() > 6 && !name.ends_with('_')).then_some(name)
    })
}
