//! The operations: one file each, one list of all.
//!
//! An operation is a unit struct in `src/ops/<name>.rs` that says everything about itself: how a
//! model sees it, what it takes, what it answers, how it fails. [`OPERATIONS`] is the only list.
//! HTTP routes, the OpenAPI document and every other surface walk it; nothing of an operation
//! lives elsewhere. To add one: write its file, add one line below, write the file of its tests.

use fileshed_core::chat_host::Task;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Answers, Caller, Code, Error, Hint, Settings, Store, Toolset};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use short_answer::Keep;

mod arguments;
mod codes;
mod cross_zone;
mod markdown;
mod missing_file;
pub mod parameters;
mod read_only_zone;
pub mod schema;
pub mod short_answer;
mod vocabulary;
mod write;

pub use missing_file::Access;

pub mod allowed_commands;
pub mod convert_eol;
pub mod copy_storage_to_documents;
pub mod copy_to_group;
pub mod create_file;
pub mod delete;
pub mod exec;
pub mod file_type;
pub mod force_unlock;
pub mod group_chown;
pub mod group_info;
pub mod group_list;
pub mod group_set_mode;
pub mod help;
pub mod hexdump;
pub mod import;
pub mod link_create;
pub mod link_delete;
pub mod link_list;
pub mod lockedit_cancel;
pub mod lockedit_exec;
pub mod lockedit_open;
pub mod lockedit_overwrite;
pub mod lockedit_save;
pub mod maintenance;
pub mod move_documents_to_storage;
pub mod move_uploads_to_documents;
pub mod move_uploads_to_storage;
pub mod patch_bytes;
pub mod patch_text;
pub mod rename;
pub mod sqlite;
pub mod stats;
pub mod tree;
pub mod unzip;
pub mod zip;
pub mod zipinfo;

/// What the file of an operation provides.
pub trait Operation: 'static {
    /// Name on every surface; the file `src/ops/<name>.rs` is called so without `shed_`.
    const ID: &'static str;
    /// One line for people who browse.
    const SUMMARY: &'static str;
    /// The text a model reads on every turn: the fewest words that make the first call right.
    const DOC: &'static str;
    /// Whether the small toolset has it.
    const CORE: bool = false;
    /// The codes of its own failures; [`COMMON_ERRORS`] come on top.
    const ERRORS: &'static [Code];
    /// Requests that work, as JSON. The first is shown in the OpenAPI document.
    const EXAMPLES: &'static [&'static str];
    /// What it takes: a flat object of simple types.
    type Request: DeserializeOwned + ToSchema;
    /// What it answers in `data`.
    type Response: Serialize + ToSchema;

    /// What of [`Response`](Self::Response) a short answer keeps.
    const SHORT_ANSWER: &'static [Keep];

    /// Most bytes of a call: of one that carries the content of a file, as many as the server takes.
    const BODY_MAX: u64 = MEBIBYTE;
    /// Whether it always changes something, so that a credential that only reads need not send it.
    const CHANGES: bool = false;

    /// Whether it makes a file that is not there, whatever is in other zones.
    const CREATES: bool = false;

    /// What it does to the file that it is called for.
    const ACCESS: Access = Access::Read;

    /// What it does to the file when called with these arguments.
    #[must_use]
    fn access(_arguments: &Map<String, Value>) -> Access {
        Self::ACCESS
    }

    /// Whether a call may be made in a zone that was not named: it only reads there, or makes what
    /// was not there.
    #[must_use]
    fn is_harmless(_arguments: &Map<String, Value>) -> bool {
        false
    }

    /// Most bytes of its answer to these arguments, where that can be more than a few.
    #[must_use]
    fn answer_max(_settings: &Settings, _arguments: &Map<String, Value>) -> u64 {
        0
    }

    /// Changes raw arguments before their types are checked, where one argument makes others
    /// meaningless.
    fn prepare(_arguments: &mut Map<String, Value>) {}

    /// Gives data the form in which a short answer keeps its fields.
    fn shorten(_data: &mut Map<String, Value>) {}

    /// What a person reads in the conversation if the work lasts; nothing where it never does.
    fn task(_request: &Self::Request) -> Option<Task> {
        None
    }

    /// What a person reads there of what came of it, in a few words.
    fn result(_response: &Self::Response) -> Option<String> {
        None
    }

    /// Does the work. Blocks: transports call it where blocking is allowed.
    fn run(
        store: &Store,
        caller: &Caller,
        request: Self::Request,
    ) -> Result<Reply<Self::Response>, Error>;
}

/// Codes that every operation may answer.
pub const COMMON_ERRORS: &[Code] = &[
    Code::MissingParameter,
    Code::InvalidParameter,
    Code::Unauthorized,
    Code::InvalidUser,
    Code::AccessDenied,
    Code::Busy,
    Code::OpenwebuiApiUnavailable,
    Code::DbError,
    Code::InternalApiError,
];

/// Codes that every operation with the parameter `group` may answer.
pub const GROUP_ERRORS: &[Code] = &[
    Code::InvalidGroupId,
    Code::GroupNotFound,
    Code::GroupNotAvailable,
];

/// The parameter of every operation that may answer `PATH_STARTS_WITH_ZONE`: its paths may begin
/// with the name of a zone.
pub const ALLOW_ZONE_IN_PATH: &str = "allow_zone_in_path";

/// A success: data for programs, a sentence for the model.
#[derive(Debug)]
pub struct Reply<T> {
    /// The fields of the contract.
    pub data: T,
    /// What was done, in a few words.
    pub message: String,
    /// What a caller must know and no field says; at the end of the message too.
    pub notes: Vec<Hint>,
}

impl<T> Reply<T> {
    /// A success with its sentence.
    pub fn new(data: T, message: impl Into<String>) -> Self {
        Self {
            data,
            message: message.into(),
            notes: Vec::new(),
        }
    }

    /// Adds what a caller must know and no field says, and what to do about it. A short answer
    /// has it, and no message.
    #[must_use]
    pub fn noting<N: Into<Hint>>(mut self, note: Option<N>) -> Self {
        self.notes.extend(note.map(Into::into));
        self
    }
}

/// A success in the form that the caller asked for.
#[derive(Debug)]
pub enum Answer {
    /// Every field of the contract, and the message.
    Full(Reply<Value>),
    /// What the caller cannot know yet.
    Short(Value),
}

/// Runs an operation on raw arguments.
pub type Handler = fn(&Store, &Caller, Map<String, Value>) -> Result<Answer, Error>;

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
}

impl Entry {
    const fn of<O: Operation>() -> Self {
        Self {
            id: O::ID,
            summary: O::SUMMARY,
            doc: O::DOC,
            core: O::CORE,
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
        }
    }
}

impl Entry {
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
    let given = short_arguments(&arguments);
    let uploads = read_only_zone::named_paths(&arguments);
    let answered = answer::<O>(store, caller, arguments, &given);
    answered.map_err(|error| {
        let error = read_only_zone::with_alternative::<O>(store, caller, &uploads, error);
        missing_file::with_location::<O>(store, caller, &given, error).of_call(&given)
    })
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
    arguments: Map<String, Value>,
    given: &Map<String, Value>,
) -> Result<Answer, Error> {
    let names_zones = arguments
        .get(ALLOW_ZONE_IN_PATH)
        .is_some_and(arguments::is_true);
    let request = arguments::read::<O>(arguments)?;
    let caller = &Caller {
        names_zones,
        ..caller.clone()
    };
    let (task, result) = (O::task(&request), |reply: &Reply<_>| O::result(&reply.data));
    let reply = store.shown(caller, task, result, || O::run(store, caller, request))?;
    let is_offered = |id: &str| find(id).is_some_and(|entry| entry.is_in(caller.client.toolset));
    let notes = reply.notes.into_iter().map(|mut note| {
        note.complete(given);
        note.told(&is_offered)
    });
    let notes = notes.collect::<Vec<String>>().join("; ");
    let data = serde_json::to_value(reply.data).map_err(arguments::ArgumentError::Answer)?;
    Ok(match (caller.client.answers, data) {
        (Answers::Minimal, Value::Object(mut data)) => {
            O::shorten(&mut data);
            Answer::Short(short_answer::success(O::SHORT_ANSWER, data, given, notes))
        }
        (_, data) if notes.is_empty() => Answer::Full(Reply::new(data, reply.message)),
        (_, data) => Answer::Full(Reply::new(data, format!("{}; {notes}", reply.message))),
    })
}

/// The one list, in the order in which documents show it.
pub static OPERATIONS: &[Entry] = &[
    Entry::of::<exec::Exec>(),
    Entry::of::<create_file::CreateFile>(),
    Entry::of::<patch_text::PatchText>(),
    Entry::of::<patch_bytes::PatchBytes>(),
    Entry::of::<delete::Delete>(),
    Entry::of::<rename::Rename>(),
    Entry::of::<lockedit_open::LockeditOpen>(),
    Entry::of::<lockedit_exec::LockeditExec>(),
    Entry::of::<lockedit_overwrite::LockeditOverwrite>(),
    Entry::of::<lockedit_save::LockeditSave>(),
    Entry::of::<lockedit_cancel::LockeditCancel>(),
    Entry::of::<tree::Tree>(),
    Entry::of::<sqlite::Sqlite>(),
    Entry::of::<zip::Zip>(),
    Entry::of::<unzip::Unzip>(),
    Entry::of::<zipinfo::Zipinfo>(),
    Entry::of::<file_type::FileType>(),
    Entry::of::<convert_eol::ConvertEol>(),
    Entry::of::<hexdump::Hexdump>(),
    Entry::of::<link_create::LinkCreate>(),
    Entry::of::<link_list::LinkList>(),
    Entry::of::<link_delete::LinkDelete>(),
    Entry::of::<force_unlock::ForceUnlock>(),
    Entry::of::<move_uploads_to_storage::MoveUploadsToStorage>(),
    Entry::of::<move_uploads_to_documents::MoveUploadsToDocuments>(),
    Entry::of::<copy_storage_to_documents::CopyStorageToDocuments>(),
    Entry::of::<move_documents_to_storage::MoveDocumentsToStorage>(),
    Entry::of::<copy_to_group::CopyToGroup>(),
    Entry::of::<group_list::GroupList>(),
    Entry::of::<group_info::GroupInfo>(),
    Entry::of::<group_set_mode::GroupSetMode>(),
    Entry::of::<group_chown::GroupChown>(),
    Entry::of::<import::Import>(),
    Entry::of::<help::Help>(),
    Entry::of::<parameters::Parameters>(),
    Entry::of::<stats::Stats>(),
    Entry::of::<allowed_commands::AllowedCommands>(),
    Entry::of::<maintenance::Maintenance>(),
];

/// The operation of that name.
#[must_use]
pub fn find(id: &str) -> Option<&'static Entry> {
    OPERATIONS.iter().find(|entry| entry.id == id)
}
