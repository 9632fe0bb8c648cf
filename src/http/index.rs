//! `GET /`: the page for people, the addresses of the server for programs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::files::is_page_wanted;
use super::{Server, page};

/// The page for browsers, JSON for others. It shows nothing of any user and needs no credential.
pub(super) async fn page(State(server): State<Arc<Server>>, request: Request) -> Response {
    if is_page_wanted(request.headers()) {
        return page::document(&request, &server.public_url);
    }
    Json(json!({
        "name": "fileshed", "version": env!("CARGO_PKG_VERSION"),
        "docs": "/docs/", "openapi": "/openapi.json", "health": "/health", "ready": "/ready",
    }))
    .into_response()
}
