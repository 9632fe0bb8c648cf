//! What is not an operation: health, readiness and the documents. None of it needs a credential
//! or shows anything of a user.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::{Query, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use fileshed_core::{CheckState, Code, Diagnostic, Hint, Toolset};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::Server;
use super::envelope;
use super::route::RouteError;
use crate::openapi;

/// The documents as they are sent: made once, Open WebUI fetches them on every chat turn.
pub(super) struct Documents {
    all: Document,
    core: Document,
}

struct Document {
    bytes: Bytes,
    tag: HeaderValue,
}

impl Documents {
    pub(super) fn new() -> Self {
        Self {
            all: Document::new(Toolset::All),
            core: Document::new(Toolset::Core),
        }
    }
}

impl Document {
    fn new(toolset: Toolset) -> Self {
        let bytes = Bytes::from(openapi::document(toolset).to_string());
        let digest = hex::encode(Sha256::digest(&bytes));
        let tag = HeaderValue::try_from(format!("\"{}\"", &digest[..32]));
        Self {
            bytes,
            tag: tag.unwrap_or_else(|_| HeaderValue::from_static("\"\"")),
        }
    }

    fn is_known(&self, headers: &HeaderMap) -> bool {
        let known = self.tag.to_str().unwrap_or_default();
        headers
            .get_all(IF_NONE_MATCH)
            .iter()
            .filter_map(|value| value.to_str().ok())
            .flat_map(|value| value.split(','))
            .map(|tag| tag.trim().trim_start_matches("W/"))
            .any(|tag| tag == "*" || tag == known)
    }
}

#[derive(Deserialize)]
pub(super) struct Which {
    toolset: Option<String>,
}

/// `GET /openapi.json`
pub(super) async fn openapi(
    State(server): State<Arc<Server>>,
    headers: HeaderMap,
    Query(which): Query<Which>,
) -> Response {
    let name = which.toolset.unwrap_or_else(|| "all".to_owned());
    let document = match Toolset::parse(&name) {
        Some(Toolset::All) => &server.documents.all,
        Some(Toolset::Core) => &server.documents.core,
        None => return envelope::failure(NoToolset(name)),
    };
    let fixed = [
        (ETAG, document.tag.clone()),
        (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
        (CONTENT_TYPE, HeaderValue::from_static("application/json")),
    ];
    if document.is_known(&headers) {
        (StatusCode::NOT_MODIFIED, fixed).into_response()
    } else {
        (fixed, document.bytes.clone()).into_response()
    }
}

/// `GET /health`: the process answers, and says how commands are held.
pub(super) async fn health(State(server): State<Arc<Server>>) -> Response {
    let store = Arc::clone(&server.store);
    // Tried once by starting a helper, which blocks.
    let tried = move || {
        let (sandbox, namespaces) = (store.sandbox().as_str(), store.has_namespaces());
        (store.isolation().as_str(), sandbox, namespaces)
    };
    let held = tokio::task::spawn_blocking(tried).await;
    let (isolation, sandbox, namespaces) = held.unwrap_or(("unknown", "unknown", false));
    Json(json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "isolation": isolation,
        "sandbox": sandbox,
        "namespaces": namespaces,
    }))
    .into_response()
}

/// `GET /ready`: what the server needs is there. Names and states only: the texts of
/// `fileshed doctor` are for administrators.
pub(super) async fn ready(State(server): State<Arc<Server>>) -> Response {
    let store = Arc::clone(&server.store);
    let _turn = server.checks.acquire().await;
    let checks = match tokio::task::spawn_blocking(move || store.check()).await {
        Ok(checks) => checks,
        Err(error) => return envelope::failure(RouteError::from(error)),
    };
    let failed = checks.iter().any(|check| check.state == CheckState::Failed);
    let (status, word) = if failed {
        (StatusCode::SERVICE_UNAVAILABLE, "failed")
    } else {
        (StatusCode::OK, "ok")
    };
    let checks: serde_json::Map<String, serde_json::Value> = checks
        .into_iter()
        .map(|check| (check.name.clone(), state_name(check.state).into()))
        .collect();
    (status, Json(json!({"status": word, "checks": checks}))).into_response()
}

/// The name of a state for people and programs.
#[must_use]
pub fn state_name(state: CheckState) -> &'static str {
    match state {
        CheckState::Ok => "ok",
        CheckState::Warning => "warning",
        CheckState::Failed => "failed",
    }
}

/// A toolset that does not exist.
#[derive(Debug, thiserror::Error)]
#[error("there is no toolset `{0}`")]
struct NoToolset(String);

impl Diagnostic for NoToolset {
    fn code(&self) -> Code {
        Code::InvalidParameter
    }

    fn hint(&self) -> Hint {
        format!("toolset is one of {}", Toolset::NAMES.join(", ")).into()
    }
}
