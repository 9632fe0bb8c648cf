//! A call of a compact tool, and the part of the workspace that its headers leave.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::files::{Files, Limits, Metadata, OutputFile, Provider, Sent, ToolError, path};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::view::View;
use fileshed_core::{
    Caller, Channel, Code, Error, Settings, Store, WorkspaceMode, WorkspaceReport, ZonePath,
};
use serde_json::{Map, Value, json};

use super::CompactTool;
use super::failure;
use crate::http::admission::CallPermit;
use crate::http::call::{self, Call, Surface, expect_scope};
use crate::http::identity::Accepts;
use crate::http::{Server, body, envelope, response_body};
use crate::ops::{Answer, link_create};

/// Bytes of an answer besides its text.
const SURROUNDINGS: u64 = 256 * 1024;

/// Identification of callers of compact tools.
pub(super) const SURFACE: Surface = Surface {
    accepts: Accepts::Programs,
    channel: Channel::Fs,
    form: None,
};

/// Answers a call of a tool.
pub(super) async fn answer(
    server: Arc<Server>,
    entry: &'static CompactTool,
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
    entry: &'static CompactTool,
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
        let answer = run(view, entry, &scope, given, permit)?;
        Ok((answer.picture, envelope::text(&*answer.data)?))
    });
    let (reply, permit) = reply.await?;
    let (picture, text) = reply?;
    Ok(match picture {
        Some(picture) => response_body::picture(&picture.mime_type, picture.bytes, permit),
        None => response_body::json(text, permit),
    })
}

/// Runs a call that came in a message of so many bytes, in what the headers of its request leave of the
/// workspace; blocks.
pub(in crate::http) fn run_message(
    view: View<'_>,
    entry: &CompactTool,
    headers: &HeaderMap,
    given: (Map<String, Value>, u64),
    permit: &mut CallPermit,
) -> Result<Answer, Error> {
    expect_scope(view.caller, entry.changes)?;
    let scope = Scope::of(view.store.settings(), headers)?;
    run(view, entry, &scope, given, permit)
}

/// Runs a call; blocks.
fn run(
    View { store, caller }: View<'_>,
    entry: &CompactTool,
    scope: &Scope,
    (arguments, brought): (Map<String, Value>, u64),
    admitted: &mut CallPermit,
) -> Result<Answer, Error> {
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
    store.with_files(caller, entry.call.address, |provider| {
        let workspace = Workspace {
            store,
            caller,
            files: Files::below(provider, scope.workspace.clone(), limits),
            provider,
        };
        (entry.call.run)(&workspace, arguments)
    })
}

/// The files that a call of a tool works with.
pub(super) struct Workspace<'w> {
    store: &'w Store,
    caller: &'w Caller,
    pub(super) files: Files<'w>,
    /// The provider that stores them, for files that leave the workspace.
    provider: &'w dyn Provider,
}

impl Workspace<'_> {
    /// Hands a file to the user, as a link.
    pub(super) fn output_file(&self, request: &OutputFile) -> Sent {
        self.files.output_file(request, |file| {
            let path = self.in_storage(file)?;
            let link = link_create::hand_over(self.store, self.caller, &path)?;
            let description = request.description.as_deref().unwrap_or_default();
            let about = match description {
                "" => String::new(),
                description => format!(" — {description}"),
            };
            let mut message = format!("[File sent to user: \"{}\"{about}]", request.path);
            if link.attached != Some(true) {
                let link = &link.clickable_link;
                message = format!("{message} Show this link as it is: {link}");
            }
            Ok((Some(link.download_url), Some(message)))
        })
    }

    /// The path that a file has in the caller's storage zone, where it is brought first if it is
    /// somewhere else.
    fn in_storage(&self, file: &Metadata) -> Result<ZonePath, Error> {
        if !self.store.files().is_zone() {
            let read = self.provider.read(&file.path, 0..u64::MAX);
            let content =
                read.map_err(|error| ToolError::of_provider(file.path.as_str(), error))?;
            self.store.hand_in(self.caller, &file.path, &content)?;
        }
        Ok(file.path.clone())
    }
}

/// A directory below the one that is configured.
const X_FILESHED_WORKSPACE: HeaderName = HeaderName::from_static("x-fileshed-workspace");
/// `true` in a header of a request that must change nothing.
const X_FILESHED_READ_ONLY: HeaderName = HeaderName::from_static("x-fileshed-read-only");

/// The part of the workspace that a request sees, and its rights.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    /// The directory that is its root.
    pub(super) workspace: ZonePath,
    /// `true` if it changes nothing.
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

/// `GET /fs/info`: the workspace that a call sees, its name, and why it cannot be used.
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
