//! The compact tools for a surface that has tools instead of addresses.

use axum::http::HeaderMap;
use fileshed_core::Error;
use fileshed_core::view::View;
use serde_json::{Map, Value};

use super::TOOLS;
use super::call::run;
pub(in crate::http) use super::failure::body as failure_body;
use super::scope::Scope;
use super::tool::ToolEntry;
pub(in crate::http) use super::tool::ToolReply;
use crate::http::admission::CallPermit;
use crate::http::call::expect_scope;
use crate::ops::Effect;

/// A tool.
#[derive(Clone, Copy)]
pub(in crate::http) struct CompactTool(&'static ToolEntry);

/// Every one, in the order of the document.
pub(in crate::http) fn all() -> impl Iterator<Item = CompactTool> {
    TOOLS.iter().map(CompactTool)
}

impl CompactTool {
    /// Its name.
    pub(in crate::http) fn name(self) -> &'static str {
        self.0.id
    }

    /// The text that a model reads.
    pub(in crate::http) fn description(self) -> &'static str {
        self.0.doc
    }

    /// Its parameters.
    pub(in crate::http) fn schema(self) -> Value {
        (self.0.request_schema)()
    }

    /// What a call may do.
    pub(in crate::http) fn effect(self) -> Effect {
        self.0.effect
    }

    /// Runs a call that came in a message of so many bytes, in what the headers of its request leave
    /// of the workspace; blocks.
    pub(in crate::http) fn run(
        self,
        view: View<'_>,
        headers: &HeaderMap,
        given: (Map<String, Value>, u64),
        admitted: &mut CallPermit,
    ) -> Result<ToolReply, Error> {
        expect_scope(view.caller, self.0.changes)?;
        let scope = Scope::of(view.store.settings(), headers)?;
        run(view, self.0, &scope, given, admitted)
    }
}
