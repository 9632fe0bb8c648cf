//! `GET /fs/info`: whose workspace a call sees, what it is called, and why it cannot be used.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::response::{IntoResponse as _, Response};
use fileshed_core::{Error, WorkspaceReport};
use serde_json::json;

use super::call::{SURFACE, Scope};
use super::failure;
use crate::http::{Server, call};

/// `GET /fs/info`
pub(super) async fn info(State(server): State<Arc<Server>>, request: Request) -> Response {
    let (parts, _) = request.into_parts();
    let report = report(&server, &parts).await;
    report.unwrap_or_else(|error| failure::answer(server.fs, error, ""))
}

async fn report(server: &Arc<Server>, parts: &Parts) -> Result<Response, Error> {
    let scope = Scope::of(server.store.settings(), &parts.headers)?;
    let caller = match SURFACE.identify(server, parts).await {
        Err(error) if failure::is_nobody(error.code()) => {
            return Ok(told(&WorkspaceReport::refused()));
        }
        caller => caller?,
    };
    let report = call::run(&server.store, caller, (), move |view, ()| {
        view.store.expect_active(view.caller)?;
        Ok(view.store.workspace_report(view.caller, &scope.workspace))
    });
    Ok(told(&report.await?.0?))
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
