//! Operations and their replies.

use fileshed_core::chat_host::Task;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Caller, Code, Core, Error, Hint, Settings};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::answer::Picture;
use super::effect::{Effect, FileAccess};
use super::short_answer::Keep;

/// Work that does not block; returns `None` if that is not possible.
pub type ImmediateRun<O> =
    fn(&Core, &Caller, &<O as Operation>::Request) -> Option<Reply<<O as Operation>::Response>>;

/// An operation: its words, its types and its work.
pub trait Operation: Sized + 'static {
    /// Name on every surface; the file `src/ops/<name>.rs` is called so without `shed_`.
    const ID: &'static str;
    /// One line for people who browse.
    const SUMMARY: &'static str;
    /// The text a model reads on every turn: the fewest words that make the first call right.
    const DOC: &'static str;
    /// `true` if the small toolset has it.
    const CORE: bool = false;
    /// Effects of a call.
    const EFFECT: Effect;
    /// `true` if it ignores unknown names of arguments although it may change something.
    const IGNORES_UNKNOWN: bool = false;
    /// The codes of its own failures, in sets; `COMMON_ERRORS` come on top.
    const ERRORS: &'static [&'static [Code]];
    /// Requests that work, as JSON. The first is shown in the OpenAPI document.
    const EXAMPLES: &'static [&'static str];
    /// The request: a flat object of simple types.
    type Request: DeserializeOwned + ToSchema;
    /// The data of the answer.
    type Response: Serialize + ToSchema + Send + 'static;

    /// The fields of [`Response`](Self::Response) that a short answer keeps.
    const SHORT_ANSWER: &'static [Keep];

    /// Most bytes of a call: of one that carries the content of a file, as many as the server takes.
    const BODY_MAX: u64 = MEBIBYTE;
    /// `true` if it always changes something, so that a credential that only reads need not call it.
    const CHANGES: bool = false;

    /// Runs without blocking, if the operation can, so that the call needs no thread. Returns `None` if that
    /// is not certain, or if it would fail: [`Self::run`] then returns the failure.
    const AT_ONCE: Option<ImmediateRun<Self>> = None;

    /// Its effect on the file that it is called for.
    const ACCESS: FileAccess = FileAccess::Read;

    /// Its effect on the file if it is called with these arguments.
    fn access(_arguments: &Map<String, Value>) -> FileAccess {
        Self::ACCESS
    }

    /// Returns `true` if a call may be made in a zone that was not named, because it only reads there.
    fn is_harmless(_arguments: &Map<String, Value>) -> bool {
        Self::EFFECT.reads_only
    }

    /// Returns the most bytes of its answer to these arguments, if it can be large.
    fn answer_max(_settings: &Settings, _arguments: &Map<String, Value>) -> u64 {
        0
    }

    /// Changes raw arguments before their types are checked, if one argument makes others meaningless.
    fn prepare(_arguments: &mut Map<String, Value>) {}

    /// Gives data the form in which a short answer keeps its fields.
    fn shorten(_data: &mut Map<String, Value>) {}

    /// The line that a person reads in the conversation if the work lasts; `None` if it never does.
    fn task(_request: &Self::Request) -> Option<Task> {
        None
    }

    /// The result that a person reads there, in a few words.
    fn result(_response: &Self::Response) -> Option<String> {
        None
    }

    /// Does the work. Blocks: transports call it where blocking is allowed.
    fn run(
        core: &Core,
        caller: &Caller,
        request: Self::Request,
    ) -> Result<Reply<Self::Response>, Error>;
}

/// A success: data for programs, a sentence for the model.
#[derive(Debug)]
pub struct Reply<T> {
    /// The fields that the operation declares.
    pub data: T,
    /// The work that was done, in a few words.
    pub message: String,
    /// Notes that no field has; they are at the end of the message too.
    pub notes: Vec<Hint>,
    /// The picture that the answer is.
    pub picture: Option<Picture>,
}

impl<T> Reply<T> {
    /// A success with its sentence.
    pub fn new(data: T, message: impl Into<String>) -> Self {
        Self {
            data,
            message: message.into(),
            notes: Vec::new(),
            picture: None,
        }
    }

    /// Adds what a caller must know and no field says, and what to do about it. A short answer
    /// has it, and no message.
    #[must_use]
    pub fn noting<N: Into<Hint>>(mut self, notes: impl IntoIterator<Item = N>) -> Self {
        self.notes.extend(notes.into_iter().map(Into::into));
        self
    }
}
