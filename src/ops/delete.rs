//! `shed_delete`: remove a file or a directory with everything in it, or bring it back from the bin.

use std::num::NonZeroU64;

use fileshed_core::storage::Kind;
use fileshed_core::{bin, changes};

use super::prelude::*;

/// `shed_delete`
pub struct Delete;

/// The entry.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = AnyZone)]
    zone: String,
    /// In the zone
    path: String,
    /// Commit message
    message: Option<String>,
    /// For zone group
    group: Option<String>,
    /// Restore it
    #[serde(default)]
    restore: bool,
}

/// The removal.
#[derive(Default, Serialize, ToSchema)]
pub struct Response {
    /// Zone from which it was removed.
    zone: &'static str,
    /// Path of the removed entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    deleted: Option<String>,
    /// Path of the restored entry, with `restore`.
    #[serde(skip_serializing_if = "Option::is_none")]
    restored: Option<String>,
    /// `true` if a directory.
    was_directory: bool,
    /// Days in which the same call with `restore` brings it back; absent where it is gone, or in the
    /// history.
    #[serde(skip_serializing_if = "Option::is_none")]
    restorable_days: Option<u64>,
}

impl Operation for Delete {
    const ID: &str = "shed_delete";
    const SUMMARY: &str = "Delete a file or directory";
    const DOC: &str = "Delete one file or directory, in uploads too. shed_delete(zone=\"storage\", path=\"old.md\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] =
        errors![ZONE_AND_PATH; FileNotFound, FileExists, FileLocked, PermissionDenied];
    const EXAMPLES: &[&str] = &[r#"{"zone": "storage", "path": "notes/todo.md"}"#];
    const ACCESS: FileAccess = FileAccess::Remove;
    const SHORT_ANSWER: &[Keep] = &[Keep::Unusual("was_directory"), Keep::Unknown("restored")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path_to_change("path", &request.path)?;
        if request.restore {
            let back = bin::bring_back_path(zone, &path)?;
            let path = back.path.as_str().to_owned();
            let message = format!("Brought back {path}");
            let response = Response {
                zone: back.zone.as_str(),
                restored: Some(path),
                was_directory: back.is_directory,
                ..Response::default()
            };
            return Ok(Reply::new(response, message));
        }
        let writer = changes::remover(&zone, Self::ID)?;
        let entry = zone.entry_itself(&path)?;
        let is_in_bin = writer.delete(&entry, request.message.as_deref())?;
        let days = core.store.settings.bin_days.filter(|_| is_in_bin);
        let message = match days {
            Some(days) => format!(
                "Deleted {path}; for {days} days the same call with restore=true brings it back"
            ),
            None => format!("Deleted {path}"),
        };
        let response = Response {
            zone: zone.name.as_str(),
            deleted: Some(path.as_str().to_owned()),
            restored: None,
            was_directory: entry.kind() == Kind::Directory,
            restorable_days: days.map(NonZeroU64::get),
        };
        Ok(Reply::new(response, message))
    }
}
