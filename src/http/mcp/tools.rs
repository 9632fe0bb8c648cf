//! The toolsets and their tools, made from the descriptors of the surfaces that have them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::storage::DiskError;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::{CallerView, Core, Error, Toolset, ZonePath, names};
use rmcp::model::{self, CallToolResult, ContentBlock, JsonObject, ToolAnnotations};
use serde_json::{Map, Value, json};

use super::Message;
use super::request::RequestInProgress;
use crate::http::body::BodyError;
use crate::http::call::expect_scope;
use crate::http::files::download::FileDownload;
use crate::http::tool::{CallStep, CallableTool, OPERATION_TOOLS, ToolContent};
use crate::http::{envelope, fs, terminal};
use crate::ops::description;

/// Bytes of a file that is a tool's answer: as many as a model is shown.
const FILE_MAX: u64 = 20 * 1024 * 1024;

/// A parameter that has no meaning if the answer comes as a whole.
const ONLY_OF_STREAMS: &str = "stream";

/// Every operation as clients read it, by its name. Made once.
static DESCRIBED: LazyLock<HashMap<&str, model::Tool>> = LazyLock::new(|| {
    let tools = OPERATION_TOOLS.iter();
    tools.map(|tool| (tool.id, described(tool))).collect()
});

/// The tools of a list, as clients read them. A short answer has not the form of the schema. Blocks.
pub(super) fn list(core: &Core, toolset: McpToolset, short: bool) -> Vec<model::Tool> {
    let programs: Vec<_> = core.runs.programs.chosen().collect();
    let tools = offered(toolset).into_iter().map(|tool| {
        if let Some(described) = DESCRIBED.get(tool.id) {
            let mut described = described.clone();
            described.output_schema = described.output_schema.filter(|_| !short);
            described.description = Some(description(tool.id, tool.doc, &programs));
            return described;
        }
        let mut described = described(tool);
        if toolset == McpToolset::Terminal {
            described.description = Some(terminal::description(tool, core).into());
        }
        described
    });
    tools.collect()
}

/// A tool as clients read it.
fn described(tool: &CallableTool) -> model::Tool {
    let mut schema = object((tool.request_schema)());
    if let Some(Value::Object(properties)) = Arc::make_mut(&mut schema).get_mut("properties") {
        properties.shift_remove(ONLY_OF_STREAMS);
    }
    let described = model::Tool::new(tool.id, tool.doc, schema).with_annotations(annotations(tool));
    match (tool.response_schema)() {
        Value::Null => described,
        data => {
            let described = described.with_title(tool.summary);
            described.with_raw_output_schema(object(answer_schema(&data)))
        }
    }
}

/// Facts that a client may tell a person before a call.
fn annotations(tool: &CallableTool) -> ToolAnnotations {
    let annotations = match tool.summary {
        "" => ToolAnnotations::new(),
        title => ToolAnnotations::with_title(title),
    };
    annotations
        .read_only(tool.effect.reads_only)
        .destructive(tool.effect.destroys)
        .idempotent(tool.effect.settles)
        .open_world(tool.effect.reaches_out)
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

fn object(schema: Value) -> Arc<JsonObject> {
    Arc::new(match schema {
        Value::Object(object) => object,
        _ => Map::new(),
    })
}

/// Every tool of a list.
pub(super) fn offered(toolset: McpToolset) -> Vec<&'static CallableTool> {
    match toolset {
        McpToolset::Shed | McpToolset::Core => {
            let tools = OPERATION_TOOLS.iter();
            tools
                .filter(|tool| tool.is_in(toolset.operations()))
                .collect()
        }
        McpToolset::Files => fs::TOOLS.iter().collect(),
        McpToolset::Terminal => terminal::tools().collect(),
    }
}

/// The tool of that name, if it is in the list.
pub(super) fn find(toolset: McpToolset, name: &str) -> Option<&'static CallableTool> {
    let mut offered = offered(toolset).into_iter();
    offered.find(|tool| tool.id == name)
}

/// The use that a message makes of the processes and shells of its user: that of the tool that it calls.
pub(super) fn processes_of(toolset: McpToolset, message: &Message) -> Option<ProcessUse> {
    find(toolset, message.called_tool()?)?.call.processes
}

/// Calls a tool.
pub(super) async fn call(
    tool: &'static CallableTool,
    work: &RequestInProgress<'_>,
    mut arguments: Map<String, Value>,
    short: bool,
) -> Result<CallToolResult, Error> {
    let (bytes, limit) = (work.call_context.bytes, tool.body_max);
    expect_scope(&work.call_context.caller, tool.changes)?;
    if bytes > limit {
        return Err(BodyError::TooLarge { limit }.into());
    }
    if tool.has_parameter(ONLY_OF_STREAMS) {
        arguments.remove(ONLY_OF_STREAMS);
    }
    if let Some(at_once) = &tool.call.at_once {
        let caller = work.admitted().await?;
        let view = CallerView::of(&work.server.core, &caller);
        if let Some(content) = at_once(view, arguments.clone()) {
            return result(content, short);
        }
    }
    let headers = work.parts().map(|parts| parts.headers.clone());
    let headers = headers.unwrap_or_default();
    let begun = work.blocking(move |view, permit| {
        let answer = (tool.call.answer_max)(&view.core.store.settings, &arguments);
        // Once as text, once as data.
        let most = bytes.saturating_add(answer.saturating_mul(2));
        permit.reserve_blocking(most, &view.caller.cancellation)?;
        let begun = (tool.call.begin)(view, &headers, arguments)?;
        begun.answered(|content| result(content.noting(view)?, short))
    });
    let (awaited, rest) = match begun.await? {
        CallStep::Answered(result) => return Ok(result),
        CallStep::Waits(awaited, rest) => (awaited, rest),
        CallStep::Streams(process) => {
            let started = format!("started {}", process.id());
            return Ok(CallToolResult::success(vec![ContentBlock::text(started)]));
        }
    };
    let starts = tool.call.processes == Some(ProcessUse::Starts);
    // A call that waits gives its permit back, so that other calls can proceed.
    drop(work.call_context.permit.lock().take());
    let waiting = async {
        tokio::select! {
            waited = awaited.wait(work.server, &work.call_context.caller, tool.changes) => waited,
            () = work.given_up(), if !starts => Ok(()),
        }
    };
    let waited = work.waiting(waiting, || {
        if starts {
            awaited.process.stop(true);
        }
    });
    waited.await?;
    work.blocking(move |view, _| result(rest(view)?.noting(view)?, short))
        .await
}

/// An answer as text, and as data unless it is a short one or no object. Blocks.
fn result(content: ToolContent, short: bool) -> Result<CallToolResult, Error> {
    let answer = match content {
        ToolContent::Answer(answer) => answer,
        ToolContent::File(file) => return shown(&file),
    };
    let data = envelope::value(&*answer.data)?;
    let picture = answer.picture;
    let picture = picture.map(|picture| image(&picture.bytes, &picture.mime_type));
    let mut result = match data.is_object() {
        true if !short => CallToolResult::structured(data),
        false if picture.is_some() => CallToolResult::success(Vec::new()),
        _ => CallToolResult::success(vec![ContentBlock::text(data.to_string())]),
    };
    result.content.extend(picture);
    Ok(result)
}

/// A file as it is, as far as a model can see it.
fn shown(file: &FileDownload) -> Result<CallToolResult, Error> {
    let read = file.whole(FILE_MAX);
    let read = read.map_err(|error| DiskError::of("read", &ZonePath::root(), error))?;
    let block = match read {
        Some((kind, bytes)) if kind.starts_with("image/") => image(&bytes, kind),
        Some((kind, bytes)) => {
            let size = bytes.len();
            ContentBlock::text(format!(
                "{size} bytes of {kind}, which is neither text nor a picture"
            ))
        }
        None => ContentBlock::text(format!("more than {FILE_MAX} bytes")),
    };
    Ok(CallToolResult::success(vec![block]))
}

fn image(bytes: &[u8], mime_type: &str) -> ContentBlock {
    ContentBlock::image(STANDARD.encode(bytes), mime_type)
}

names! {
    /// The lists of tools that there are.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum McpToolset {
        /// Every operation.
        #[default]
        Shed = "shed",
        /// The operations that a small model needs.
        Core = "core",
        /// The compact tools for files.
        Files = "fs",
        /// The tools of the terminal: files by absolute paths, and a shell.
        Terminal = "terminal",
    }
}

impl McpToolset {
    /// The address that has it.
    pub(super) fn path(self) -> String {
        match self {
            Self::Shed => "/mcp".to_owned(),
            other => format!("/mcp/{}", other.as_str()),
        }
    }

    /// The operations that hints may name.
    pub(super) fn operations(self) -> Toolset {
        match self {
            Self::Shed | Self::Files | Self::Terminal => Toolset::All,
            Self::Core => Toolset::Core,
        }
    }

    /// Returns `true` if its tools are operations, whose paths begin in a zone.
    pub(super) fn has_operations(self) -> bool {
        matches!(self, Self::Shed | Self::Core)
    }
}
