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

use super::endpoint::Endpoint;
use super::{BASE, description, offered};
use crate::http::packed_file::PackedFile;
use crate::http::tool::CallableTool;
use crate::http::{Server, pool};
use crate::openapi;

/// Title of the document.
pub const TITLE: &str = "fileshed terminal";

/// `GET /openapi.json`. The description of commands has the facts of this server: installed programs,
/// limits and network.
pub(super) async fn openapi(State(server): State<Arc<Server>>, headers: HeaderMap) -> Response {
    let made = || async {
        let core = Arc::clone(&server.core);
        let made = pool::blocking(move || described(|tool| description(tool, &core)));
        PackedFile::document(&made.await.unwrap_or_else(|_| document()))
    };
    let document = server.terminal_document.get_or_init(made).await;
    document.answer_fresh(&headers)
}

/// The document as it is committed and printed.
pub fn pretty() -> Result<String, serde_json::Error> {
    openapi::text(&document())
}

/// The document, as it is without a server.
#[must_use]
pub fn document() -> Value {
    described(|tool| tool.doc.to_owned())
}

/// The document: every address that models are offered, with these descriptions.
fn described(description: impl Fn(&CallableTool) -> String) -> Value {
    let operations = offered().map(|endpoint| {
        let operation = operation(endpoint, &description(&endpoint.tool));
        (endpoint.path.to_owned(), &endpoint.method, operation)
    });
    let about = "Files and commands of one user, as terminal connections call them.";
    openapi::of_surface(TITLE, about, BASE, operations)
}

/// Returns an endpoint as a tool: its parameters are those in the path and, without a body, all others.
fn operation(endpoint: &Endpoint, description: &str) -> Value {
    let mut schema = (endpoint.tool.request_schema)();
    let has_body = ![Method::GET, Method::DELETE].contains(&endpoint.method);
    let properties = match schema["properties"].take() {
        Value::Object(properties) => properties,
        _ => Map::new(),
    };
    let is_required = |name: &str| {
        let required = schema["required"].as_array();
        required.is_some_and(|names| names.iter().any(|other| other == name))
    };
    let is_in_path = |name: &str| endpoint.path.contains(&format!("{{{name}}}"));
    let in_body = |name: &str| has_body && !is_in_path(name);
    let (body, outside): (Map<_, _>, Map<_, _>) =
        properties.into_iter().partition(|(name, _)| in_body(name));
    let parameters = outside.into_iter().map(|(name, mut property)| {
        let in_path = is_in_path(&name);
        let mut parameter = json!({
            "name": name,
            "in": if in_path { "path" } else { "query" },
            "required": in_path || is_required(&name),
        });
        let object = property.as_object_mut();
        if let Some(description) = object.and_then(|object| object.shift_remove("description")) {
            parameter["description"] = description;
        }
        parameter["schema"] = property;
        parameter
    });
    let parameters: Vec<Value> = parameters.collect();
    let mut operation = json!({
        "operationId": endpoint.tool.id,
        "description": description,
        "parameters": parameters,
        "responses": {"200": {"description": "Done"}},
    });
    if has_body {
        schema["properties"] = body.into();
        operation["requestBody"] = json!({"content": {"application/json": {"schema": schema}}});
    }
    operation
}
