//! Descriptor of a tool: one for operations, endpoints of the terminal and compact tools.
//!
//! A descriptor says what every surface needs of a tool: its name, its words, its parameters, and what
//! a call may do. Surfaces differ in how a call is made, so that part is a type parameter.

use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Code, Error, Toolset};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::call::OperationCall;
use super::effect::Effect;
use super::short_answer::Keep;
use super::{COMMON_ERRORS, GROUP_ERRORS, Operation, arguments, schema};

/// A tool without its types: one line of a list.
#[derive(Clone, Copy)]
pub struct Tool<C> {
    /// Name on every surface.
    pub id: &'static str,
    /// One line for people who browse; empty if no surface shows it.
    pub summary: &'static str,
    /// The text that a model reads on every turn; empty if models are not offered the tool.
    pub doc: &'static str,
    /// `true` if the small toolset has it.
    pub core: bool,
    /// Effects of a call, for clients that ask a person before one.
    pub effect: Effect,
    /// `true` if it always changes something, so that a credential that only reads need not call it.
    pub changes: bool,
    /// Most bytes of a call.
    pub body_max: u64,
    /// The codes of its own failures.
    pub errors: &'static [Code],
    /// Requests that work, as JSON.
    pub examples: &'static [&'static str],
    /// The fields of its data that a short answer keeps.
    pub short_answer: &'static [Keep],
    /// JSON schema of the request: no `$ref`, no null, plain types.
    pub request_schema: fn() -> Value,
    /// JSON schema of `data`; null if no surface shows it.
    pub response_schema: fn() -> Value,
    /// The schema of the request, made once.
    pub(crate) parameters: fn() -> &'static Value,
    /// The calls, in the form of its surface.
    pub call: C,
}

/// An operation without its types.
pub type Entry = Tool<OperationCall>;

impl<C> Tool<C> {
    /// A tool that reads, and that models are not offered.
    pub(crate) fn new<T: ToSchema + 'static>(id: &'static str, call: C) -> Self {
        Self {
            id,
            summary: "",
            doc: "",
            core: false,
            effect: Effect::READS,
            changes: false,
            body_max: MEBIBYTE,
            errors: &[],
            examples: &[],
            short_answer: &[],
            request_schema: schema::of::<T>,
            response_schema: || Value::Null,
            parameters: schema::parameters_of::<T>,
            call,
        }
    }

    /// The same tool with calls in another form.
    pub(crate) fn with_call<D>(&self, call: D) -> Tool<D> {
        Tool {
            id: self.id,
            summary: self.summary,
            doc: self.doc,
            core: self.core,
            effect: self.effect,
            changes: self.changes,
            body_max: self.body_max,
            errors: self.errors,
            examples: self.examples,
            short_answer: self.short_answer,
            request_schema: self.request_schema,
            response_schema: self.response_schema,
            parameters: self.parameters,
            call,
        }
    }

    /// Returns `true` if it has a parameter of that name.
    pub(crate) fn has_parameter(&self, name: &str) -> bool {
        (self.parameters)()["properties"].get(name).is_some()
    }

    /// Returns `true` if clients with this toolset are offered it.
    #[must_use]
    pub fn is_in(&self, toolset: Toolset) -> bool {
        toolset == Toolset::All || self.core
    }

    /// Address for clients with this toolset: it tells which operations they know.
    #[must_use]
    pub fn path(&self, toolset: Toolset) -> String {
        match toolset {
            Toolset::All => format!("/{}", self.id),
            Toolset::Core => format!("/core/{}", self.id),
        }
    }

    /// Returns `true` if it has the parameter `group`.
    #[must_use]
    pub fn takes_group(&self) -> bool {
        self.has_parameter("group")
    }
}

impl Entry {
    pub(super) const fn of<O: Operation>() -> Self {
        Self {
            id: O::ID,
            summary: O::SUMMARY,
            doc: O::DOC,
            core: O::CORE,
            effect: O::EFFECT,
            changes: O::CHANGES,
            body_max: O::BODY_MAX,
            errors: O::ERRORS,
            examples: O::EXAMPLES,
            short_answer: O::SHORT_ANSWER,
            request_schema: schema::of_request::<O>,
            response_schema: schema::of_answer::<O::Response>,
            parameters: schema::parameters::<O>,
            call: OperationCall::of::<O>(),
        }
    }

    /// Every code that it may answer.
    pub fn codes(&self) -> impl Iterator<Item = Code> {
        let groups = if self.takes_group() {
            GROUP_ERRORS
        } else {
            &[]
        };
        [self.errors, groups, COMMON_ERRORS]
            .into_iter()
            .flatten()
            .copied()
    }
}

/// Reads a request of a tool that is no operation, coerced to the schema of its type.
pub(crate) fn request<T: DeserializeOwned + ToSchema + 'static>(
    arguments: Map<String, Value>,
) -> Result<T, Error> {
    arguments::request(schema::parameters_of::<T>(), arguments)
}
