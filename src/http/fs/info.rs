//! `GET /fs/info`: whose workspace a call sees, what it is called, and why it cannot be used.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::{Channel, WorkspaceReport};
use serde_json::json;

use super::failure;
use super::scope::Scope;
use crate::http::route::RouteError;
use crate::http::{Server, route};

/// `GET /fs/info`
pub(super) async fn info(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let scope = match Scope::of(server.store.settings(), &parts.headers) {
        Ok(scope) => scope,
        Err(error) => return failure::answer(server.fs, error.into(), ""),
    };
    let caller = match route::identify(&server, &parts, Channel::Fs).await {
        Ok(caller) => caller,
        Err(error) if failure::is_nobody(error.code()) => {
            return told(&WorkspaceReport::refused());
        }
        Err(error) => return failure::answer(server.fs, error, ""),
    };
    let store = Arc::clone(&server.store);
    let report = move || {
        store.expect_active(&caller)?;
        Ok(store.workspace_report(&caller, &scope.workspace))
    };
    match tokio::task::spawn_blocking(report).await {
        Ok(Ok(report)) => told(&report),
        Ok(Err(error)) => failure::answer(server.fs, error, ""),
        Err(error) => failure::answer(server.fs, RouteError::from(error).into(), ""),
    }
}

fn told(report: &WorkspaceReport) -> Response {
    Json(json!({
        "mode": report.mode.as_str(),
        "auto_login": report.auto_login(),
        "effective_root": report.effective_root,
        "resolution_error": report.resolution_error,
    }))
    .into_response()
}
