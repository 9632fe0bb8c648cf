//! `shed_lockedit_overwrite`: write the working copy of a locked file.

use fileshed_core::lockedit;
use fileshed_core::text::{Encoding, addition, expect_editable};

use super::prelude::*;

/// `shed_lockedit_overwrite`
pub struct LockeditOverwrite;

/// The open file and its new content.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// The open file
    path: String,
    /// The new text
    content: String,
    /// Append instead of replacing
    #[serde(default)]
    append: bool,
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
    /// Bytes of the content that was sent.
    bytes_written: u64,
    /// Bytes that the working copy has now.
    new_size: u64,
    /// Use of the content: overwrite or append.
    mode: &'static str,
}

impl Operation for LockeditOverwrite {
    const ID: &str = "shed_lockedit_overwrite";
    const SUMMARY: &str = "Write the working copy of a locked file";
    const DOC: &str = "Replace the content of a locked edit's working copy, or append to it.";
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![ZONE_AND_PATH, CHANGE, OPEN_EDIT, GROWTH; InvalidFormat];
    const EXAMPLES: &[&str] =
        &[r##"{"zone": "storage", "path": "notes/todo.md", "content": "# New\n"}"##];
    const SHORT_ANSWER: &[Keep] = &[Keep::Always("new_size")];
    const BODY_MAX: u64 = u64::MAX;
    const CHANGES: bool = true;
    const ACCESS: FileAccess = FileAccess::Change;
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path_to_change("path", &request.path)?;
        let edit = lockedit::held(&zone, &path)?;
        let content = if request.append {
            let mut copy = edit.content()?;
            expect_editable(&copy)
                .map_err(|error| Error::from(error).with_detail("path", edit.path().as_str()))?;
            let ends_within_line = copy.last().is_some_and(|&byte| byte != b'\n');
            let encoding = Encoding::of(&copy, true);
            let added = addition(&copy, &encoding, ends_within_line, &request.content)?;
            copy.extend_from_slice(&added);
            copy
        } else {
            let copy = edit.content()?;
            Encoding::of(&copy, true).encode_like(&request.content, &copy)?
        };
        edit.write(&content)?;
        let response = Response {
            zone: zone.name.as_str(),
            path: edit.path().as_str().to_owned(),
            bytes_written: request.content.len() as u64,
            new_size: content.len() as u64,
            mode: if request.append {
                "append"
            } else {
                "overwrite"
            },
        };
        Ok(Reply::new(response, "Wrote the working copy")
            .noting(Some("shed_lockedit_save writes it to the file".to_owned())))
    }
}
