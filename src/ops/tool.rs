//! Descriptor of a tool, and the calls of operations: on raw arguments, with an answer in the form that
//! the caller asked for.
//!
//! A descriptor says what every surface needs of a tool: its name, its words, its parameters, and what
//! a call may do. An operation is called on the core; HTTP has calls of its own for all tools, so that part
//! is a type parameter.

use fileshed_core::hint::{HintSurface, Tools};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Answers, Caller, Code, Core, Error, Settings, Toolset};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::answer::{Answer, SuccessEnvelope};
use super::effect::Effect;
use super::operation::{Operation, Reply};
use super::short_answer::{self, Keep};
use super::{
    ALLOW_ZONE_IN_PATH, COMMON_ERRORS, GROUP_ERRORS, arguments, find, missing_file, read_only_zone,
    schema,
};

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
    /// The codes of its own failures, in sets.
    pub errors: &'static [&'static [Code]],
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

/// Runs an operation on raw arguments.
pub type Handler = fn(&Core, &Caller, Map<String, Value>) -> Result<Answer, Error>;

/// Runs an operation without blocking, if that is possible.
pub type ImmediateHandler = fn(&Core, &Caller, Map<String, Value>) -> Option<Answer>;

/// The calls of an operation.
#[derive(Clone, Copy)]
pub struct OperationCall {
    /// Coerces the arguments, runs the operation, gives its answer.
    pub run: Handler,
    /// The same without blocking; `None` if every call may block.
    pub at_once: Option<ImmediateHandler>,
    /// [`Operation::answer_max`]
    pub answer_max: fn(&Settings, &Map<String, Value>) -> u64,
}

/// An operation without its types.
pub type OperationTool = Tool<OperationCall>;

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

    /// Returns `true` if an argument of that name says something to it: a parameter, or a name that
    /// other programs have for one.
    pub(crate) fn is_known(&self, name: &str) -> bool {
        self.has_parameter(name) || arguments::is_other_name((self.parameters)(), name)
    }

    /// Returns `true` if clients with this toolset are offered it.
    pub fn is_in(&self, toolset: Toolset) -> bool {
        toolset == Toolset::All || self.core
    }

    /// Address for clients with this toolset: it tells which operations they know.
    pub fn path(&self, toolset: Toolset) -> String {
        match toolset {
            Toolset::All => format!("/{}", self.id),
            Toolset::Core => format!("/core/{}", self.id),
        }
    }

    /// Returns `true` if it has the parameter `group`.
    pub fn takes_group(&self) -> bool {
        self.has_parameter("group")
    }
}

impl OperationTool {
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
            response_schema: schema::of::<O::Response>,
            parameters: schema::parameters::<O>,
            call: OperationCall {
                run: run::<O>,
                at_once: match O::AT_ONCE {
                    Some(_) => Some(at_once::<O>),
                    None => None,
                },
                answer_max: O::answer_max,
            },
        }
    }

    /// Every code that it may answer.
    pub fn codes(&self) -> impl Iterator<Item = Code> {
        let groups = if self.takes_group() {
            GROUP_ERRORS
        } else {
            &[]
        };
        let own = self.errors.iter().copied();
        own.chain([groups, COMMON_ERRORS]).flatten().copied()
    }
}

/// Reads a request of a tool that is no operation, coerced to the schema of its type.
pub(crate) fn request<T: DeserializeOwned + ToSchema + 'static>(
    arguments: Map<String, Value>,
) -> Result<T, Error> {
    arguments::request(schema::parameters_of::<T>(), arguments)
}

fn run<O: Operation>(
    core: &Core,
    caller: &Caller,
    arguments: Map<String, Value>,
) -> Result<Answer, Error> {
    core.store.expect_active(caller)?;
    let (arguments, given, ignored) = prepared::<O>(arguments);
    let uploads = read_only_zone::named_paths(&arguments);
    let answered = (|| {
        let caller = &naming_zones(caller, &arguments);
        let request = arguments::read::<O>(arguments)?;
        let (task, result) = (O::task(&request), |reply: &Reply<_>| O::result(&reply.data));
        let reply = core
            .store
            .shown(caller, task, result, || O::run(core, caller, request))?;
        finished::<O>(core, reply.noting(ignored), caller, &given)
    })();
    answered.map_err(|error| {
        let error = read_only_zone::with_alternative::<O>(core, caller, &uploads, error);
        missing_file::with_location::<O>(core, caller, &given, error)
            .of_call(&given)
            .without_commands(&given, |command| core.runs.programs.lacks(command))
    })
}

fn at_once<O: Operation>(
    core: &Core,
    caller: &Caller,
    arguments: Map<String, Value>,
) -> Option<Answer> {
    let run = O::AT_ONCE?;
    let (arguments, given, ignored) = prepared::<O>(arguments);
    let caller = &naming_zones(caller, &arguments);
    let request = arguments::read::<O>(arguments).ok()?;
    let reply = run(core, caller, &request)?.noting(ignored);
    finished::<O>(core, reply, caller, &given).ok()
}

/// Bytes of an argument that a hint repeats.
const REPEATED_MAX_BYTES: usize = 1_000;

/// Prepares the arguments of a call. Returns with them the short ones, from which the calls of a hint are
/// completed, and a note about those that are ignored.
fn prepared<O: Operation>(
    mut arguments: Map<String, Value>,
) -> (Map<String, Value>, Map<String, Value>, Option<String>) {
    O::prepare(&mut arguments);
    let ignored = arguments::ignore_unknown::<O>(&mut arguments);
    let is_short = |value: &Value| {
        let text = value.as_str();
        value.is_boolean() || text.is_some_and(|text| text.len() <= REPEATED_MAX_BYTES)
    };
    let given = arguments.iter().filter(|(_, value)| is_short(value));
    let given = given.map(|(name, value)| (name.clone(), value.clone()));
    let given = given.collect();
    (arguments, given, ignored)
}

/// Returns the caller, with the permission of the arguments to begin paths with the name of a zone.
fn naming_zones(caller: &Caller, arguments: &Map<String, Value>) -> Caller {
    let allows = arguments.get(ALLOW_ZONE_IN_PATH);
    Caller {
        names_zones: allows.is_some_and(arguments::is_true),
        ..caller.clone()
    }
}

/// Returns the fields of a reply, with its first note in the words of a surface: for tools that answer no
/// sentence.
pub(crate) fn with_note<T: Serialize>(
    reply: Reply<T>,
    surface: &dyn HintSurface,
) -> Result<Value, Error> {
    let data = serde_json::to_value(reply.data);
    let mut data = data.map_err(arguments::ArgumentError::Answer)?;
    if let Some(note) = reply.notes.first() {
        data["note"] = note.told(surface).into();
    }
    Ok(data)
}

/// A reply in the form that the caller asked for.
fn finished<O: Operation>(
    core: &Core,
    mut reply: Reply<O::Response>,
    caller: &Caller,
    given: &Map<String, Value>,
) -> Result<Answer, Error> {
    let surface = offered(caller.client.toolset);
    let notes = reply.notes.into_iter().map(|mut note| {
        note.complete(given);
        note.without_commands(given, |command| core.runs.programs.lacks(command));
        note.told(&surface)
    });
    let notes = notes.chain(caller.bin_notes.take());
    let notes = notes.collect::<Vec<String>>().join("; ");
    if caller.client.answers == Answers::Minimal && reply.picture.is_none() {
        let data = serde_json::to_value(&reply.data).map_err(arguments::ArgumentError::Answer)?;
        if let Value::Object(mut data) = data {
            O::shorten(&mut data);
            let short = short_answer::success(O::SHORT_ANSWER, data, given, notes);
            return Ok(Answer::of(short));
        }
    }
    if !notes.is_empty() && reply.picture.is_none() {
        reply.message = format!("{}; {notes}", reply.message);
    }
    Ok(Answer {
        data: Box::new(SuccessEnvelope::new(reply.data, reply.message)),
        picture: reply.picture,
    })
}

/// The operations of a toolset, as hints name them.
pub fn offered(toolset: Toolset) -> impl HintSurface {
    Tools(move |id: &str| find(id).is_some_and(|entry| entry.is_in(toolset)))
}
