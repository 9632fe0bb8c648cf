//! `shed_file_type`: the type of a file, by its content.

use fileshed_core::inspect::DetectedType;
use fileshed_core::size::human_size;
use fileshed_core::storage::Kind;

use super::prelude::*;

/// `shed_file_type`
pub struct FileType;

/// The file.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = AnyZone)]
    zone: String,
    /// In the zone
    path: String,
    /// For zone group
    group: Option<String>,
}

/// The type.
#[derive(Default, Serialize, ToSchema)]
pub struct Response {
    /// Path of the file or directory.
    path: String,
    /// Kind: file or directory.
    r#type: &'static str,
    /// Media type, such as text/plain.
    mime: String,
    /// Character encoding of text; binary for other files.
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
    /// The format in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    magic: Option<String>,
    /// Usual extension of the format, without a dot.
    #[serde(skip_serializing_if = "Option::is_none")]
    extension: Option<String>,
    /// Bytes of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    /// Size of the file, for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    size_human: Option<String>,
}

impl Operation for FileType {
    const ID: &str = "shed_file_type";
    const SUMMARY: &str = "Identify a file";
    const DOC: &str = "Identify a file by its content: media type, text encoding, format.";
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = errors![ZONE_AND_PATH, EXISTING_FILE];
    const EXAMPLES: &[&str] = &[r#"{"zone": "storage", "path": "notes.txt"}"#];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("mime"),
        Keep::Always("encoding"),
        Keep::Always("magic"),
        Keep::Always("size"),
    ];
    type Request = Request;
    type Response = Response;

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path("path", &request.path)?;
        let entry = zone.entry(&path)?;
        if entry.kind() == Kind::Directory {
            let response = Response {
                path: path.display().to_owned(),
                r#type: "directory",
                mime: "inode/directory".to_owned(),
                ..Response::default()
            };
            return Ok(Reply::new(response, format!("{path} is a directory")));
        }
        let mut file = entry.open().map_err(|error| zone.explain_disk(error))?;
        let found = DetectedType::of(&mut file, &path)?;
        let size = entry.size();
        let message = format!("{path} is {} ({})", found.mime, found.magic);
        let response = Response {
            path: path.as_str().to_owned(),
            r#type: "file",
            mime: found.mime,
            encoding: Some(found.encoding),
            magic: Some(found.magic),
            extension: Some(found.extension),
            size: Some(size),
            size_human: Some(human_size(size)),
        };
        Ok(Reply::new(response, message))
    }
}
