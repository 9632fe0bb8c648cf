//! A call of a compact tool, from its request to its answer.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::Request;
use axum::http::request::Parts;
use axum::response::Response;
use fileshed_core::files::{Files, Limits, Subtree};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::zone::ZoneError;
use fileshed_core::{Caller, Channel, Code, Error, Scope as Rights, Store, WorkspaceMode};
use serde_json::{Map, Value};

use super::failure;
use super::scope::Scope;
use super::tool::{ToolEntry, ToolReply, Workspace};
use crate::http::admission::CallPermit;
use crate::http::middleware::Subject;
use crate::http::route::RouteError;
use crate::http::{Server, body, response_body, route};

/// Bytes of an answer besides its text.
const SURROUNDINGS: u64 = 256 * 1024;

/// Who calls, and the answer to them.
pub(super) async fn answer(
    server: &Arc<Server>,
    entry: &'static ToolEntry,
    request: Request,
) -> Response {
    let (parts, mut body) = request.into_parts();
    let identified = route::identify(server, &parts, Channel::Fs).await;
    let caller = match identified {
        Ok(caller) => caller,
        Err(error) => {
            if failure::is_nobody(error.code()) {
                server.metrics.refused();
            }
            server.metrics.called(entry.id, true);
            return failure::answer(server.fs, error, "");
        }
    };
    let subject = Subject::of(&server.store, &caller);
    let mode = WorkspaceMode::of(&caller);
    let mut path = String::new();
    let done = call(server, entry, caller, &parts, &mut body, &mut path).await;
    server.metrics.called(entry.id, done.is_err());
    let mut response = match done {
        Ok(response) => response,
        Err(error) => {
            if matches!(error.code(), Code::PathEscape | Code::ProtectedPath) {
                server.metrics.violated(mode);
            }
            failure::answer(server.fs, error, &path)
        }
    };
    response.extensions_mut().insert(subject);
    response
}

/// Waits for the permit of a call, then reads its body, then runs it. `path` becomes the one that it
/// names.
async fn call(
    server: &Arc<Server>,
    entry: &'static ToolEntry,
    mut caller: Caller,
    parts: &Parts,
    body: &mut Body,
    path: &mut String,
) -> Result<Response, Error> {
    let scope = Scope::of(server.store.settings(), &parts.headers)?;
    if entry.changes && caller.scope == Rights::Read {
        return Err(ZoneError::ReadOnlyScope.into());
    }
    let user = server.store.namespace(&caller);
    let mut admitted = server.admission.admit(&user).await?;
    caller.place = admitted.place();
    caller.names_zones = true;
    let length = body::content_length(&parts.headers);
    let body = body::collect(body, length, server.body_limit, &mut admitted).await?;
    let arguments = body::parse(&body, |_| true)?;
    if let Some(Value::String(named)) = arguments.get("path") {
        path.clone_from(named);
    }
    let brought = body.len() as u64;
    drop(body);
    // Dropped with this future when the client goes away: a search ends, work on files completes.
    let _cancel = caller.cancellation.on_drop();
    let store = Arc::clone(&server.store);
    let work = tokio::task::spawn_blocking(move || {
        let reply = run(
            &store,
            entry,
            &caller,
            &scope,
            (arguments, brought),
            &mut admitted,
        );
        (reply, admitted)
    });
    let (reply, admitted) = work.await.map_err(RouteError::from)?;
    Ok(match reply? {
        ToolReply::Json(text) => response_body::json(text, admitted),
        ToolReply::Image { mime_type, bytes } => {
            response_body::picture(&mime_type, bytes, admitted)
        }
    })
}

/// Runs a call; blocks.
pub(super) fn run(
    store: &Store,
    entry: &ToolEntry,
    caller: &Caller,
    scope: &Scope,
    (arguments, brought): (Map<String, Value>, u64),
    admitted: &mut CallPermit,
) -> Result<ToolReply, Error> {
    store.expect_active(caller)?;
    let settings = store.settings();
    let text_bytes = settings.fs_text_limit_mb.saturating_mul(MEBIBYTE);
    let limits = Limits {
        text_bytes,
        answer_bytes: settings.output_of(caller.client) as usize,
        read_only: scope.read_only,
        cancellation: caller.cancellation.clone(),
        ..Limits::default()
    };
    // A text is held as bytes and as what is made of them; bytes in base64 are longer.
    let answer = match entry.id {
        "read_file" | "edit_file" | "grep_search" => text_bytes.saturating_mul(3),
        _ => 0,
    };
    let most = brought.saturating_add(answer).saturating_add(SURROUNDINGS);
    admitted.reserve_blocking(most, &caller.cancellation)?;
    store.with_files(caller, entry.address, |provider| {
        let below = Subtree::new(provider, scope.workspace.clone());
        let workspace = Workspace {
            store,
            caller,
            files: Files::new(&below, limits),
            root: &scope.workspace,
            provider: &below,
        };
        (entry.call)(&workspace, arguments)
    })
}
