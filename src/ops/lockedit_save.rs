//! `shed_lockedit_save`: save a locked file and unlock it.

use fileshed_core::lockedit;

use super::prelude::*;

/// `shed_lockedit_save`
pub struct LockeditSave;

/// The file that is open.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// The open file
    path: String,
    /// Commit message
    message: Option<String>,
    /// Replace the file although it changed since it was opened
    #[serde(default)]
    overwrite: bool,
    /// For zone group
    group: Option<String>,
}

/// The saved file.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Zone of the file.
    zone: &'static str,
    /// Path of the saved file.
    path: String,
    /// Bytes that the file has now.
    size: u64,
    /// `true` if committed.
    committed: bool,
}

impl Operation for LockeditSave {
    const ID: &str = "shed_lockedit_save";
    const SUMMARY: &str = "Save a locked file and unlock it";
    const DOC: &str = "Save the working copy of a locked edit, and unlock the file.";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, CHANGE, OPEN_EDIT, GROWTH;
        PreconditionFailed, NotAFile, PermissionDenied
    ];
    const EXAMPLES: &[&str] = &[r#"{"zone": "storage", "path": "notes/todo.md"}"#];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[Keep::Always("size")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path_to_change("path", &request.path)?;
        let edit = lockedit::held(&zone, &path)?;
        let path = edit.path().as_str().to_owned();
        let (size, commit) = edit.save(request.message.as_deref(), request.overwrite)?;
        let message = format!("Saved and unlocked {path}");
        let response = Response {
            zone: zone.name.as_str(),
            path,
            size,
            committed: commit.is_some(),
        };
        Ok(Reply::new(response, message))
    }
}
