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
use tool::Entry;

mod call;
pub(super) mod callable;
pub mod document;
mod failure;
mod info;
mod scope;
mod tool;
mod tools;

/// Where the surface begins.
const BASE: &str = "/fs";

/// Every tool, in the order in which the document shows them.
static TOOLS: &[Entry] = &[
    Entry::of::<files::ReadFile>(),
    Entry::of::<files::WriteFile>(),
    Entry::of::<files::EditFile>(),
    Entry::of::<files::GlobSearch>(),
    Entry::of::<files::GrepSearch>(),
    Entry::of::<files::ListFiles>(),
    Entry::of::<files::RemoveFile>(),
    Entry::of::<files::StatFile>(),
    Entry::of::<files::OutputFile>(),
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
            call::answer(&server, entry, request).await
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

/// What the log calls a request, where its address is one of the surface.
pub(super) fn operation(path: &str) -> Option<&'static str> {
    match path.strip_prefix(BASE)?.strip_prefix('/')? {
        "info" => Some("fs/info"),
        "openapi.json" => Some("fs/openapi.json"),
        name => find(name).map(|entry| entry.address),
    }
}

/// The tool of that name.
fn find(name: &str) -> Option<&'static Entry> {
    TOOLS.iter().find(|entry| entry.id == name)
}
