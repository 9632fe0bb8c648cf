//! `GET /`: the addresses of the server, for people and for programs.

use axum::Json;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::json;

use super::files::{is_page_wanted, show_page};

/// What there is, by an address below this one: a proxy may have put the server below another path.
const LINKS: [(&str, &str); 4] = [
    ("docs/", "All operations, to browse and to try"),
    ("openapi.json", "The same for programs"),
    (
        "health",
        "Whether the server runs, and how commands are held",
    ),
    ("ready", "Whether what it needs is there"),
];

/// A page for browsers, JSON for others. It shows nothing of any user and needs no credential.
pub(super) async fn page(headers: HeaderMap) -> Response {
    let version = env!("CARGO_PKG_VERSION");
    if !is_page_wanted(&headers) {
        let places = LINKS.map(|(place, _)| format!("/{place}"));
        let [docs, openapi, health, ready] = places;
        let body = json!({
            "name": "fileshed", "version": version,
            "docs": docs, "openapi": openapi, "health": health, "ready": ready,
        });
        return Json(body).into_response();
    }
    let items = LINKS.map(|(place, what)| format!("<li><a href=\"{place}\">{what}</a></li>"));
    let content = format!(
        "<p>File workspaces for language models: persistent, versioned, isolated. Version {version}.</p>\n\
         <ul>\n{}\n</ul>",
        items.join("\n")
    );
    show_page(StatusCode::OK, "fileshed", &content, "")
}
