//! `GET /health` and `GET /ready`: the state of the server. They need no credential and show nothing of a
//! user.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use fileshed_core::{CheckState, Store};
use serde_json::{Value, json};

use super::{Server, envelope, pool};

/// `GET /health`: the process answers, and says how commands are held.
pub(super) async fn health(State(server): State<Arc<Server>>) -> Response {
    let store = Arc::clone(&server.store);
    // Tried once by starting a helper, which blocks.
    let held = pool::blocking(move || {
        let mut held = confinement(&store);
        let separates = store.separates_accounts();
        held["kernel_account"] = if separates { "user" } else { "server" }.into();
        held
    });
    let held = held.await.unwrap_or_else(|_| {
        json!({
            "isolation": "unknown",
            "sandbox": "unknown",
            "namespaces": false,
            "memory_limit": "unknown",
            "kernel_account": "unknown",
        })
    });
    let mut answer = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")});
    for (name, value) in held.as_object().into_iter().flatten() {
        answer[name] = value.clone();
    }
    Json(answer).into_response()
}

/// How commands are confined. Blocks.
pub(super) fn confinement(store: &Store) -> Value {
    let memory = store.bounds_trees();
    json!({
        "isolation": store.isolation().as_str(),
        "sandbox": store.sandbox().as_str(),
        "namespaces": store.has_namespaces(),
        "memory_limit": if memory { "command" } else { "process" },
    })
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
    let checks = match pool::blocking(move || store.check()).await {
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
