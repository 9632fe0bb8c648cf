//! `GET /health` and `GET /ready`: whether the server works. They need no credential and show
//! nothing of a user.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use fileshed_core::CheckState;
use serde_json::json;

use super::{Server, call, envelope};

/// `GET /health`: the process answers, and says how commands are held.
pub(super) async fn health(State(server): State<Arc<Server>>) -> Response {
    let store = Arc::clone(&server.store);
    // Tried once by starting a helper, which blocks.
    let tried = move || {
        let (sandbox, namespaces) = (store.sandbox().as_str(), store.has_namespaces());
        let memory = if store.bounds_trees() {
            "command"
        } else {
            "process"
        };
        let account = if store.separates_accounts() {
            "user"
        } else {
            "server"
        };
        let isolation = store.isolation().as_str();
        (isolation, sandbox, namespaces, memory, account)
    };
    let held = call::blocking(tried).await;
    let (isolation, sandbox, namespaces, memory, account) =
        held.unwrap_or(("unknown", "unknown", false, "unknown", "unknown"));
    Json(json!({
        "status": "ok",
        "version": env!("CARGO_PKG_VERSION"),
        "isolation": isolation,
        "sandbox": sandbox,
        "namespaces": namespaces,
        "memory_limit": memory,
        "kernel_account": account,
    }))
    .into_response()
}

/// `GET /ready`: what the server needs is there. Names and states only: the texts of
/// `fileshed doctor` are for administrators.
pub(super) async fn ready(State(server): State<Arc<Server>>) -> Response {
    let store = Arc::clone(&server.store);
    if store.is_draining() || store.is_taken_for_dead() {
        let word = json!({"status": "draining", "checks": {}});
        return (StatusCode::SERVICE_UNAVAILABLE, Json(word)).into_response();
    }
    let _permit = server.checks.lock().await;
    let checks = match call::blocking(move || store.check()).await {
        Ok(checks) => checks,
        Err(error) => return envelope::failure(error),
    };
    let failed = checks.iter().any(|check| check.state == CheckState::Failed);
    let (status, word) = if failed {
        (StatusCode::SERVICE_UNAVAILABLE, "failed")
    } else {
        (StatusCode::OK, "ok")
    };
    // What an administrator has to put right is said where files are: nobody can work.
    let problems = checks
        .iter()
        .filter(|check| check.name == "data" && check.state == CheckState::Failed)
        .map(|check| (check.name.clone(), check.text.clone().into()));
    let problems: serde_json::Map<String, serde_json::Value> = problems.collect();
    let checks: serde_json::Map<String, serde_json::Value> = checks
        .into_iter()
        .map(|check| (check.name.clone(), state_name(check.state).into()))
        .collect();
    let mut answer = json!({"status": word, "checks": checks});
    if !problems.is_empty() {
        answer["problems"] = problems.into();
    }
    (status, Json(answer)).into_response()
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
