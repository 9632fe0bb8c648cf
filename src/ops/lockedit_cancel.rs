//! `shed_lockedit_cancel`: drop a locked edit.

use fileshed_core::lockedit;

use super::prelude::*;

/// `shed_lockedit_cancel`
pub struct LockeditCancel;

/// The file that is open.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// The open file
    path: String,
    /// For zone group
    group: Option<String>,
}

/// The dropped edit.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Zone of the file.
    zone: &'static str,
    /// Path of the file, which is unlocked.
    path: String,
    /// `true` if the copy differed from the file.
    changes_discarded: bool,
}

impl Operation for LockeditCancel {
    const ID: &str = "shed_lockedit_cancel";
    const SUMMARY: &str = "Drop a locked edit";
    const DOC: &str =
        "Drop the working copy of a locked edit and unlock; the file stays as it was.";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![ZONE_AND_PATH, CHANGE, OPEN_EDIT];
    const EXAMPLES: &[&str] = &[r#"{"zone": "storage", "path": "notes/todo.md"}"#];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[Keep::Unusual("changes_discarded")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path_to_change("path", &request.path)?;
        let edit = lockedit::held(&zone, &path)?;
        let path = edit.path().as_str().to_owned();
        let changes_discarded = edit.cancel()?;
        let message = format!("Unlocked {path}");
        let response = Response {
            zone: zone.name.as_str(),
            path,
            changes_discarded,
        };
        Ok(Reply::new(response, message))
    }
}
