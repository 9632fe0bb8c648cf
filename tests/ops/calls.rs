//! Calls as texts for models write them: `shed_exec(zone="storage", cmd="ls", args=["-la"])`.

use fileshed::ops::find;
use serde_json::{Map, Value, json};

use crate::bridge;
use crate::stage::{bring, file};
use crate::support::{Answer, Client};

/// What an example file holds; examples look for words of it.
const CONTENT: &str = "- buy milk\nold\nTODO: 1\n";

/// One call in a text.
#[derive(Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) operation: String,
    pub(crate) arguments: Value,
}

/// The complete calls in a text. What has `…` in it, or no arguments in parentheses, is none.
pub(crate) fn calls(text: &str) -> Vec<Call> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices("shed_") {
        let rest = &text[at..];
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        let (operation, rest) = rest.split_at(end.unwrap_or(rest.len()));
        if let Some(inside) = rest.strip_prefix('(')
            && let Some(arguments) = arguments(inside)
        {
            let operation = operation.to_owned();
            found.push(Call {
                operation,
                arguments,
            });
        }
    }
    found
}

/// `name=value, …)`
fn arguments(mut text: &str) -> Option<Value> {
    let mut arguments = Map::new();
    loop {
        text = text.trim_start_matches([',', ' ']);
        if text.starts_with(')') {
            return Some(Value::Object(arguments));
        }
        let (name, rest) = text.split_once('=')?;
        let plain = name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        text = &rest[values.byte_offset()..];
        if !plain {
            return None;
        }
        arguments.insert(name.to_owned(), value);
    }
}

/// Whether every required parameter is there.
fn is_complete(call: &Call) -> bool {
    find(&call.operation).is_some_and(|entry| {
        let schema = (entry.request_schema)();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        required
            .iter()
            .all(|name| call.arguments.get(name.as_str().unwrap()).is_some())
    })
}

/// Makes what a call needs: the file or archive that it names, and its locked edit.
#[track_caller]
pub(crate) fn prepare(client: &Client<'_>, operation: &str, arguments: &Value) {
    match operation {
        "shed_zip" => return prepare_source(client, arguments),
        "shed_unzip" | "shed_zipinfo" => return prepare_archive(client, arguments),
        _ => {}
    }
    if let Some((from, _)) = bridge::way(operation) {
        bring(client, from, arguments["src"].as_str().unwrap(), CONTENT);
        return;
    }
    if operation == "shed_copy_to_group" {
        let zone = arguments["src_zone"].as_str().unwrap_or("storage");
        bring(
            client,
            zone,
            arguments["src_path"].as_str().unwrap(),
            CONTENT,
        );
        return;
    }
    if operation.starts_with("shed_group_") {
        if let Some(path) = arguments["path"].as_str() {
            let made = json!({"zone": "group", "group": arguments["group"], "path": path,
                "content": CONTENT});
            client.call("shed_create_file", &made);
        }
        if let Some(owner) = arguments["new_owner"].as_str() {
            let group = client.header_text("X-OpenWebUI-User-Group-Ids").unwrap();
            let other = client.server().as_member(owner, group);
            other.call("shed_group_list", &json!({})).data();
        }
        return;
    }
    if operation == "shed_import" {
        bring(client, "uploads", "report.pdf", CONTENT);
        return;
    }
    let path = arguments["path"]
        .as_str()
        .or(arguments["old_path"].as_str());
    let zone = arguments["zone"].as_str().unwrap_or("storage");
    if operation == "shed_sqlite" {
        database(client, zone, arguments);
        return;
    }
    let Some(path) = path.filter(|_| !matches!(operation, "shed_create_file" | "shed_tree")) else {
        if operation == "shed_tree" {
            file(client, zone, "notes/todo.md", CONTENT);
        }
        return;
    };
    // Of a file there is no tree, but it is found.
    let tree = client.call("shed_tree", &json!({"zone": zone, "path": path}));
    if tree.code() == "FILE_NOT_FOUND" {
        bring(client, zone, path, CONTENT);
    }
    let edit = operation.starts_with("shed_lockedit_") && operation != "shed_lockedit_open";
    if edit || operation == "shed_force_unlock" {
        let arguments = json!({"zone": zone, "path": path});
        client.call("shed_lockedit_open", &arguments).data();
    }
}

/// A directory to pack.
#[track_caller]
fn prepare_source(client: &Client<'_>, arguments: &Value) {
    let zone = arguments["zone"].as_str().unwrap();
    let src = arguments["src"].as_str().unwrap();
    file(client, zone, &format!("{src}/todo.md"), CONTENT);
}

/// An archive to read, of `notes/todo.md`.
#[track_caller]
fn prepare_archive(client: &Client<'_>, arguments: &Value) {
    let zone = arguments["src_zone"]
        .as_str()
        .or(arguments["zone"].as_str());
    let zone = zone.unwrap();
    let src = arguments["src"].as_str().or(arguments["path"].as_str());
    let there = json!({"zone": zone, "path": src.unwrap()});
    if client.call("shed_tree", &there).code() == "FILE_NOT_FOUND" {
        file(client, zone, "made/notes/todo.md", CONTENT);
        let pack = json!({"zone": zone, "src": "made/notes", "dest": src});
        client.call("shed_zip", &pack).data();
    }
}

/// Puts the id of a link that was just made in the place of an example's, which nobody has.
pub(crate) fn with_link(client: &Client<'_>, operation: &str, mut arguments: Value) -> Value {
    if operation == "shed_link_delete" {
        let link = json!({"zone": "storage", "path": "linked.md"});
        file(client, "storage", "linked.md", CONTENT);
        let made = client.call("shed_link_create", &link).data().clone();
        arguments["file_id"] = made["file_id"].clone();
    }
    arguments
}

/// Makes the table and the CSV file that examples work on.
#[track_caller]
fn database(client: &Client<'_>, zone: &str, arguments: &Value) {
    if let Some(csv) = arguments["import_csv"].as_str() {
        file(client, zone, csv, "item,amount\npen,1.5\ndesk,120\n");
        return;
    }
    let made = "CREATE TABLE IF NOT EXISTS sales (item TEXT, amount REAL)";
    let call = json!({"zone": zone, "path": arguments["path"], "query": made});
    client.call("shed_sqlite", &call);
}

/// Makes the complete calls of a hint: they work. Examples get the file that they name; a hint to
/// look somewhere must lead to something that is there already.
#[track_caller]
pub(crate) fn follow_hint(client: &Client<'_>, answer: &Answer) {
    let hint = answer.body["error"]["hint"].as_str().unwrap_or_default();
    let Some(call) = calls(hint).into_iter().find(is_complete) else {
        return;
    };
    let arguments = &call.arguments;
    if arguments["path"] == "file.txt" {
        return;
    }
    if call.operation == "shed_patch_text" || call.operation == "shed_patch_bytes" {
        prepare(client, &call.operation, arguments);
    }
    if call.operation == "shed_exec" {
        let words = arguments["args"].as_array().cloned().unwrap_or_default();
        for word in words.iter().filter_map(Value::as_str) {
            if [".md", ".txt"].iter().any(|end| word.ends_with(end)) {
                file(client, arguments["zone"].as_str().unwrap(), word, CONTENT);
            }
        }
    }
    let followed = client.call(&call.operation, arguments);
    assert_eq!(followed.status, 200, "{hint}\n{}", followed.text);
}

#[test]
fn calls_are_found_in_texts() {
    let text = "Paths. shed_exec(zone=\"storage\", cmd=\"a\", args=[\"x)\", \"=\\\"\"]), then \
                shed_delete(path=…), shed_tree, shed_stats().";
    let arguments = json!({"zone": "storage", "cmd": "a", "args": ["x)", "=\""]});
    let expected = [
        Call {
            operation: "shed_exec".to_owned(),
            arguments,
        },
        Call {
            operation: "shed_stats".to_owned(),
            arguments: json!({}),
        },
    ];
    assert_eq!(calls(text), expected);
}
