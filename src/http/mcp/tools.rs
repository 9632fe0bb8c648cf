//! The toolsets and their tools, made from the lists of the surfaces that have them.

use std::sync::Arc;

use fileshed_core::terminal::ProcessUse;
use fileshed_core::{Error, Store, Toolset};
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::failure;
use crate::http::fs::TOOLS;
use crate::http::fs::tool::ToolEntry;
use crate::http::mcp::work::Work;
use crate::http::terminal::tools::{self as terminal_tools, EndpointEntry};
use crate::ops::{Effect, Entry};

mod files;
mod operations;
mod terminal;

/// A tool that can be called.
#[derive(Clone, Copy)]
pub(super) enum Callable {
    /// An operation.
    Operation(&'static Entry),
    /// A compact tool.
    Compact(&'static ToolEntry),
    /// An address of the terminal.
    Terminal(&'static EndpointEntry),
}

/// The tools of a list, as clients read them. Blocks.
pub(super) fn list(store: &Store, toolset: McpToolset, short: bool) -> Vec<Tool> {
    match toolset {
        McpToolset::Shed | McpToolset::Core => operations::list(toolset.operations(), short),
        McpToolset::Files => files::list(),
        McpToolset::Terminal => terminal::list(store),
    }
}

/// Everything that can be called in a list.
pub(super) fn offered(toolset: McpToolset) -> Vec<Callable> {
    match toolset {
        McpToolset::Shed | McpToolset::Core => operations::offered(toolset.operations())
            .map(Callable::Operation)
            .collect(),
        McpToolset::Files => TOOLS.iter().map(Callable::Compact).collect(),
        McpToolset::Terminal => terminal_tools::all().map(Callable::Terminal).collect(),
    }
}

/// The tool of that name, if it is in the list.
pub(super) fn find(toolset: McpToolset, name: &str) -> Option<Callable> {
    let mut offered = offered(toolset).into_iter();
    offered.find(|tool| tool.name() == name)
}

/// What a message has to do with the processes and shells of its user: what the tool has that it calls.
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
        Callable::Terminal(tool) => tool.processes,
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
            Self::Operation(entry) => operations::call(work, entry, arguments).await,
            Self::Compact(tool) => files::call(work, tool, arguments).await,
            Self::Terminal(tool) => terminal::call(work, tool, arguments).await,
        }
    }

    /// A call of it that failed, as models read it.
    pub(super) fn failed(self, error: &Error, work: &Work<'_>) -> CallToolResult {
        match self {
            Self::Operation(_) => failure::of_call(error, &work.arrival),
            Self::Compact(_) => files::failed(error, work),
            Self::Terminal(_) => {
                let answer = terminal_tools::failure_text(error, &work.arrival.id);
                CallToolResult::structured_error(answer)
            }
        }
    }
}

/// An answer that is JSON already: its text as it is, and what it says as data.
fn answered(text: Vec<u8>) -> CallToolResult {
    let data = serde_json::from_slice::<JsonObject>(&text);
    with_data(text, data.ok().map(Value::Object))
}

/// An answer as JSON text, and as data where it is an object.
fn with_data(text: Vec<u8>, data: Option<Value>) -> CallToolResult {
    let text = String::from_utf8(text)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = data.filter(Value::is_object);
    result
}

fn object(schema: Value) -> Arc<JsonObject> {
    Arc::new(match schema {
        Value::Object(object) => object,
        _ => Map::new(),
    })
}

/// What a client may tell a person before a call.
fn annotations(title: Option<&str>, effect: Effect) -> ToolAnnotations {
    let annotations = title.map_or_else(ToolAnnotations::new, ToolAnnotations::with_title);
    annotations
        .read_only(effect.reads_only)
        .destructive(effect.destroys)
        .idempotent(effect.settles)
        .open_world(effect.reaches_out)
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
    /// What models are offered of the terminal: files by absolute paths, and a shell.
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

    /// Whether its tools are operations, whose paths begin in a zone.
    pub(super) fn has_operations(self) -> bool {
        matches!(self, Self::Shed | Self::Core)
    }
}
