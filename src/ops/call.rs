//! Calls of operations: on raw arguments, with an answer in the form that the caller asked for.

use fileshed_core::hint::{Surface, Tools};
use fileshed_core::{Answers, Caller, Core, Error, Settings, Toolset};
use serde_json::{Map, Value};

use super::answer::{Answer, SuccessEnvelope};
use super::operation::{Operation, Reply};
use super::{ALLOW_ZONE_IN_PATH, arguments, find, missing_file, read_only_zone, short_answer};

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

impl OperationCall {
    pub(super) const fn of<O: Operation>() -> Self {
        Self {
            run: run::<O>,
            at_once: match O::AT_ONCE {
                Some(_) => Some(at_once::<O>),
                None => None,
            },
            answer_max: O::answer_max,
        }
    }
}

fn run<O: Operation>(
    core: &Core,
    caller: &Caller,
    mut arguments: Map<String, Value>,
) -> Result<Answer, Error> {
    core.store.expect_active(caller)?;
    O::prepare(&mut arguments);
    let ignored = arguments::ignore_unknown::<O>(&mut arguments);
    let given = short_arguments(&arguments);
    let uploads = read_only_zone::named_paths(&arguments);
    let answered = answer::<O>(core, caller, (arguments, ignored), &given);
    answered.map_err(|error| {
        let error = read_only_zone::with_alternative::<O>(core, caller, &uploads, error);
        missing_file::with_location::<O>(core, caller, &given, error)
            .of_call(&given)
            .without_commands(&given, |command| core.runs.programs().lacks(command))
    })
}

fn at_once<O: Operation>(
    core: &Core,
    caller: &Caller,
    mut arguments: Map<String, Value>,
) -> Option<Answer> {
    let run = O::AT_ONCE?;
    O::prepare(&mut arguments);
    let ignored = arguments::ignore_unknown::<O>(&mut arguments);
    let given = short_arguments(&arguments);
    let caller = &naming_zones(caller, &arguments);
    let request = arguments::read::<O>(arguments).ok()?;
    let reply = run(core, caller, &request)?.noting(ignored);
    finished::<O>(reply, caller, &given).ok()
}

/// Most bytes of an argument that a hint repeats.
const REPEATED_MAX_BYTES: usize = 1_000;

/// The short arguments of a call, from which the calls of a hint are completed.
fn short_arguments(arguments: &Map<String, Value>) -> Map<String, Value> {
    let is_short = |value: &Value| {
        let text = value.as_str();
        text.is_some_and(|text| text.len() <= REPEATED_MAX_BYTES)
    };
    let texts = arguments.iter().filter(|(_, value)| is_short(value));
    texts
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn answer<O: Operation>(
    core: &Core,
    caller: &Caller,
    (arguments, ignored): (Map<String, Value>, Option<String>),
    given: &Map<String, Value>,
) -> Result<Answer, Error> {
    let caller = &naming_zones(caller, &arguments);
    let request = arguments::read::<O>(arguments)?;
    let (task, result) = (O::task(&request), |reply: &Reply<_>| O::result(&reply.data));
    let reply = core
        .store
        .shown(caller, task, result, || O::run(core, caller, request))?;
    finished::<O>(reply.noting(ignored), caller, given)
}

/// The caller, who says if a path that begins with the name of a zone is meant so.
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
#[must_use]
pub fn offered(toolset: Toolset) -> impl Surface {
    Tools(move |id: &str| find(id).is_some_and(|entry| entry.is_in(toolset)))
}
