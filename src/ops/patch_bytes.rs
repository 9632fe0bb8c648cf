//! `shed_patch_bytes`: write bytes, whole or at an offset.

use fileshed_core::changes::FileWrite;
use fileshed_core::settings::WriteMode;
use fileshed_core::text::{BytePosition, BytesEdit, ContentFormat, decode};

use super::prelude::*;
use super::vocabulary::{content_format, write_mode};
use super::write::{self, Response};

/// `shed_patch_bytes`
pub struct PatchBytes;

/// Bytes and their position.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// In the zone
    path: String,
    /// The bytes, in their format
    content: String,
    /// Of content
    #[schema(default = "hex", value_type = Option<ContentFormat>)]
    content_format: Option<String>,
    /// at and replace need offset
    #[schema(default = "end", value_type = Option<BytePosition>)]
    position: Option<String>,
    /// First byte, from 0
    offset: Option<i64>,
    /// Bytes to replace; default: length of content
    length: Option<i64>,
    /// content is the whole file
    #[serde(default)]
    overwrite: bool,
    /// Ignored
    #[serde(default = "super::vocabulary::yes")]
    #[schema(required = false)]
    safe: bool,
    /// Commit message
    message: Option<String>,
    /// For zone group
    group: Option<String>,
    /// Group: who may change it
    #[schema(value_type = Option<WriteMode>)]
    mode: Option<String>,
}

impl Operation for PatchBytes {
    const ID: &str = "shed_patch_bytes";
    const SUMMARY: &str = "Write bytes";
    const DOC: &str = "Change bytes of a file: append (default), insert or replace at an offset. Text: shed_patch_text. shed_patch_bytes(zone=\"storage\", path=\"a.bin\", content=\"48656c6c6f\", position=\"replace\", offset=0)";
    const EFFECT: Effect = Effect::CHANGES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, EXISTING_FILE, CHANGE, GROWTH;
        InvalidFormat, PermissionDenied, InvalidMode
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "path": "data.bin", "content": "48656c6c6f", "overwrite": true}"#,
        r#"{"zone": "storage", "path": "data.bin", "content": "IQ==", "content_format": "base64"}"#,
        r#"{"zone": "storage", "path": "data.bin", "content": "4a", "position": "replace", "offset": 0}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Unusual("created"),
        Keep::Always("bytes_affected"),
        Keep::Always("file_size"),
        Keep::Unusual("mode"),
    ];
    const BODY_MAX: u64 = u64::MAX;
    const CHANGES: bool = true;
    const ACCESS: FileAccess = FileAccess::Change;
    type Request = Request;
    type Response = Response;

    fn prepare(arguments: &mut Map<String, Value>) {
        write::drop_what_overwrite_ignores(arguments);
        write::drop_mode_outside_groups(arguments);
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = ZoneName::parse_parameter("zone", &request.zone)?;
        let format = content_format(request.content_format.as_deref())?;
        let position = match request.position.as_deref() {
            Some(position) => BytePosition::parse_parameter(position)?,
            None => BytePosition::End,
        };
        let mode = write_mode(request.mode.as_deref())?;
        let zone = core
            .open_zone(caller, zone, request.group.as_deref())?
            .creating(mode);
        let content = decode(&request.content, format)?;
        let edit = BytesEdit {
            position,
            content: &content,
            offset: request.offset,
            length: request.length,
        };
        let mut bytes_affected = content.len() as u64;
        let file = FileWrite {
            zone: &zone,
            operation: Self::ID,
            path: &request.path,
            message: request.message.as_deref(),
        };
        let written = if request.overwrite {
            file.overwrite(&content)?
        } else {
            match edit.position {
                BytePosition::End => file.append(false, |_| Ok(content.clone()))?,
                _ => file.edit(edit.needs_file(), |old| {
                    let edited = edit.apply(old)?;
                    bytes_affected = edited.bytes_affected;
                    Ok(edited.bytes)
                })?,
            }
        };
        let response = Response {
            position: write::position(request.overwrite, edit.position.as_str()),
            safe_mode: request.safe,
            bytes_written: Some(content.len() as u64),
            bytes_affected: Some(bytes_affected),
            content_format: Some(format.as_str()),
            offset: request.offset,
            ..Response::default()
        };
        write::reply(&zone, &written, None, response)
    }
}
