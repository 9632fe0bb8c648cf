//! The OpenAPI document, made from the list of operations.
//!
//! Open WebUI fetches it on every chat turn and makes a tool of every operation: its description
//! is what the model reads, the properties of its body are the parameters. So bodies stand inline
//! with plain types, and what only programs need (answers, errors) never enters the tools.

use std::collections::BTreeMap;

use fileshed_core::{Code, Toolset};
use serde_json::{Map, Value, json};

use crate::http::envelope;
use crate::ops::{Entry, OPERATIONS};

/// What the document is called.
pub const TITLE: &str = "fileshed";

/// The document of a toolset.
#[must_use]
pub fn document(toolset: Toolset) -> Value {
    let paths: Map<String, Value> = OPERATIONS
        .iter()
        .filter(|entry| entry.is_in(toolset))
        .map(|entry| (entry.path(toolset), json!({"post": operation(entry)})))
        .collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": TITLE,
            "version": env!("CARGO_PKG_VERSION"),
            "description": "A persistent, versioned file workspace for every user.",
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}, {}],
        "paths": paths,
        "components": {
            "schemas": {"Failure": failure()},
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A personal token, or a service key with the user in a header. \
                                    Not needed where neither is configured.",
                },
            },
        },
    })
}

/// The document as it is committed and printed.
pub fn pretty(toolset: Toolset) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(&document(toolset))?;
    text.push('\n');
    Ok(text)
}

fn operation(entry: &Entry) -> Value {
    let mut content = Map::new();
    content.insert("schema".to_owned(), (entry.request_schema)());
    let example = entry.examples.first().copied().unwrap_or("{}");
    if let Ok(example) = serde_json::from_str::<Value>(example) {
        content.insert("example".to_owned(), example);
    }
    json!({
        "operationId": entry.id,
        "summary": entry.summary,
        "description": entry.doc,
        "requestBody": {"content": {"application/json": content}},
        "responses": responses(entry),
    })
}

fn responses(entry: &Entry) -> Map<String, Value> {
    let success = json!({
        "description": "Done",
        "content": {"application/json": {"schema": {
            "type": "object",
            "required": ["success", "data", "message"],
            "properties": {
                "success": {"type": "boolean", "const": true},
                "data": (entry.response_schema)(),
                "message": {"type": "string"},
            },
        }}},
    });
    let mut failures: BTreeMap<u16, Vec<&str>> = BTreeMap::new();
    for code in entry.codes() {
        for status in envelope::statuses(code) {
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
            "success": {"type": "boolean", "const": false},
            "error": {
                "type": "object",
                "required": ["code", "message", "details", "hint"],
                "properties": {
                    "code": {"type": "string", "enum": codes},
                    "message": {"type": "string"},
                    "details": {"type": "object"},
                    "hint": {"type": "string", "description": "The next call to make."},
                },
            },
        },
    })
}
