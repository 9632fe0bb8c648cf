//! A call of a compact tool, and the part of the workspace that its headers leave.

use std::sync::Arc;

use axum::Json;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::files::{Files, OutputFile, Provider, Sent, ToolError, ToolLimits, path};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{
    Caller, CallerView, Channel, Code, Core, Error, SearchedDocuments, Settings, WorkspaceMode,
    WorkspaceReport, ZonePath, zone_files,
};
use serde_json::{Map, json};

use super::failure;
use crate::http::call::{self, ServerRequest, Surface};
use crate::http::health::Metrics;
use crate::http::identity::Accepts;
use crate::http::tool::{self, CallableTool};
use crate::http::{Server, envelope};
use crate::ops::link_create;

/// Identification of callers of compact tools.
const SURFACE: Surface = Surface {
    accepts: Accepts::Programs,
    channel: Channel::Fs,
};

/// Answers a call of a tool.
pub(super) async fn answer(tool: &'static CallableTool, request: ServerRequest) -> Response {
    let server = Arc::clone(&request.server);
    let mut mode = WorkspaceMode::Refused;
    let answered = SURFACE.answer(request, |call| {
        mode = WorkspaceMode::of(&call.caller);
        tool::run(tool, call, Map::new())
    });
    let response = answered.await;
    let error = envelope::error_of(&response);
    count(&server.metrics, tool.id, mode, error);
    response
}

/// Counts a call of a tool.
pub(in crate::http) fn count(
    metrics: &Metrics,
    tool: &'static str,
    mode: WorkspaceMode,
    error: Option<&Error>,
) {
    metrics.called(tool, error.is_some());
    match error.map(Error::code) {
        Some(Code::PathEscape | Code::ProtectedPath) => metrics.violated(mode),
        Some(code) if failure::is_nobody(code) => metrics.refused(),
        _ => {}
    }
}

/// The files that a call of a tool works with.
pub(super) struct Workspace<'w> {
    pub(super) core: &'w Core,
    pub(super) caller: &'w Caller,
    pub(super) files: Files<'w>,
    /// The provider that stores them, for files that leave the workspace.
    provider: &'w dyn Provider,
    /// `true` if no header narrows the workspace, and it is the storage zone.
    is_whole: bool,
}

impl Workspace<'_> {
    /// Works with the files of a caller, as far as a request sees them. Blocks.
    pub(super) fn open<T>(
        view: CallerView<'_>,
        operation: &'static str,
        scope: &FsScope,
        work: impl FnOnce(&Workspace<'_>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let (core, caller) = (view.core, view.caller);
        core.store.expect_active(caller)?;
        let settings = &core.store.settings;
        let limits = ToolLimits {
            text_bytes: settings.fs_text_limit_mb.saturating_mul(MEBIBYTE),
            answer_bytes: settings.output_of(caller.client) as usize,
            read_only: scope.read_only,
            cancellation: caller.cancellation.clone(),
            ..ToolLimits::default()
        };
        let documents = SearchedDocuments::new(&core.runs, caller);
        zone_files::with_files(&core.store, &core.files, caller, operation, |provider| {
            work(&Workspace {
                core,
                caller,
                files: Files::below(provider, scope.workspace.clone(), limits).reading(&documents),
                provider,
                is_whole: scope.workspace.is_root() && !scope.read_only && core.files.is_zone(),
            })
        })
    }

    /// Fails where the call sees a part of the storage zone alone, or files that are kept elsewhere: changes
    /// are listed and taken back in all zones.
    pub(super) fn expect_whole(&self) -> Result<(), Error> {
        if self.is_whole {
            return Ok(());
        }
        let path = String::from("history");
        Err(ToolError::Escapes { path }.into())
    }

    /// Hands a file to the user, as a link.
    pub(super) fn output_file(&self, request: &OutputFile) -> Sent {
        self.files.output_file(request, |file| {
            if !self.core.files.is_zone() {
                // It is brought into the storage zone of the caller first.
                let read = self.provider.read(&file.path, 0..u64::MAX);
                let content =
                    read.map_err(|error| ToolError::of_provider(file.path.as_str(), error))?;
                zone_files::hand_in(&self.core.store, self.caller, &file.path, &content)?;
            }
            let link = link_create::hand_over(self.core, self.caller, &file.path)?;
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
}

/// A directory below the one that is configured.
const X_FILESHED_WORKSPACE: HeaderName = HeaderName::from_static("x-fileshed-workspace");
/// `true` in a header of a request that must change nothing.
const X_FILESHED_READ_ONLY: HeaderName = HeaderName::from_static("x-fileshed-read-only");

/// The part of the workspace that a request sees, and its rights.
#[derive(Clone, Debug)]
pub(super) struct FsScope {
    /// The directory that is its root.
    pub(super) workspace: ZonePath,
    /// `true` if it changes nothing.
    pub(super) read_only: bool,
}

impl FsScope {
    /// Returns the scope of a request with these headers, which can only narrow the configured one.
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
pub(super) async fn info(ServerRequest { server, parts, .. }: ServerRequest) -> Response {
    let report = report(&server, &parts).await;
    report.unwrap_or_else(envelope::failure)
}

async fn report(server: &Arc<Server>, parts: &Parts) -> Result<Response, Error> {
    let scope = FsScope::of(&server.core.store.settings, &parts.headers)?;
    let report = match SURFACE.identify(server, parts).await {
        Err(error) if failure::is_nobody(error.code()) => WorkspaceReport::refused(),
        caller => {
            let report = call::run(&server.core, caller?, (), move |view, ()| {
                view.core.store.expect_active(view.caller)?;
                let admin = &view.core.admin;
                Ok(admin.workspace_report(view.caller, &scope.workspace))
            });
            report.await?.0?
        }
    };
    let answer = json!({
        "mode": report.mode.as_str(),
        "auto_login": report.auto_login(),
        "effective_root": report.effective_root,
        "resolution_error": report.resolution_error,
    });
    Ok(Json(answer).into_response())
}
