//! An operation without its types, and how it is called: on raw arguments, with an answer in the
//! form that the caller asked for.

use fileshed_core::hint::{Surface, Tools};
use fileshed_core::{Answers, Caller, Code, Error, Settings, Store, Toolset};
use serde_json::{Map, Value};

use super::answer::Answer;
use super::effect::Effect;
use super::operation::{Operation, Reply};
use super::short_answer::{self, Keep};
use super::{
    ALLOW_ZONE_IN_PATH, COMMON_ERRORS, GROUP_ERRORS, arguments, find, missing_file, read_only_zone,
    schema,
};

/// Runs an operation on raw arguments.
pub type Handler = fn(&Store, &Caller, Map<String, Value>) -> Result<Answer, Error>;

/// Runs an operation without blocking, where that can be.
pub type ImmediateHandler = fn(&Store, &Caller, Map<String, Value>) -> Option<Answer>;

/// One line of the list: an operation without its types.
#[derive(Clone, Copy)]
pub struct Entry {
    /// [`Operation::ID`]
    pub id: &'static str,
    /// [`Operation::SUMMARY`]
    pub summary: &'static str,
    /// [`Operation::DOC`]
    pub doc: &'static str,
    /// [`Operation::CORE`]
    pub core: bool,
    /// [`Operation::EFFECT`]
    pub effect: Effect,
    /// [`Operation::ERRORS`]
    pub errors: &'static [Code],
    /// [`Operation::EXAMPLES`]
    pub examples: &'static [&'static str],
    /// JSON schema of the request: no `$ref`, no null, plain types.
    pub request_schema: fn() -> Value,
    /// JSON schema of `data`.
    pub response_schema: fn() -> Value,
    /// [`Operation::BODY_MAX`]
    pub body_max: u64,
    /// [`Operation::CHANGES`]
    pub changes: bool,
    /// [`Operation::answer_max`]
    pub answer_max: fn(&Settings, &Map<String, Value>) -> u64,
    /// Whether an argument of that name says something to it: a parameter, or what others call one.
    pub is_known: fn(&str) -> bool,
    /// [`Operation::SHORT_ANSWER`]
    pub short_answer: &'static [Keep],
    /// Coerces the arguments, runs the operation, gives its answer.
    pub call: Handler,
    /// The same without blocking; nothing where every call may block.
    pub at_once: Option<ImmediateHandler>,
}

impl Entry {
    pub(super) const fn of<O: Operation>() -> Self {
        Self {
            id: O::ID,
            summary: O::SUMMARY,
            doc: O::DOC,
            core: O::CORE,
            effect: O::EFFECT,
            errors: O::ERRORS,
            examples: O::EXAMPLES,
            request_schema: schema::of_request::<O>,
            response_schema: schema::of_answer::<O::Response>,
            body_max: O::BODY_MAX,
            changes: O::CHANGES,
            answer_max: O::answer_max,
            is_known: arguments::is_known::<O>,
            short_answer: O::SHORT_ANSWER,
            call: call::<O>,
            at_once: match O::AT_ONCE {
                Some(_) => Some(at_once::<O>),
                None => None,
            },
        }
    }

    /// Whether clients with this toolset are offered it.
    #[must_use]
    pub fn is_in(&self, toolset: Toolset) -> bool {
        toolset == Toolset::All || self.core
    }

    /// Where clients with this toolset call it: the address tells which operations they know.
    #[must_use]
    pub fn path(&self, toolset: Toolset) -> String {
        match toolset {
            Toolset::All => format!("/{}", self.id),
            Toolset::Core => format!("/core/{}", self.id),
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

    /// Whether it has the parameter `group`.
    #[must_use]
    pub fn takes_group(&self) -> bool {
        !(self.request_schema)()["properties"]["group"].is_null()
    }
}

fn call<O: Operation>(
    store: &Store,
    caller: &Caller,
    mut arguments: Map<String, Value>,
) -> Result<Answer, Error> {
    store.expect_active(caller)?;
    O::prepare(&mut arguments);
    let ignored = arguments::ignore_unknown::<O>(&mut arguments);
    let given = short_arguments(&arguments);
    let uploads = read_only_zone::named_paths(&arguments);
    let answered = answer::<O>(store, caller, (arguments, ignored), &given);
    answered.map_err(|error| {
        let error = read_only_zone::with_alternative::<O>(store, caller, &uploads, error);
        missing_file::with_location::<O>(store, caller, &given, error)
            .of_call(&given)
            .without_commands(&given, |command| store.programs().lacks(command))
    })
}

fn at_once<O: Operation>(
    store: &Store,
    caller: &Caller,
    mut arguments: Map<String, Value>,
) -> Option<Answer> {
    let run = O::AT_ONCE?;
    O::prepare(&mut arguments);
    let ignored = arguments::ignore_unknown::<O>(&mut arguments);
    let given = short_arguments(&arguments);
    let caller = &naming_zones(caller, &arguments);
    let request = arguments::read::<O>(arguments).ok()?;
    let reply = run(store, caller, &request)?.noting(ignored);
    finished::<O>(reply, caller, &given).ok()
}

/// Most bytes of an argument that a hint repeats.
const REPEATED_MAX_BYTES: usize = 1_000;

/// The short arguments of a call, from which the calls of a hint are completed.
fn short_arguments(arguments: &Map<String, Value>) -> Map<String, Value> {
    let texts = arguments.iter().filter(|(_, value)| {
        let text = value.as_str();
        text.is_some_and(|text| text.len() <= REPEATED_MAX_BYTES)
    });
    texts
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn answer<O: Operation>(
    store: &Store,
    caller: &Caller,
    (arguments, ignored): (Map<String, Value>, Option<String>),
    given: &Map<String, Value>,
) -> Result<Answer, Error> {
    let caller = &naming_zones(caller, &arguments);
    let request = arguments::read::<O>(arguments)?;
    let (task, result) = (O::task(&request), |reply: &Reply<_>| O::result(&reply.data));
    let reply = store.shown(caller, task, result, || O::run(store, caller, request))?;
    finished::<O>(reply.noting(ignored), caller, given)
}

/// The caller, who says whether a path that begins with the name of a zone is meant so.
fn naming_zones(caller: &Caller, arguments: &Map<String, Value>) -> Caller {
    let allows = arguments.get(ALLOW_ZONE_IN_PATH);
    Caller {
        names_zones: allows.is_some_and(arguments::is_true),
        ..caller.clone()
    }
}

/// A reply in the form that the caller asked for.
fn finished<O: Operation>(
    mut reply: Reply<O::Response>,
    caller: &Caller,
    given: &Map<String, Value>,
) -> Result<Answer, Error> {
    let surface = offered(caller.client.toolset);
    let notes = reply.notes.into_iter().map(|mut note| {
        note.complete(given);
        note.told(&surface)
    });
    let notes = notes.collect::<Vec<String>>().join("; ");
    if let Some(picture) = O::picture(&mut reply.data) {
        let data = Box::new(reply.data);
        return Ok(Answer::Picture(Reply::new(data, reply.message), picture));
    }
    if caller.client.answers == Answers::Minimal {
        let data = serde_json::to_value(&reply.data).map_err(arguments::ArgumentError::Answer)?;
        if let Value::Object(mut data) = data {
            O::shorten(&mut data);
            let short = short_answer::success(O::SHORT_ANSWER, data, given, notes);
            return Ok(Answer::Short(short));
        }
    }
    if !notes.is_empty() {
        reply.message = format!("{}; {notes}", reply.message);
    }
    Ok(Answer::Full(Reply::new(
        Box::new(reply.data),
        reply.message,
    )))
}

/// The operations of a toolset, as hints name them.
#[must_use]
pub fn offered(toolset: Toolset) -> impl Surface {
    Tools(move |id: &str| find(id).is_some_and(|entry| entry.is_in(toolset)))
}
