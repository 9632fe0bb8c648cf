//! The OpenAPI document, made from the list of operations.
//!
//! Open WebUI fetches it on every chat turn and makes a tool of every operation: its description
//! is what the model reads, the properties of its body are the parameters. So bodies stand inline
//! with plain types, and what only people and programs need (answers, errors, groups, whole files)
//! never enters the tools.

use std::collections::BTreeMap;

use axum::http::Method;
use fileshed_core::{Code, Toolset};
use serde_json::{Map, Value, json};

use crate::ops::{OPERATIONS, OperationTool, description};
use crate::status::statuses;

mod files;
mod groups;

/// Title of the document.
pub const TITLE: &str = "fileshed";

/// Returns the document of a toolset.
#[must_use]
pub fn document(toolset: Toolset) -> Value {
    document_with(toolset, &[])
}

/// Returns the document of a toolset, on a server whose administrator added these programs.
pub(crate) fn document_with(toolset: Toolset, programs: &[&str]) -> Value {
    let offered = || OPERATIONS.iter().filter(|entry| entry.is_in(toolset));
    let mut paths: Map<String, Value> = offered()
        .map(|entry| {
            (
                entry.path(toolset),
                json!({"post": operation(entry, programs)}),
            )
        })
        .collect();
    let is_whole = toolset == Toolset::All;
    if is_whole {
        paths.extend(files::paths());
    }
    let groups = groups::list(|group| {
        let mut offered = offered().filter_map(|entry| groups::of(entry.id));
        is_whole || offered.any(|other| other == group)
    });
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": TITLE,
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A persistent, versioned file workspace for every user.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": groups,
        "security": [{"token": []}, {"key": [], "user": []}, {"session": []}, {}],
        "paths": paths,
        "components": {
            "schemas": {"Failure": failure()},
            "securitySchemes": security_schemes(),
        },
    })
}

/// The credentials that a caller may send. One is enough; none is needed if none is configured.
fn security_schemes() -> Value {
    let bearer =
        |description: &str| json!({"type": "http", "scheme": "bearer", "description": description});
    json!({
        "token": bearer(
            "A personal token: an administrator makes one with `fileshed token create --user <id>`.",
        ),
        "key": bearer("A service key, one of `api_keys`. It needs a user beside it."),
        "user": {
            "type": "apiKey",
            "in": "header",
            "name": "X-User-Id",
            "description": "The user for whom a service key calls.",
        },
        "session": bearer("The session of a user of Open WebUI: its cookie `token`."),
    })
}

/// The document as it is committed and printed.
pub fn pretty(toolset: Toolset) -> Result<String, serde_json::Error> {
    text(&document(toolset))
}

/// A document in lines, as it is committed and printed.
pub fn text(document: &Value) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}

/// The document of a surface of its own at `base`, called with a key or a token: operations by their paths
/// and methods.
#[must_use]
pub fn of_surface<'a>(
    title: &str,
    description: &str,
    base: &str,
    operations: impl Iterator<Item = (String, &'a Method, Value)>,
) -> Value {
    let mut paths = Map::new();
    for (path, method, operation) in operations {
        let method = method.as_str().to_lowercase();
        paths.entry(path).or_insert_with(|| json!({}))[method] = operation;
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": env!("CARGO_PKG_VERSION"),
            "description": description,
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {"securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}}},
    })
}

fn operation(entry: &OperationTool, programs: &[&str]) -> Value {
    let mut content = Map::new();
    content.insert("schema".to_owned(), (entry.request_schema)());
    let example = entry.examples.first().copied().unwrap_or("{}");
    if let Ok(example) = serde_json::from_str::<Value>(example) {
        content.insert("example".to_owned(), example);
    }
    json!({
        "operationId": entry.id,
        "tags": groups::of(entry.id).as_slice(),
        "summary": entry.summary,
        "description": description(entry.id, entry.doc, programs),
        "requestBody": {"content": {"application/json": content}},
        "responses": responses(entry),
    })
}

fn responses(entry: &OperationTool) -> Map<String, Value> {
    let success = json!({
        "description": "Done",
        "content": {"application/json": {"schema": {
            "type": "object",
            "required": ["success", "data", "message"],
            "properties": {
                "success": {"type": "boolean", "const": true, "description": "True: the call succeeded."},
                "data": (entry.response_schema)(),
                "message": {"type": "string", "description": "The effect of the call, in a sentence."},
            },
        }}},
    });
    let mut failures: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in entry.codes() {
        for status in statuses(code) {
            let codes = failures.entry(status.as_u16()).or_default();
            if !codes.contains(&code.as_str()) {
                codes.push(code.as_str());
            }
        }
    }
    let failures = failures.into_iter().map(|(status, codes)| {
        let failure = json!({
            "description": codes.join(", "),
            "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Failure"}}},
        });
        (status.to_string(), failure)
    });
    std::iter::once(("200".to_owned(), success))
        .chain(failures)
        .collect()
}

fn failure() -> Value {
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    json!({
        "type": "object",
        "required": ["success", "error"],
        "properties": {
            "success": {"type": "boolean", "const": false, "description": "False: the call failed."},
            "error": {
                "type": "object",
                "description": "The failure and the next step.",
                "required": ["code", "message", "details", "hint"],
                "properties": {
                    "code": {"type": "string", "enum": codes, "description": "The kind of failure; it never changes."},
                    "message": {"type": "string", "description": "The failure, with the values that matter."},
                    "details": {"type": "object", "description": "These values by name, depending on the code."},
                    "hint": {"type": "string", "description": "The next call to make."},
                },
            },
        },
    })
}
