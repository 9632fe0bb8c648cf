//! What a client without a credential is told: to bring a token, and that there is no server here
//! that would give it one (RFC 9728).

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::header::WWW_AUTHENTICATE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::json;

use crate::http::{Server, header};

/// Where clients look for it: with the path of what it is about behind it, or without.
pub(super) const PATHS: [&str; 2] = [PATH, "/.well-known/oauth-protected-resource"];

const PATH: &str = "/.well-known/oauth-protected-resource/mcp";

/// The metadata. It names no authorization server, so a client need not look for one.
pub(super) async fn document(State(server): State<Arc<Server>>, request: Request) -> Response {
    let address = address(&server.public_url, request.headers(), request.uri());
    Json(json!({
        "resource": format!("{address}/mcp"),
        "resource_name": "fileshed",
        "authorization_servers": [],
        "bearer_methods_supported": ["header"],
        "resource_documentation": format!("{address}/docs/"),
    }))
    .into_response()
}

/// A refusal that says, where credentials are missing, what to bring.
pub(super) fn challenge(public_url: &str, request: &Parts, mut refusal: Response) -> Response {
    if refusal.status() == StatusCode::UNAUTHORIZED {
        let metadata = format!(
            "{}{PATH}",
            address(public_url, &request.headers, &request.uri)
        );
        let text = format!(
            "Bearer realm=\"fileshed\", error_description=\"send a personal token: an administrator \
             makes one with fileshed token create; there is no OAuth server\", \
             resource_metadata=\"{metadata}\""
        );
        if let Ok(value) = HeaderValue::from_str(&text) {
            refusal.headers_mut().insert(WWW_AUTHENTICATE, value);
        }
    }
    refusal
}

/// Where the client reaches this server.
fn address(public_url: &str, headers: &HeaderMap, target: &Uri) -> String {
    if !public_url.is_empty() {
        return public_url.trim_end_matches('/').to_owned();
    }
    let is_plain = |host: &&str| {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-.:[]_".contains(&byte);
        host.bytes().all(plain)
    };
    format!(
        "http://{}",
        header::host(headers, target)
            .filter(is_plain)
            .unwrap_or("localhost")
    )
}
