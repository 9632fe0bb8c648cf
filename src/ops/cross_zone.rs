//! Common parts of the operations that move or copy files from one zone to another.

use fileshed_core::cross_zone::{CrossZoneResult, CrossZoneTransfer};
use fileshed_core::size::human_size;
use serde::de::DeserializeOwned;

use super::prelude::*;

/// An operation that moves or copies between two of the caller's own zones. It states only what
/// distinguishes it from the others; the rest of [`Operation`] is written once, below.
pub trait BetweenZones: 'static {
    /// [`Operation::ID`]
    const ID: &'static str;
    /// [`Operation::SUMMARY`]
    const SUMMARY: &'static str;
    /// [`Operation::DOC`]
    const DOC: &'static str;
    /// [`Operation::CORE`]
    const CORE: bool = false;
    /// [`Operation::ERRORS`]; a move takes no more space.
    const ERRORS: &'static [&'static [Code]] =
        errors![PATH, EXISTING_FILE; FileExists, FileLocked, FileTooLarge];
    /// [`Operation::EXAMPLES`]
    const EXAMPLES: &'static [&'static str];
    /// Zone of the source.
    const FROM: ZoneName;
    /// Zone of the destination.
    const TO: ZoneName;
    /// `true` if the source stays.
    const COPIES: bool = false;
    /// Type of its arguments.
    type Request: DeserializeOwned + ToSchema + Into<Request>;
}

impl<T: BetweenZones> Operation for T {
    const ID: &'static str = T::ID;
    const SUMMARY: &'static str = T::SUMMARY;
    const DOC: &'static str = T::DOC;
    const CORE: bool = T::CORE;
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &'static [&'static [Code]] = T::ERRORS;
    const EXAMPLES: &'static [&'static str] = T::EXAMPLES;
    const ACCESS: FileAccess = if T::COPIES {
        FileAccess::Read
    } else {
        FileAccess::Change
    };
    const SHORT_ANSWER: &'static [Keep] = &[Keep::Unknown("destination"), Keep::Always("size")];
    type Request = T::Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: T::Request) -> Result<Reply<Response>, Error> {
        let request: Request = request.into();
        let from = core.store.personal_zone(caller, T::FROM)?;
        let to = core.store.personal_zone(caller, T::TO)?;
        let transfer = CrossZoneTransfer {
            from: &from,
            to: &to,
            source: &request.src,
            destination: &request.dest,
            parameters: ("src", "dest"),
            overwrite: request.overwrite,
            replaces_other_kinds: false,
            message: request.message.as_deref(),
            operation: <T as BetweenZones>::ID,
        };
        let (done, verb) = if T::COPIES {
            (transfer.duplicate()?, "Copied")
        } else {
            (transfer.relocate()?, "Moved")
        };
        let message = sentence(verb, &done, T::TO.as_str());
        let response = Response {
            source: done.source.as_str().to_owned(),
            destination: done.destination.as_str().to_owned(),
            size: done.totals.bytes,
            commit: done.commit.as_ref().map(ToString::to_string),
        };
        Ok(Reply::new(response, message).noting(left_out(&done)))
    }
}

/// Both paths, with a history on one side.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// File or directory
    pub(super) src: String,
    /// New path, with the name
    pub(super) dest: String,
    /// Commit message
    pub(super) message: Option<String>,
    /// Replace if it exists
    #[serde(default)]
    pub(super) overwrite: bool,
}

/// The transfer.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path that the file or directory had.
    source: String,
    /// Path that it has now, in the other zone.
    destination: String,
    /// Bytes of all files.
    size: u64,
    /// Commit of the change; absent if no history changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

/// Returns a short sentence about the result.
pub(super) fn sentence(verb: &str, done: &CrossZoneResult, to: &str) -> String {
    format!(
        "{verb} {} to {to} as {} ({})",
        done.source,
        done.destination,
        human_size(done.totals.bytes)
    )
}

/// Returns the note about files that were left out; `None` if there are none.
pub(super) fn left_out(done: &CrossZoneResult) -> Option<String> {
    done.without_git.then(|| ".git was left out".to_owned())
}
