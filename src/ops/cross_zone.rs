//! What the operations that go from zone to zone have in common.

use fileshed_core::cross_zone::{CrossZoneResult, CrossZoneTransfer};
use fileshed_core::size::human_size;
use fileshed_core::{Caller, Code, Error, Store, ZoneName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::Reply;
use super::brief::Keep;

/// Failures of those that move: a move takes no more space.
pub(super) const ERRORS: &[Code] = &[
    Code::FileNotFound,
    Code::FileExists,
    Code::NotAFile,
    Code::PathEscape,
    Code::PathStartsWithZone,
    Code::ProtectedPath,
    Code::InvalidPath,
    Code::FileLocked,
    Code::FileTooLarge,
];

/// From where to where, with a history on one side.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// File or directory
    pub(super) src: String,
    /// Its new path, with the name
    pub(super) dest: String,
    /// Commit message
    pub(super) message: Option<String>,
    /// Replace what is there
    #[serde(default)]
    pub(super) overwrite: bool,
}

/// What arrived.
#[derive(Serialize, ToSchema)]
pub struct Response {
    pub(super) source: String,
    pub(super) destination: String,
    /// Bytes of all files.
    pub(super) size: u64,
    /// Absent where nothing of the history changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    commit: Option<String>,
}

/// What of it a short answer keeps.
pub(super) const BRIEF: &[Keep] = &[Keep::Unknown("destination"), Keep::Always("size")];

/// The way from a zone to another, and what is to be done.
pub(super) struct Way {
    pub(super) operation: &'static str,
    pub(super) from: ZoneName,
    pub(super) to: ZoneName,
    pub(super) copies: bool,
}

impl Way {
    /// Goes it.
    pub(super) fn go(
        &self,
        store: &Store,
        caller: &Caller,
        request: &Request,
    ) -> Result<Reply<Response>, Error> {
        let from = store.personal_zone(caller, self.from)?;
        let to = store.personal_zone(caller, self.to)?;
        let transfer = CrossZoneTransfer {
            from: &from,
            to: &to,
            source: &request.src,
            destination: &request.dest,
            parameters: ("src", "dest"),
            overwrite: request.overwrite,
            message: request.message.as_deref(),
            operation: self.operation,
        };
        let done = if self.copies {
            transfer.duplicate()?
        } else {
            transfer.relocate()?
        };
        Ok(Reply::new(
            Response {
                source: done.source.as_str().to_owned(),
                destination: done.destination.as_str().to_owned(),
                size: done.totals.bytes,
                commit: done.commit.as_ref().map(ToString::to_string),
            },
            self.sentence(&done),
        )
        .noting(left_out(&done)))
    }

    fn sentence(&self, done: &CrossZoneResult) -> String {
        let verb = if self.copies { "Copied" } else { "Moved" };
        let CrossZoneResult {
            source,
            destination,
            totals,
            ..
        } = done;
        let size = human_size(totals.bytes);
        format!("{verb} {source} to {} as {destination} ({size})", self.to)
    }
}

/// What did not come along.
pub(super) fn left_out(done: &CrossZoneResult) -> Option<String> {
    done.without_git.then(|| ".git was left out".to_owned())
}
