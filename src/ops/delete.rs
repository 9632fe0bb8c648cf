//! `shed_delete`: remove a file or a directory with everything in it.

use fileshed_core::guard::ChangeRequest;
use fileshed_core::storage::Kind;
use fileshed_core::{Caller, Code, Error, Store, ZoneName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::codes::errors;
use super::short_answer::Keep;
use super::vocabulary::AnyZone;
use super::{Access, Effect, Operation, Reply};

/// `shed_delete`
pub struct Delete;

/// What to remove.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Zone of the file
    #[schema(value_type = AnyZone)]
    zone: ZoneName,
    /// Relative to the zone
    path: String,
    /// Commit message
    message: Option<String>,
    /// For zone group
    group: Option<String>,
}

/// What was removed.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Zone from which it was removed.
    zone: &'static str,
    /// Path of what was removed.
    deleted: String,
    /// Whether it was a directory.
    was_directory: bool,
}

impl Operation for Delete {
    const ID: &str = "shed_delete";
    const SUMMARY: &str = "Delete a file or directory";
    const DOC: &str = "Delete one file or directory, in uploads too. shed_delete(zone=\"storage\", path=\"old.md\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[Code] = errors![ZONE_AND_PATH; FileNotFound, FileLocked, PermissionDenied];
    const EXAMPLES: &[&str] = &[r#"{"zone": "storage", "path": "notes/todo.md"}"#];
    const ACCESS: Access = Access::Remove;
    const SHORT_ANSWER: &[Keep] = &[Keep::Unusual("was_directory")];
    type Request = Request;
    type Response = Response;

    fn run(store: &Store, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = store.open_zone(caller, request.zone, request.group.as_deref())?;
        let path = zone.path_to_change("path", &request.path)?;
        let writer = zone.remover(Self::ID)?;
        let entry = zone.entry_itself(&path)?;
        let totals = zone.totals(&entry)?;
        writer
            .guard(ChangeRequest::remove(&entry, totals))?
            .remove(&entry)?
            .commit(request.message.as_deref(), &format!("Delete {path}"))?;
        let was_directory = entry.kind() == Kind::Directory;
        Ok(Reply::new(
            Response {
                zone: zone.name().as_str(),
                deleted: path.as_str().to_owned(),
                was_directory,
            },
            format!("Deleted {path}"),
        ))
    }
}
