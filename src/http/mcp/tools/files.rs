//! The compact tools of `/fs`, with their flat answers.

use axum::http::HeaderMap;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::{Code, Error, WorkspaceMode};
use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde_json::{Map, Value};

use super::{annotations, answered, object};
use crate::http::fs::TOOLS;
use crate::http::fs::call::run_message;
use crate::http::fs::failure;
use crate::http::fs::tool::{ToolEntry, ToolReply};
use crate::http::mcp::work::Work;

/// The tools.
pub(super) fn list() -> Vec<Tool> {
    let tools = TOOLS.iter().map(|tool| {
        Tool::new(tool.id, tool.doc, object((tool.request_schema)()))
            .with_annotations(annotations(None, tool.effect))
    });
    tools.collect()
}

/// Calls a tool.
pub(super) async fn call(
    work: &Work<'_>,
    tool: &'static ToolEntry,
    arguments: Map<String, Value>,
) -> Result<CallToolResult, Error> {
    let parts = work.context.extensions.get::<Parts>();
    let headers = parts.map_or_else(HeaderMap::new, |parts| parts.headers.clone());
    let path = arguments.get("path").and_then(Value::as_str);
    let path = path.unwrap_or_default().to_owned();
    let given = (arguments, work.arrival.bytes);
    let called = work.blocking(move |view, permit| {
        let reply = run_message(view, tool, &headers, given, permit)?;
        Ok(result(reply))
    });
    let called = called.await;
    let metrics = &work.server.metrics;
    metrics.called(tool.id, called.is_err());
    called.map_err(|error| {
        if matches!(error.code(), Code::PathEscape | Code::ProtectedPath) {
            metrics.violated(WorkspaceMode::of(&work.arrival.caller));
        }
        error.with_detail("asked", path)
    })
}

/// A call that failed.
pub(super) fn failed(error: &Error, work: &Work<'_>) -> CallToolResult {
    CallToolResult::structured_error(failure::body(error, &work.arrival.id))
}

fn result(reply: ToolReply) -> CallToolResult {
    match reply {
        ToolReply::Image { mime_type, bytes } => {
            let image = ContentBlock::image(STANDARD.encode(bytes), mime_type);
            CallToolResult::success(vec![image])
        }
        ToolReply::Json(text) => answered(text),
    }
}
