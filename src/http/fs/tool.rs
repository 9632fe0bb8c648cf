//! The descriptor of a compact tool, also for the surface that has tools instead of endpoints.

use fileshed_core::files::{Files, Metadata, ToolError};
use fileshed_core::{Caller, Error, Store, ZonePath};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::http::envelope;
use crate::ops::{self, Effect, schema};

/// What a call of a tool works with.
pub(super) struct Workspace<'w> {
    pub(super) store: &'w Store,
    pub(super) caller: &'w Caller,
    pub(super) files: Files<'w>,
    /// The directory that is its root.
    pub(super) root: &'w ZonePath,
    /// The provider below that root, for what leaves the workspace.
    pub(super) provider: &'w dyn fileshed_core::files::Provider,
}

/// What a tool answers.
pub(in crate::http) enum ToolReply {
    /// One flat object, as JSON text.
    Json(Vec<u8>),
    /// A picture as it is.
    Image { mime_type: String, bytes: Vec<u8> },
}

impl ToolReply {
    pub(super) fn of(answer: &impl serde::Serialize) -> Result<Self, Error> {
        envelope::json_text(answer).map(Self::Json)
    }
}

/// What a tool provides: implemented for what it takes.
pub(super) trait Tool: DeserializeOwned + ToSchema + Send + 'static {
    /// The name that models call it by.
    const ID: &'static str;
    /// What the log calls it, and where it is.
    const ADDRESS: &'static str;
    /// The text a model reads on every turn.
    const DOC: &'static str;
    /// Whether it changes something.
    const CHANGES: bool = false;
    /// What a call may do, for clients that ask a person before one.
    const EFFECT: Effect = Effect::READS;

    /// Does the work. Blocks.
    fn run(&self, workspace: &Workspace<'_>) -> Result<ToolReply, Error>;
}

/// Runs a call with these arguments.
type ToolHandler = fn(&Workspace<'_>, Map<String, Value>) -> Result<ToolReply, Error>;

/// One line of the list: a tool without its types.
#[derive(Clone, Copy)]
pub(in crate::http) struct ToolEntry {
    pub(in crate::http) id: &'static str,
    pub(super) address: &'static str,
    pub(in crate::http) doc: &'static str,
    pub(super) changes: bool,
    pub(in crate::http) effect: Effect,
    pub(in crate::http) request_schema: fn() -> Value,
    pub(super) call: ToolHandler,
}

impl ToolEntry {
    pub(super) const fn of<T: Tool>() -> Self {
        Self {
            id: T::ID,
            address: T::ADDRESS,
            doc: T::DOC,
            changes: T::CHANGES,
            effect: T::EFFECT,
            request_schema: schema::of::<T>,
            call: call::<T>,
        }
    }
}

fn call<T: Tool>(
    workspace: &Workspace<'_>,
    mut arguments: Map<String, Value>,
) -> Result<ToolReply, Error> {
    for (name, other) in [("cwd", "path"), ("mimeType", "mime_type")] {
        if let Some(value) = arguments.remove(name) {
            arguments.entry(other).or_insert(value);
        }
    }
    let request: T = ops::arguments::request(&schema::of::<T>(), arguments)?;
    request.run(workspace)
}

impl Workspace<'_> {
    /// The path that a file of the workspace has in the caller's storage zone, where it is brought
    /// first if it is somewhere else.
    pub(super) fn in_storage(&self, file: &Metadata) -> Result<ZonePath, Error> {
        let whole = if self.root.is_root() {
            file.path.clone()
        } else {
            self.root.join(file.path.as_str())
        };
        if self.store.files().is_zone() {
            return Ok(whole);
        }
        let read = self.provider.read(&file.path, 0..u64::MAX);
        let content = read.map_err(|error| ToolError::of_provider(file.path.as_str(), error))?;
        self.store.hand_in(self.caller, &whole, &content)?;
        Ok(whole)
    }
}
