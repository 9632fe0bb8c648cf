//! `GET /terminal/openapi.json`: the tools of the surface. It needs no credential and shows nothing
//! of a user.
//!
//! Open WebUI fetches it on every chat turn and makes a tool of every operation, so it holds only
//! what models are offered. Names that Open WebUI treats specially are open-terminal's.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, Method};
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::endpoint::{Endpoint as _, EndpointEntry};
use super::execute::describe::describe_execute;
use super::execute::run::RunCommand;
use super::{BASE, tools};
use crate::http::packed_file::PackedFile;
use crate::http::{Server, pool};
use crate::openapi;

/// What the document is called.
pub const TITLE: &str = "fileshed terminal";

/// `GET /openapi.json`. What it says of commands is true of this server: what is installed, the
/// limits, the network.
pub(super) async fn openapi(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let made = || async {
        let core = Arc::clone(&server.core);
        let described = pool::blocking(move || describe_execute(&core));
        let mut document = document();
        if let Ok(text) = described.await {
            document["paths"][RunCommand::PATH]["post"]["description"] = text.into();
        }
        PackedFile::document(&document)
    };
    let document = server.terminal_document.get_or_init(made).await;
    document.answer_fresh(&headers)
}

/// The document as it is committed and printed.
pub fn pretty() -> Result<String, serde_json::Error> {
    openapi::text(&document())
}

/// The document: every address that models are offered.
#[must_use]
pub fn document() -> Value {
    let mut paths = Map::new();
    for entry in tools() {
        let method = entry.call.method.as_str().to_lowercase();
        paths.entry(entry.call.path).or_insert_with(|| json!({}))[method] = operation(entry);
    }
    openapi::of_surface(
        TITLE,
        "Files and commands of one user, as terminal connections call them.",
        BASE,
        &paths,
    )
}

/// An address as a tool: what stands in its path and, without a body, all others are parameters.
fn operation(entry: &EndpointEntry) -> Value {
    let mut schema = (entry.request_schema)();
    let has_body = ![Method::GET, Method::DELETE].contains(&entry.call.method);
    let mut properties = match schema["properties"].take() {
        Value::Object(properties) => properties,
        _ => Map::new(),
    };
    let is_required = |name: &str| {
        let required = schema["required"].as_array();
        required.is_some_and(|names| names.iter().any(|other| other == name))
    };
    let mut parameters = Vec::new();
    let names: Vec<String> = properties.keys().cloned().collect();
    for name in names {
        let in_path = entry.call.path.contains(&format!("{{{name}}}"));
        if has_body && !in_path {
            continue;
        }
        let mut property = properties.remove(&name).unwrap_or_default();
        let object = property.as_object_mut();
        let description = object.and_then(|object| object.shift_remove("description"));
        let mut parameter = json!({
            "name": name,
            "in": if in_path { "path" } else { "query" },
            "required": in_path || is_required(&name),
        });
        if let Some(description) = description {
            parameter["description"] = description;
        }
        parameter["schema"] = property;
        parameters.push(parameter);
    }
    let mut operation = json!({
        "operationId": entry.id,
        "description": entry.doc,
        "parameters": parameters,
        "responses": {"200": {"description": "Done"}},
    });
    if has_body {
        schema["properties"] = properties.into();
        operation["requestBody"] = json!({"content": {"application/json": {"schema": schema}}});
    }
    operation
}
