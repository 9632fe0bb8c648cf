//! Operations as tools.

use std::sync::{Arc, LazyLock};

use fileshed_core::{Caller, Error, Store};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::{McpToolset, is_short};
use crate::http::admission::CallPermit;
use crate::http::body::BodyError;
use crate::http::envelope;
use crate::ops::{Effect, Entry, OPERATIONS};

/// Every operation as a tool, with the schema of its answer. Made once.
static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| OPERATIONS.iter().map(tool).collect());

/// The tools of a list. A short answer has not the form of the schema.
pub(super) fn list(toolset: McpToolset, short: bool) -> Vec<Tool> {
    let offered = OPERATIONS.iter().zip(TOOLS.iter());
    let offered = offered.filter(|(entry, _)| entry.is_in(toolset.operations()));
    let tools = offered.map(|(_, tool)| tool.clone());
    let tools = tools.map(|mut tool| {
        tool.output_schema = tool.output_schema.filter(|_| !short);
        tool
    });
    tools.collect()
}

/// The operation that a tool is, if it is in the list.
pub(super) fn find(toolset: McpToolset, name: &str) -> Option<&'static Entry> {
    let mut offered = offered(toolset);
    offered.find(|entry| entry.id == name)
}

/// The operations in the list.
pub(super) fn offered(toolset: McpToolset) -> impl Iterator<Item = &'static Entry> {
    let entries = OPERATIONS.iter();
    entries.filter(move |entry| entry.is_in(toolset.operations()))
}

fn tool(entry: &Entry) -> Tool {
    let request = object((entry.request_schema)());
    let answer = object(answer_schema(&(entry.response_schema)()));
    Tool::new(entry.id, entry.doc, request)
        .with_title(entry.summary)
        .with_raw_output_schema(answer)
        .with_annotations(annotations(entry.summary, entry.effect))
}

fn object(schema: Value) -> Arc<JsonObject> {
    Arc::new(match schema {
        Value::Object(object) => object,
        _ => Map::new(),
    })
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

/// What a client may tell a person before a call.
fn annotations(title: &str, effect: Effect) -> ToolAnnotations {
    ToolAnnotations::with_title(title)
        .read_only(effect.reads_only)
        .destructive(effect.destroys)
        .idempotent(effect.settles)
        .open_world(effect.reaches_out)
}

/// A call of a tool, as it came in a message of so many bytes.
pub(super) struct ToolCall {
    pub(super) entry: &'static Entry,
    pub(super) arguments: Map<String, Value>,
    pub(super) bytes: u64,
}

/// Runs a call; blocks.
pub(super) fn call(
    store: &Store,
    caller: &Caller,
    call: ToolCall,
    admitted: &mut CallPermit,
) -> Result<CallToolResult, Error> {
    let ToolCall {
        entry,
        mut arguments,
        bytes,
    } = call;
    if bytes > entry.body_max {
        let limit = entry.body_max;
        return Err(BodyError::TooLarge { limit }.into());
    }
    arguments.retain(|name, _| (entry.is_known)(name));
    let answer = (entry.answer_max)(store.settings(), &arguments);
    // Once as text, once as data.
    let most = bytes.saturating_add(answer.saturating_mul(2));
    admitted.reserve_blocking(most, &caller.cancellation)?;
    let answer = envelope::value(&(entry.call)(store, caller, arguments)?)?;
    if is_short(caller) {
        let text = ContentBlock::text(answer.to_string());
        return Ok(CallToolResult::success(vec![text]));
    }
    Ok(CallToolResult::structured(answer))
}
