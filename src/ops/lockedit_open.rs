//! `shed_lockedit_open`: lock a file for editing.

use std::borrow::Cow;

use fileshed_core::lockedit::{self, EditOrigin};
use fileshed_core::text::Encoding;

use super::prelude::*;

/// `shed_lockedit_open`
pub struct LockeditOpen;

/// The file to lock.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// In the zone
    path: String,
    /// For zone group
    group: Option<String>,
}

/// The working copy.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Zone of the file.
    zone: &'static str,
    /// Path of the locked file.
    path: String,
    /// Text of the copy; null if it is binary.
    #[schema(required = true)]
    content: Option<String>,
    /// `true` if the copy is not UTF-8 text.
    is_binary: bool,
    /// Bytes of the working copy.
    size: u64,
    /// The conversation that holds the lock.
    locked_by: String,
}

impl Operation for LockeditOpen {
    const ID: &str = "shed_lockedit_open";
    const SUMMARY: &str = "Lock a file for editing";
    const DOC: &str = "Lock a file and edit a copy in several steps: shed_lockedit_exec or shed_lockedit_overwrite, then shed_lockedit_save or shed_lockedit_cancel. For one change: shed_patch_text. shed_lockedit_open(zone=\"storage\", path=\"a.md\")";
    const EFFECT: Effect = Effect::ADDS;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE, CHANGE;
        InvalidFormat, PermissionDenied, QuotaExceeded
    ];
    const EXAMPLES: &[&str] = &[r#"{"zone": "storage", "path": "notes/todo.md"}"#];
    const ACCESS: FileAccess = FileAccess::Change;
    const SHORT_ANSWER: &[Keep] = &[Keep::Always("content"), Keep::Always("size")];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path_to_change("path", &request.path)?;
        let (edit, content) = lockedit::open(&zone, &path)?;
        let size = content.bytes.len() as u64;
        let text = match String::from_utf8(content.bytes) {
            Ok(text) => Some(text).filter(|text| !text.contains('\0')),
            Err(error) => Encoding::text_of(error.as_bytes()).map(Cow::into_owned),
        };
        let note = match content.origin {
            EditOrigin::File => None,
            EditOrigin::Copy => Some("it was already open: this is its working copy"),
            EditOrigin::OutdatedCopy => Some(
                "it was already open: this is its working copy; the file was changed since \
                 then, shed_lockedit_cancel and shed_lockedit_open begin with the current file",
            ),
        };
        let message = format!("Locked {path}");
        let response = Response {
            zone: zone.name.as_str(),
            path: edit.path().as_str().to_owned(),
            is_binary: text.is_none(),
            content: text,
            size,
            locked_by: edit.chat().to_owned(),
        };
        Ok(Reply::new(response, message).noting(note.map(str::to_owned)))
    }
}
