//! A call of a compact tool, and the part of the workspace that its headers leave.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName};
use axum::response::Response;
use fileshed_core::files::{Files, Limits, Subtree, ToolError, path};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::view::View;
use fileshed_core::{Channel, Code, Error, Settings, WorkspaceMode, ZonePath};
use serde_json::{Map, Value};

use super::failure;
use crate::http::admission::CallPermit;
use crate::http::call::{Call, Surface, expect_scope};
use crate::http::fs::tool::{ToolEntry, ToolReply, Workspace};
use crate::http::identity::Accepts;
use crate::http::{Server, body, response_body};

/// Bytes of an answer besides its text.
const SURROUNDINGS: u64 = 256 * 1024;

/// How compact tools are called.
pub(super) const SURFACE: Surface = Surface {
    accepts: Accepts::Programs,
    channel: Channel::Fs,
    form: None,
};

/// Answers a call of a tool.
pub(super) async fn answer(
    server: Arc<Server>,
    entry: &'static ToolEntry,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let caller = match SURFACE.identify(&server, &parts).await {
        Ok(caller) => caller,
        Err(error) => {
            if failure::is_nobody(error.code()) {
                server.metrics.refused();
            }
            server.metrics.called(entry.id, true);
            return failure::answer(server.fs, error, "");
        }
    };
    let call = Call {
        server: Arc::clone(&server),
        caller,
        parts,
        body,
    };
    let answered = SURFACE.answer_to(call, |call| async move {
        let mode = WorkspaceMode::of(&call.caller);
        let mut path = String::new();
        let done = called(entry, call, &mut path).await;
        server.metrics.called(entry.id, done.is_err());
        Ok(done.unwrap_or_else(|error| {
            if matches!(error.code(), Code::PathEscape | Code::ProtectedPath) {
                server.metrics.violated(mode);
            }
            failure::answer(server.fs, error, &path)
        }))
    });
    answered.await
}

/// Waits for the permit of a call, then reads its body, then runs it. `path` becomes the one that it
/// names.
async fn called(
    entry: &'static ToolEntry,
    mut call: Call,
    path: &mut String,
) -> Result<Response, Error> {
    let scope = Scope::of(call.server.store.settings(), &call.parts.headers)?;
    call.expect_scope(entry.changes)?;
    let mut permit = call.admit().await?;
    call.caller.names_zones = true;
    let limit = call.server.body_limit;
    let body = call.read_body(limit, &mut permit).await?;
    let arguments = body::parse(&body, |_| true)?;
    if let Some(Value::String(named)) = arguments.get("path") {
        path.clone_from(named);
    }
    let given = (arguments, body.len() as u64);
    drop(body);
    let reply = call.run(permit, move |view, permit| {
        run(view, entry, &scope, given, permit)
    });
    let (reply, permit) = reply.await?;
    Ok(match reply? {
        ToolReply::Json(text) => response_body::json(text, permit),
        ToolReply::Image { mime_type, bytes } => response_body::picture(&mime_type, bytes, permit),
    })
}

/// Runs a call that came in a message of so many bytes, in what the headers of its request leave of the
/// workspace; blocks.
pub(in crate::http) fn run_message(
    view: View<'_>,
    entry: &ToolEntry,
    headers: &HeaderMap,
    given: (Map<String, Value>, u64),
    permit: &mut CallPermit,
) -> Result<ToolReply, Error> {
    expect_scope(view.caller, entry.changes)?;
    let scope = Scope::of(view.store.settings(), headers)?;
    run(view, entry, &scope, given, permit)
}

/// Runs a call; blocks.
fn run(
    View { store, caller }: View<'_>,
    entry: &ToolEntry,
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

/// A directory below the one that is configured.
const X_FILESHED_WORKSPACE: HeaderName = HeaderName::from_static("x-fileshed-workspace");
/// Whether nothing is changed.
const X_FILESHED_READ_ONLY: HeaderName = HeaderName::from_static("x-fileshed-read-only");

/// What a request sees and may do.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// The directory that is its root.
    pub(super) workspace: ZonePath,
    /// Whether it changes nothing.
    pub(super) read_only: bool,
}

impl Scope {
    /// Of a request with these headers: they can only narrow.
    pub(super) fn of(settings: &Settings, headers: &HeaderMap) -> Result<Self, ToolError> {
        let mut workspace = settings.fs_workspace.clone();
        for value in headers.get_all(X_FILESHED_WORKSPACE) {
            let text = String::from_utf8_lossy(value.as_bytes());
            let below = path::parse(text.trim())?;
            workspace = match (workspace.is_root(), below.is_root()) {
                (_, true) => workspace,
                (true, false) => below,
                (false, false) => workspace.join(below.as_str()),
            };
        }
        let mut read_only = headers.get_all(X_FILESHED_READ_ONLY).iter();
        let asked = read_only.any(|value| {
            let text = String::from_utf8_lossy(value.as_bytes());
            let text = text.trim().to_ascii_lowercase();
            !["", "0", "false", "no", "off"].contains(&text.as_str())
        });
        Ok(Self {
            workspace,
            read_only: settings.fs_read_only || asked,
        })
    }
}
