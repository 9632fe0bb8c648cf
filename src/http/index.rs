//! `GET /`: the page for people, the addresses of the server for programs.

use axum::Json;
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::files::is_page_wanted;
use super::page;

/// The page for browsers, JSON for others. It shows nothing of any user and needs no credential.
pub(super) async fn page(headers: HeaderMap) -> Response {
    if is_page_wanted(&headers) {
        return page::document(&headers);
    }
    Json(json!({
        "name": "fileshed", "version": env!("CARGO_PKG_VERSION"),
        "docs": "/docs/", "openapi": "/openapi.json", "health": "/health", "ready": "/ready",
    }))
    .into_response()
}
