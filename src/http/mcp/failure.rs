//! Failures as clients of the protocol read them.

use fileshed_core::nearest::nearest;
use fileshed_core::{Code, Error, diagnostics};
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode};

use super::{CallContext, McpToolset};
use crate::http::{envelope, fs, terminal};

/// A call that failed: the model reads what and why, and what to do, as over HTTP.
pub(super) fn of_call(
    toolset: McpToolset,
    error: &Error,
    call_context: &CallContext,
) -> CallToolResult {
    let id = &call_context.id;
    let answer = match toolset {
        McpToolset::Shed | McpToolset::Core => {
            envelope::failure_envelope(error, id, call_context.caller.client)
        }
        McpToolset::Files => fs::failure::body(error, id),
        McpToolset::Terminal => terminal::failure::text(error, id),
    };
    if call_context.is_short() {
        return CallToolResult::error(vec![ContentBlock::text(answer.to_string())]);
    }
    CallToolResult::structured_error(answer)
}

/// A request that failed and is no call of a tool: the program reads it.
pub(super) fn of_request(error: Error, call_context: &CallContext) -> ErrorData {
    let client = call_context.caller.client;
    let mut answer = envelope::failure_envelope(&error, &call_context.id, client);
    let is_ours = envelope::is_ours(error.code());
    let is_absent = matches!(error.code(), Code::FileNotFound | Code::GroupNotFound);
    call_context.outcome.failed(error);
    let answer = answer["error"].take();
    let message = answer["message"].as_str().unwrap_or_default().to_owned();
    if is_absent {
        return ErrorData::resource_not_found(message, Some(answer));
    }
    if is_ours {
        return ErrorData::internal_error(message, Some(answer));
    }
    ErrorData::invalid_params(message, Some(answer))
}

/// An older client over HTTP wants to hear of changes.
pub(super) fn no_stream() -> ErrorData {
    ErrorData::new(ErrorCode::METHOD_NOT_FOUND, said(McpError::NoStream), None)
}

/// There is no tool of that name here.
pub(super) fn unknown_tool(name: &str, known: impl Iterator<Item = &'static str>) -> ErrorData {
    let name: String = name.chars().take(100).collect();
    let meant = nearest(&name, known);
    ErrorData::invalid_params(said(McpError::UnknownTool { name, meant }), None)
}

fn said(error: McpError) -> String {
    let error = Error::from(error);
    format!("{}; {}", error.message(), error.hint())
}

diagnostics! {
    /// Why a request of the protocol cannot be answered.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum McpError {
        /// There is no such tool.
        #[error("there is no tool `{name}`")]
        UnknownTool {
            name: String = "shed_tre".to_owned(),
            meant: Option<&'static str> => [Some("shed_tree"), None],
        } => {
            code: UnknownOperation,
            hint: match meant {
                Some(meant) => format!("did you mean {meant}?"),
                None => "tools/list lists the tools".to_owned(),
            },
        },
        /// There is no stream that outlives a request.
        #[error("over HTTP there is no stream for notifications of changes")]
        NoStream => {
            code: MethodNotAllowed,
            hint: "use subscriptions/listen of revision 2026-07-28, or fileshed mcp on \
                standard streams",
        },
    }
}
