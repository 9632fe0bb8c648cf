//! The compact tools, under `/fs`: nine tools for small models over the files of one user.
//!
//! What they do is in the crate `files`; here is how calls arrive and leave. An answer is one flat
//! object, and what a tool refuses is an answer like every other: `{"error", "path"}` with status
//! 200, because many clients show a model nothing of a failed request. `TOOLS` is the one list: the
//! routes and the document are made from it.

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::routing::{get, post};
use fileshed_core::files;

use super::Server;
use crate::config::{Config, FailureEnvelope};
use tool::ToolEntry;

pub(super) mod call;
pub mod document;
pub(super) mod failure;
mod info;
pub(super) mod tool;
mod tools;

/// Where the surface begins.
const BASE: &str = "/fs";

/// Every tool, in the order in which the document shows them.
pub(super) static TOOLS: &[ToolEntry] = &[
    ToolEntry::of::<files::ReadFile>(),
    ToolEntry::of::<files::WriteFile>(),
    ToolEntry::of::<files::EditFile>(),
    ToolEntry::of::<files::GlobSearch>(),
    ToolEntry::of::<files::GrepSearch>(),
    ToolEntry::of::<files::ListFiles>(),
    ToolEntry::of::<files::RemoveFile>(),
    ToolEntry::of::<files::StatFile>(),
    ToolEntry::of::<files::OutputFile>(),
];

/// What is decided of the surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct CompactTools {
    envelope: FailureEnvelope,
}

impl CompactTools {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            envelope: config.fs_envelope,
        }
    }
}

/// Every address of the surface.
pub(super) fn routes() -> Router<Arc<Server>> {
    let mut router = Router::new();
    for entry in TOOLS {
        let handler = move |State(server): State<Arc<Server>>, request: Request| async move {
            call::answer(server, entry, request).await
        };
        router = router.route(&format!("/{}", entry.id), post(handler));
    }
    let router = router
        .route("/info", get(info::info))
        .route("/openapi.json", get(document::openapi))
        .fallback(failure::unknown)
        .method_not_allowed_fallback(failure::wrong_method);
    Router::new().nest(BASE, router)
}

/// The tool of that name.
fn find(name: &str) -> Option<&'static ToolEntry> {
    TOOLS.iter().find(|entry| entry.id == name)
}
