//! The toolsets and their tools, made from the descriptors of the surfaces that have them.

use std::sync::{Arc, LazyLock};

use axum::http::HeaderMap;
use axum::http::request::Parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fileshed_core::storage::DiskError;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::{CallerView, Code, Core, Error, Toolset, WorkspaceMode, ZonePath};
use rmcp::model::{self, CallToolResult, ContentBlock, JsonObject, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::work::Work;
use super::{failure, is_short};
use crate::http::body::BodyError;
use crate::http::call::expect_scope;
use crate::http::fs::{self, CompactTool};
use crate::http::terminal::endpoint::{Content, EndpointEntry, Step};
use crate::http::{envelope, terminal};
use crate::ops::{Answer, Entry, OPERATIONS, Tool};

/// Bytes of a file that is a tool's answer: as many as a model is shown.
const FILE_MAX: u64 = 20 * 1024 * 1024;

/// A parameter that has no meaning if the answer comes as a whole.
const ONLY_OF_STREAMS: &str = "stream";

/// A tool that can be called.
#[derive(Clone, Copy)]
pub(super) enum Callable {
    /// An operation.
    Operation(&'static Entry),
    /// A compact tool.
    Compact(&'static CompactTool),
    /// An endpoint of the terminal.
    Terminal(&'static EndpointEntry),
}

/// Every operation as a tool, with the schema of its answer. Made once.
static OPERATION_TOOLS: LazyLock<Vec<model::Tool>> = LazyLock::new(|| {
    let tools = OPERATIONS.iter().map(|entry| {
        let answer = object(answer_schema(&(entry.response_schema)()));
        let tool = described(entry, entry.doc).with_title(entry.summary);
        tool.with_raw_output_schema(answer)
    });
    tools.collect()
});

/// The tools of a list, as clients read them. A short answer has not the form of the schema. Blocks.
pub(super) fn list(core: &Core, toolset: McpToolset, short: bool) -> Vec<model::Tool> {
    match toolset {
        McpToolset::Shed | McpToolset::Core => {
            let offered = OPERATIONS.iter().zip(OPERATION_TOOLS.iter());
            let offered = offered.filter(|(entry, _)| entry.is_in(toolset.operations()));
            let tools = offered.map(|(_, tool)| tool.clone());
            let tools = tools.map(|mut tool| {
                tool.output_schema = tool.output_schema.filter(|_| !short);
                tool
            });
            tools.collect()
        }
        McpToolset::Files => {
            let tools = fs::TOOLS.iter();
            tools.map(|tool| described(tool, tool.doc)).collect()
        }
        McpToolset::Terminal => {
            let tools = terminal::tools();
            tools
                .map(|tool| described(tool, terminal::description(tool, core)))
                .collect()
        }
    }
}

/// A tool as clients read it.
fn described<C>(tool: &Tool<C>, doc: impl Into<String>) -> model::Tool {
    let mut schema = object((tool.request_schema)());
    if let Some(Value::Object(properties)) = Arc::make_mut(&mut schema).get_mut("properties") {
        properties.shift_remove(ONLY_OF_STREAMS);
    }
    model::Tool::new(tool.id, doc.into(), schema).with_annotations(annotations(tool))
}

/// Facts that a client may tell a person before a call.
fn annotations<C>(tool: &Tool<C>) -> ToolAnnotations {
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

/// Everything that can be called in a list.
pub(super) fn offered(toolset: McpToolset) -> Vec<Callable> {
    match toolset {
        McpToolset::Shed | McpToolset::Core => {
            let offered = OPERATIONS.iter();
            let offered = offered.filter(|entry| entry.is_in(toolset.operations()));
            offered.map(Callable::Operation).collect()
        }
        McpToolset::Files => fs::TOOLS.iter().map(Callable::Compact).collect(),
        McpToolset::Terminal => terminal::tools().map(Callable::Terminal).collect(),
    }
}

/// The tool of that name, if it is in the list.
pub(super) fn find(toolset: McpToolset, name: &str) -> Option<Callable> {
    let mut offered = offered(toolset).into_iter();
    offered.find(|tool| tool.name() == name)
}

/// The use that a message makes of the processes and shells of its user: that of the tool that it calls.
pub(super) fn processes_of(toolset: McpToolset, message: &[u8]) -> Option<ProcessUse> {
    #[derive(Deserialize)]
    struct Call {
        method: String,
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        name: String,
    }
    if toolset != McpToolset::Terminal {
        return None;
    }
    let call: Call = serde_json::from_slice(message).ok()?;
    if call.method != "tools/call" {
        return None;
    }
    match find(toolset, &call.params.name)? {
        Callable::Terminal(tool) => tool.call.processes,
        Callable::Operation(_) | Callable::Compact(_) => None,
    }
}

impl Callable {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Operation(entry) => entry.id,
            Self::Compact(tool) => tool.id,
            Self::Terminal(tool) => tool.id,
        }
    }

    /// Calls it.
    pub(super) async fn call(
        self,
        work: &Work<'_>,
        arguments: Map<String, Value>,
    ) -> Result<CallToolResult, Error> {
        match self {
            Self::Operation(entry) => call_operation(work, entry, arguments).await,
            Self::Compact(tool) => call_compact(work, tool, arguments).await,
            Self::Terminal(tool) => call_terminal(work, tool, arguments).await,
        }
    }

    /// A call of it that failed, as models read it.
    pub(super) fn failed(self, error: &Error, work: &Work<'_>) -> CallToolResult {
        let id = &work.arrival.id;
        match self {
            Self::Operation(_) => failure::of_call(error, &work.arrival),
            Self::Compact(_) => CallToolResult::structured_error(fs::failure::body(error, id)),
            Self::Terminal(_) => {
                CallToolResult::structured_error(terminal::failure::text(error, id))
            }
        }
    }
}

/// Fails if a message has more bytes than a call of the tool may have.
fn expect_size<C>(tool: &Tool<C>, bytes: u64) -> Result<(), BodyError> {
    let limit = tool.body_max;
    if bytes > limit {
        return Err(BodyError::TooLarge { limit });
    }
    Ok(())
}

async fn call_operation(
    work: &Work<'_>,
    entry: &'static Entry,
    arguments: Map<String, Value>,
) -> Result<CallToolResult, Error> {
    expect_scope(&work.arrival.caller, entry.changes)?;
    let bytes = work.arrival.bytes;
    if let Some(at_once) = entry.call.at_once.filter(|_| bytes <= entry.body_max) {
        let caller = work.admitted().await?;
        if let Some(answer) = at_once(&work.server.core, &caller, arguments.clone()) {
            return result(answer, is_short(&caller));
        }
    }
    let called = work.blocking(move |view, permit| {
        let (core, caller) = (view.core, view.caller);
        expect_size(entry, bytes)?;
        let answer = (entry.call.answer_max)(core.store.settings(), &arguments);
        // Once as text, once as data.
        let most = bytes.saturating_add(answer.saturating_mul(2));
        permit.reserve_blocking(most, &caller.cancellation)?;
        let answer = (entry.call.run)(core, caller, arguments)?;
        result(answer, is_short(caller))
    });
    called.await
}

async fn call_compact(
    work: &Work<'_>,
    tool: &'static CompactTool,
    arguments: Map<String, Value>,
) -> Result<CallToolResult, Error> {
    let parts = work.context.extensions.get::<Parts>();
    let headers = parts.map_or_else(HeaderMap::new, |parts| parts.headers.clone());
    let path = arguments.get("path").and_then(Value::as_str);
    let path = path.unwrap_or_default().to_owned();
    let given = (arguments, work.arrival.bytes);
    let called = work.blocking(move |view, permit| {
        let answer = fs::call::run_message(view, tool, &headers, given, permit)?;
        match answer.picture {
            Some(picture) => Ok(CallToolResult::success(vec![image(
                &picture.bytes,
                &picture.mime_type,
            )])),
            None => result(answer, false),
        }
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

async fn call_terminal(
    work: &Work<'_>,
    tool: &'static EndpointEntry,
    mut arguments: Map<String, Value>,
) -> Result<CallToolResult, Error> {
    let bytes = work.arrival.bytes;
    arguments.retain(|name, _| name != ONLY_OF_STREAMS && tool.has_parameter(name));
    if tool.may_be_at_once() {
        let caller = work.admitted().await?;
        let view = CallerView::of(&work.server.core, &caller);
        if bytes <= tool.body_max
            && let Some(content) = tool.answer_at_once(view, &arguments)
        {
            return of_content(content);
        }
    }
    let begun = work.blocking(move |view, _| {
        expect_scope(view.caller, tool.changes)?;
        expect_size(tool, bytes)?;
        tool.begin(view, arguments)?.answered(of_content)
    });
    let (awaited, rest) = match begun.await? {
        Step::Answered(result) => return Ok(result),
        Step::Waits(awaited, rest) => (awaited, rest),
        Step::Streams(process) => {
            let started = format!("started {}", process.id());
            return Ok(CallToolResult::success(vec![ContentBlock::text(started)]));
        }
    };
    let starts = tool.call.processes == Some(ProcessUse::Starts);
    let user = work.server.core.store.namespace(&work.arrival.caller);
    let waits = match work.server.admission.wait_permit(&user) {
        Ok(waits) => Some(waits),
        // A call that has begun is answered at once if its caller may not wait.
        Err(_) if starts => None,
        Err(full) => return Err(full.into()),
    };
    // A call that waits holds nobody up.
    drop(work.arrival.permit.take());
    let happened = async {
        tokio::select! {
            () = awaited.happened(work.server.core.store.clock()), if waits.is_some() => {}
            () = work.given_up(), if !starts => {}
            else => {}
        }
    };
    work.waiting(happened, || {
        if starts {
            awaited.process.stop(true);
        }
    })
    .await;
    drop(waits);
    work.blocking(move |view, _| of_content(rest(view)?)).await
}

/// An answer as text, and as data unless it is a short one or no object.
fn result(answer: Answer, short: bool) -> Result<CallToolResult, Error> {
    let data = envelope::value(&*answer.data)?;
    if short || !data.is_object() {
        let text = ContentBlock::text(data.to_string());
        return Ok(CallToolResult::success(vec![text]));
    }
    let mut result = CallToolResult::structured(data);
    let picture = answer.picture;
    let picture = picture.map(|picture| image(&picture.bytes, &picture.mime_type));
    result.content.extend(picture);
    Ok(result)
}

/// An answer of the terminal as that of a tool.
fn of_content(content: Content) -> Result<CallToolResult, Error> {
    let file = match content {
        Content::Data(data) => {
            let picture = None;
            return result(Answer { data, picture }, false);
        }
        Content::File(file) => file,
    };
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

/// The lists of tools that there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum McpToolset {
    /// Every operation.
    #[default]
    Shed,
    /// The operations that a small model needs.
    Core,
    /// The compact tools for files.
    Files,
    /// The tools of the terminal: files by absolute paths, and a shell.
    Terminal,
}

impl McpToolset {
    /// Every one.
    pub const ALL: [Self; 4] = [Self::Shed, Self::Core, Self::Files, Self::Terminal];

    /// The names on the command line.
    pub const NAMES: [&str; 4] = ["shed", "core", "fs", "terminal"];

    /// Reads a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let at = Self::NAMES.iter().position(|other| *other == name)?;
        Self::ALL.get(at).copied()
    }

    /// The address that has it.
    pub(super) fn path(self) -> &'static str {
        match self {
            Self::Shed => "/mcp",
            Self::Core => "/mcp/core",
            Self::Files => "/mcp/fs",
            Self::Terminal => "/mcp/terminal",
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
