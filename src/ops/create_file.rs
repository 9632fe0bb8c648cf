//! `shed_create_file`: write a whole file, which replaces an existing one.

use fileshed_core::changes::FileWrite;
use fileshed_core::misnamed::expect_named_right;
use fileshed_core::settings::WriteMode;
use fileshed_core::text::{ContentFormat, decode, line_count};

use super::prelude::*;
use super::vocabulary::{content_format, write_mode};
use super::write::{self, Response};

/// `shed_create_file`
pub struct CreateFile;

/// Kind of a new file's content.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum ContentKind {
    Text,
    Bytes,
}

/// The file.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = WritableZone)]
    zone: String,
    /// In the zone
    path: String,
    /// The whole file
    content: String,
    /// Kind of content
    #[schema(default = "text")]
    file_type: Option<ContentKind>,
    /// Encoding; implies bytes
    #[schema(default = "hex", value_type = Option<ContentFormat>)]
    content_format: Option<String>,
    /// For the commit
    message: Option<String>,
    /// For zone group
    group: Option<String>,
    /// Group: who may change it
    #[schema(value_type = Option<WriteMode>)]
    mode: Option<String>,
}

impl Operation for CreateFile {
    const ID: &str = "shed_create_file";
    const SUMMARY: &str = "Create or overwrite a file";
    const DOC: &str = "Write a whole file; makes directories. A part: shed_patch_text. shed_create_file(zone=\"storage\", path=\"notes/a.md\", content=\"# A\\n\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::REPLACES;
    const ERRORS: &[&[Code]] = errors![
        ZONE_AND_PATH, CHANGE, GROWTH;
        NotAFile, InvalidFormat, PermissionDenied, InvalidMode
    ];
    const EXAMPLES: &[&str] = &[
        r##"{"zone": "storage", "path": "notes/todo.md", "content": "# To do\n"}"##,
        r#"{"zone": "storage", "path": "pixel.bin", "content": "AAEC", "file_type": "bytes", "content_format": "base64"}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("created"),
        Keep::Always("file_size"),
        Keep::Unusual("mode"),
    ];
    const BODY_MAX: u64 = u64::MAX;
    const CHANGES: bool = true;
    const ACCESS: FileAccess = FileAccess::Create;
    type Request = Request;
    type Response = Response;

    fn prepare(arguments: &mut Map<String, Value>) {
        write::drop_mode_outside_groups(arguments);
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = ZoneName::parse_parameter("zone", &request.zone)?;
        let format = content_format(request.content_format.as_deref())?;
        let mode = write_mode(request.mode.as_deref())?;
        let zone = core
            .open_zone(caller, zone, request.group.as_deref())?
            .creating(mode);
        let bytes = match request.file_type {
            Some(kind) => kind == ContentKind::Bytes,
            None => request.content_format.is_some(),
        };
        let content = if bytes {
            decode(&request.content, format)?
        } else {
            expect_named_right(&request.path, request.content.as_bytes())?;
            request.content.into_bytes()
        };
        let written = FileWrite {
            zone: &zone,
            operation: Self::ID,
            path: &request.path,
            message: request.message.as_deref(),
        }
        .overwrite(&content)?;
        let size = content.len() as u64;
        let response = Response {
            position: "overwrite",
            safe_mode: true,
            lines_affected: (!bytes).then(|| line_count(&content)),
            bytes_written: bytes.then_some(size),
            bytes_affected: bytes.then_some(size),
            content_format: bytes.then(|| format.as_str()),
            ..Response::default()
        };
        write::reply(&zone, &written, None, response)
    }
}
