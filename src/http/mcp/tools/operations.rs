//! Operations as tools.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::view::View;
use fileshed_core::{Caller, Error, Toolset};
use rmcp::model::{CallToolResult, ContentBlock, Tool};
use serde_json::{Map, Value, json};

use super::{annotations, object};
use crate::http::admission::CallPermit;
use crate::http::body::BodyError;
use crate::http::call::expect_scope;
use crate::http::mcp::is_short;
use crate::http::{envelope, mcp::work::Work};
use crate::ops::{Answer, Entry, OPERATIONS};

/// Every operation as a tool, with the schema of its answer. Made once.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| OPERATIONS.iter().map(tool).collect());

/// The tools of a list. A short answer has not the form of the schema.
pub(super) fn list(toolset: Toolset, short: bool) -> Vec<Tool> {
    let offered = OPERATIONS.iter().zip(TOOLS.iter());
    let offered = offered.filter(|(entry, _)| entry.is_in(toolset));
    let tools = offered.map(|(_, tool)| tool.clone());
    let tools = tools.map(|mut tool| {
        tool.output_schema = tool.output_schema.filter(|_| !short);
        tool
    });
    tools.collect()
}

/// The operations in a list.
pub(super) fn offered(toolset: Toolset) -> impl Iterator<Item = &'static Entry> {
    OPERATIONS.iter().filter(move |entry| entry.is_in(toolset))
}

fn tool(entry: &Entry) -> Tool {
    let request = object((entry.request_schema)());
    let answer = object(answer_schema(&(entry.response_schema)()));
    Tool::new(entry.id, entry.doc, request)
        .with_title(entry.summary)
        .with_raw_output_schema(answer)
        .with_annotations(annotations(Some(entry.summary), entry.effect))
}

/// The schema of an answer: a success or a failure, as over HTTP.
fn answer_schema(data: &Value) -> Value {
    json!({
        "type": "object",
        "required": ["success"],
        "properties": {
            "success": {"type": "boolean"},
            "data": data,
            "message": {"type": "string"},
            "error": {
                "type": "object",
                "required": ["code", "message", "details", "hint"],
                "properties": {
                    "code": {"type": "string"},
                    "message": {"type": "string"},
                    "details": {"type": "object"},
                    "hint": {"type": "string"},
                },
            },
        },
    })
}

/// Calls a tool.
pub(super) async fn call(
    work: &Work<'_>,
    entry: &'static Entry,
    arguments: Map<String, Value>,
) -> Result<CallToolResult, Error> {
    expect_scope(&work.arrival.caller, entry.changes)?;
    let bytes = work.arrival.bytes;
    if let Some(at_once) = entry.at_once.filter(|_| bytes <= entry.body_max) {
        let caller = work.admitted().await?;
        if let Some(answer) = at_once(&work.server.store, &caller, arguments.clone()) {
            return result(&answer, &caller);
        }
    }
    work.blocking(move |view, permit| run(view, (entry, arguments, bytes), permit))
        .await
}

/// Runs a call that came in a message of so many bytes; blocks.
fn run(
    View { store, caller }: View<'_>,
    (entry, arguments, bytes): (&Entry, Map<String, Value>, u64),
    admitted: &mut CallPermit,
) -> Result<CallToolResult, Error> {
    if bytes > entry.body_max {
        let limit = entry.body_max;
        return Err(BodyError::TooLarge { limit }.into());
    }
    let answer = (entry.answer_max)(store.settings(), &arguments);
    // Once as text, once as data.
    let most = bytes.saturating_add(answer.saturating_mul(2));
    admitted.reserve_blocking(most, &caller.cancellation)?;
    result(&(entry.call)(store, caller, arguments)?, caller)
}

fn result(answer: &Answer, caller: &Caller) -> Result<CallToolResult, Error> {
    let picture = match answer {
        Answer::Picture(_, picture) => {
            let content = STANDARD.encode(&picture.bytes);
            Some(ContentBlock::image(content, picture.mime_type))
        }
        _ => None,
    };
    let answer = envelope::value(answer)?;
    if is_short(caller) {
        let text = ContentBlock::text(answer.to_string());
        return Ok(CallToolResult::success(vec![text]));
    }
    let mut result = CallToolResult::structured(answer);
    result.content.extend(picture);
    Ok(result)
}
