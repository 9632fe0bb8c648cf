//! `GET /fs/openapi.json`: the compact tools. It needs no credential and shows nothing of a user.

use std::sync::LazyLock;

use axum::http::{HeaderMap, Method};
use axum::response::Response;
use serde_json::{Value, json};

use super::{BASE, TOOLS};
use crate::http::packed_file::PackedFile;
use crate::openapi;

/// The document as it is sent; made once, because Open WebUI fetches it on every chat turn.
static DOCUMENT: LazyLock<PackedFile> = LazyLock::new(|| PackedFile::document(&document()));

/// `GET /openapi.json`
pub(super) async fn openapi(headers: HeaderMap) -> Response {
    DOCUMENT.answer_fresh(&headers)
}

/// The document as it is committed and printed.
pub fn pretty() -> Result<String, serde_json::Error> {
    openapi::text(&document())
}

/// The document: every tool.
#[must_use]
pub fn document() -> Value {
    let operations = TOOLS.iter().map(|tool| {
        let schema = (tool.request_schema)();
        let operation = json!({
            "operationId": tool.id,
            "description": tool.doc,
            "requestBody": {"content": {"application/json": {"schema": schema}}},
            "responses": {"200": {"description": "Done, or the failure in `error`"}},
        });
        (format!("/{}", tool.id), &Method::POST, operation)
    });
    let description = "The files of one user, in nine small tools.";
    openapi::of_surface("fileshed files", description, BASE, operations)
}
