//! What models are offered of the terminal, for a surface that has tools instead of addresses.

use fileshed_core::view::View;
use fileshed_core::{Error, Store};
use serde_json::{Map, Value};

use super::endpoint::{AnswerForm, Endpoint as _};
pub(in crate::http) use super::endpoint::{Content, EndpointEntry, Rest, Step};
use super::execute::describe::describe_execute;
use super::execute::run::RunCommand;
pub(in crate::http) use super::failure::text as failure_text;
pub(in crate::http) use super::pending::Awaited;
use super::{ENDPOINTS, arguments};
use crate::http::body::BodyError;
use crate::http::call::expect_scope;

/// What has no meaning where an answer comes as a whole.
const ONLY_OF_STREAMS: &str = "stream";

/// Every tool, in the order of the document.
pub(in crate::http) fn all() -> impl Iterator<Item = &'static EndpointEntry> {
    ENDPOINTS.iter().filter(|entry| !entry.doc.is_empty())
}

impl EndpointEntry {
    /// The text that a model reads. What it says of commands is true of this server. Blocks.
    pub(in crate::http) fn description(&self, store: &Store) -> String {
        if self.id == RunCommand::ID {
            describe_execute(store)
        } else {
            self.doc.to_owned()
        }
    }

    /// Its parameters.
    pub(in crate::http) fn tool_schema(&self) -> Value {
        let mut schema = (self.request_schema)();
        // Indexing would make a null of properties that are not there, which clients refuse.
        let properties = schema.get_mut("properties");
        if let Some(properties) = properties.and_then(Value::as_object_mut) {
            properties.shift_remove(ONLY_OF_STREAMS);
        }
        schema
    }

    /// Whether a process that is waited for was started by the call itself.
    pub(in crate::http) fn starts(&self) -> bool {
        self.id == RunCommand::ID
    }

    /// Begins a call, whose message had so many bytes; blocks.
    pub(in crate::http) fn begin(
        &self,
        view: View<'_>,
        mut given: Map<String, Value>,
        bytes: u64,
    ) -> Result<Step, Error> {
        expect_scope(view.caller, self.changes)?;
        if bytes > self.body_max {
            let limit = self.body_max;
            return Err(BodyError::TooLarge { limit }.into());
        }
        self.keep_known(&mut given);
        arguments::settle(&mut given, self.schema());
        (self.call)(view, given, AnswerForm::Structured)
    }

    /// Answers a call, whose message had so many bytes, without blocking; nothing where that cannot
    /// be.
    pub(in crate::http) fn tool_at_once(
        &self,
        view: View<'_>,
        given: &mut Map<String, Value>,
        bytes: u64,
    ) -> Option<Content> {
        if bytes > self.body_max {
            return None;
        }
        self.keep_known(given);
        self.at_once(view, given, AnswerForm::Structured)
    }

    /// Drops what says nothing to it.
    fn keep_known(&self, given: &mut Map<String, Value>) {
        let properties = &self.schema()["properties"];
        given.retain(|name, _| name != ONLY_OF_STREAMS && properties.get(name).is_some());
    }
}
