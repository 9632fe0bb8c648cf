//! `GET /fs/openapi.json`: the compact tools. It needs no credential and shows nothing of a user.

use std::sync::{Arc, LazyLock};

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::{BASE, TOOLS};
use crate::http::Server;
use crate::http::packed_file::PackedFile;
use crate::openapi;

/// As it is sent: made once, Open WebUI fetches it on every chat turn.
static DOCUMENT: LazyLock<PackedFile> = LazyLock::new(|| PackedFile::document(&document()));

/// `GET /openapi.json`
pub(super) async fn openapi(State(_): State<Arc<Server>>, headers: HeaderMap) -> Response {
    DOCUMENT.answer_fresh(&headers)
}

/// The document as it is committed and printed.
pub fn pretty() -> Result<String, serde_json::Error> {
    openapi::text(&document())
}

/// The document: every tool.
#[must_use]
pub fn document() -> Value {
    let mut paths = Map::new();
    for entry in TOOLS.iter() {
        let schema = (entry.request_schema)();
        let operation = json!({
            "operationId": entry.id,
            "description": entry.doc,
            "requestBody": {"content": {"application/json": {"schema": schema}}},
            "responses": {"200": {"description": "Done, or what is wrong in `error`"}},
        });
        paths.insert(format!("/{}", entry.id), json!({"post": operation}));
    }
    openapi::of_surface(
        "fileshed files",
        "The files of one user, in nine small tools.",
        BASE,
        &paths,
    )
}
