//! Calls as texts for models write them: `shed_exec(zone="storage", cmd="ls", args=["-la"])`.

use fileshed::ops::find;
use serde_json::{Map, Value, json};

use crate::ops::cross_zone;
use crate::ops::stage::{bring, file};
use fileshed_test_support::{Answer, Client};

/// Content of an example file; examples look for words of it.
const CONTENT: &str = "- buy milk\nold\nTODO: 1\n";

/// One call in a text.
#[derive(Debug, PartialEq)]
pub(crate) struct Call {
    pub(crate) operation: String,
    pub(crate) arguments: Value,
}

/// Returns the complete calls in a text. A call with `…` in it, or without arguments in parentheses, does
/// not count.
pub(crate) fn calls(text: &str) -> Vec<Call> {
    let starts = text.match_indices("shed_");
    starts.filter_map(|(at, _)| call_at(&text[at..])).collect()
}

/// The call with which a text begins.
fn call_at(text: &str) -> Option<Call> {
    let end = text.find(|c: char| !(c.is_ascii_lowercase() || c == '_'))?;
    let (operation, rest) = text.split_at(end);
    Some(Call {
        operation: operation.to_owned(),
        arguments: arguments(rest.strip_prefix('(')?)?,
    })
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
        let value: Value = if rest.starts_with(|first: char| first.is_ascii_alphanumeric()) {
            let end = rest.find([',', ')'])?;
            text = &rest[end..];
            serde_json::from_str(&rest[..end]).ok()?
        } else {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let value = values.next()?.ok()?;
            text = &rest[values.byte_offset()..];
            value
        };
        if !plain {
            return None;
        }
        arguments.insert(name.to_owned(), value);
    }
}

/// Returns `true` if the call has every required parameter.
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
        "shed_history" | "shed_undo" => return file(client, "storage", "notes/todo.md", CONTENT),
        "shed_unzip" | "shed_zipinfo" => return prepare_archive(client, arguments),
        _ => {}
    }
    if let Some((from, _)) = cross_zone::way(operation) {
        bring(client, from, arguments["src"].as_str().unwrap(), CONTENT);
        return;
    }
    if operation == "shed_copy" {
        let address = arguments["from"].as_str().unwrap();
        if let Some(path) = address.strip_prefix("group/team/") {
            let made = json!({"zone": "group", "group": "team", "path": path, "content": CONTENT});
            client.call("shed_create_file", &made).data();
        } else {
            let (zone, path) = address.split_once('/').unwrap();
            bring(client, zone, path, CONTENT);
        }
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
    if let Some(other) = arguments["to_path"].as_str() {
        bring(client, zone, other, CONTENT);
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

/// Returns the calls of a hint in their order: those that it writes out, and the failed call with the
/// changes that it names.
pub(crate) fn steps(hint: &str, operation: &str, arguments: &Value) -> Vec<Call> {
    let mut found: Vec<(usize, Call)> = Vec::new();
    for (at, _) in hint.match_indices("shed_") {
        let end = hint[at..].find("; ").map_or(hint.len(), |end| at + end);
        let whole = calls(&hint[at..]).into_iter().next();
        let begins = hint[at..end].starts_with(whole.as_ref().map_or("", |call| &call.operation));
        if let Some(call) = whole.filter(|call| begins && is_complete(call)) {
            found.push((at, call));
        }
    }
    found.extend(repeats(hint, operation, arguments));
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, call)| call).collect()
}

/// The same in a text about the tools of these names, whichever they are.
pub(crate) fn steps_of(text: &str, tools: &[&str], tool: &str, given: &Value) -> Vec<Call> {
    let starts = tools.iter().flat_map(|name| text.match_indices(*name));
    let whole = starts.filter_map(|(at, name)| Some((call_at(&text[at..])?, name)));
    let mut found: Vec<Call> = whole
        .filter_map(|(call, name)| (call.operation == name).then_some(call))
        .collect();
    found.extend(repeats(text, tool, given).map(|(_, call)| call));
    found
}

/// The calls that a hint tells by what is to be changed of this one.
fn repeats(hint: &str, operation: &str, arguments: &Value) -> impl Iterator<Item = (usize, Call)> {
    hint.match_indices("repeat the call with")
        .map(|(at, text)| {
            let mut call = Call {
                operation: operation.to_owned(),
                arguments: arguments.clone(),
            };
            let rest = &hint[at + text.len() - "with".len()..];
            change(&mut call.arguments, rest);
            (at, call)
        })
}

/// Applies ` with a=1, b="x", without c and d` to arguments.
fn change(arguments: &mut Value, mut text: &str) {
    if let Some(rest) = text.strip_prefix("with ") {
        text = rest;
        while let Some((name, rest)) = text.split_once('=') {
            let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
            let Some(Ok(value)) = values.next() else {
                break;
            };
            arguments[name] = value;
            text = &rest[values.byte_offset()..];
            let next = text.strip_prefix(", ");
            match next.filter(|next| !next.starts_with("without ")) {
                Some(next) if is_name(next) => text = next,
                _ => break,
            }
        }
    }
    let text = text.trim_start_matches(", ");
    if let Some(rest) = text.strip_prefix("without ") {
        let mut names = rest.split(' ').peekable();
        while let Some(name) = names.next() {
            let plain = name.trim_end_matches([';', ',']);
            arguments.as_object_mut().unwrap().remove(plain);
            if plain != name || names.next_if_eq(&"and").is_none() {
                break;
            }
        }
    }
}

/// Returns `true` if a parameter's name, `=` and a value follow.
fn is_name(text: &str) -> bool {
    text.split_once('=').is_some_and(|(name, _)| {
        let mut bytes = name.bytes();
        !name.is_empty() && bytes.all(|byte| byte.is_ascii_lowercase() || byte == b'_')
    })
}

/// Makes the first call that a hint writes out, as it stands: it works, if what it is about is there.
#[track_caller]
pub(crate) fn follow_hint(client: &Client<'_>, answer: &Answer) {
    let hint = answer.body["error"]["hint"].as_str().unwrap_or_default();
    // A call that ends a locked edit would end the situation, too.
    let stays = |call: &Call| is_complete(call) && call.operation != "shed_lockedit_save";
    let Some(call) = calls(hint).into_iter().find(stays) else {
        return;
    };
    let followed = client.call(&call.operation, &call.arguments);
    let is_there = followed.code() != "FILE_NOT_FOUND";
    assert!(
        followed.status == 200 || !is_there,
        "{hint}\n{call:?}: {}",
        followed.text
    );
}

#[test]
fn steps_are_found_in_hints() {
    let arguments = json!({"path": "a", "line": 1, "end_line": 2});
    let steps = |hint: &str| -> Vec<(String, Value)> {
        let found = steps(hint, "shed_x", &arguments).into_iter();
        found.map(|call| (call.operation, call.arguments)).collect()
    };
    let hint = "do it: repeat the call with path=\"b, c\", mode=[1, 2], without line and end_line; \
                then shed_stats() shows it";
    assert_eq!(
        steps(hint),
        [
            ("shed_x".to_owned(), json!({"path": "b, c", "mode": [1, 2]})),
            ("shed_stats".to_owned(), json!({})),
        ]
    );
    assert_eq!(
        steps("repeat the call without line; or not"),
        [("shed_x".to_owned(), json!({"path": "a", "end_line": 2}))]
    );
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
