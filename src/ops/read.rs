//! `shed_read`: a file as a model reads it: numbered lines, the text of a document, or a picture.

use fileshed_core::extraction::{document_text, may_be_document};
use fileshed_core::files::Numbered;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::storage::{DiskError, Entry};
use fileshed_core::text::Encoding;
use fileshed_core::{Hint, NextCall, Runs, Settings, Zone, ZonePath, at_once, diagnostics};

use super::arguments::{ArgumentError, at_least};
use super::prelude::*;
use super::{ImmediateRun, Picture};
use crate::content_type;

/// `shed_read`
pub struct Read;

/// What to read.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = AnyZone)]
    zone: String,
    /// In the zone
    path: String,
    /// First line, from 1
    #[schema(default = 1)]
    offset: Option<i64>,
    /// Most lines
    limit: Option<i64>,
    /// For zone group
    group: Option<String>,
}

/// The lines.
#[derive(Serialize, ToSchema)]
pub struct Response {
    /// Path of the file.
    path: String,
    /// The lines with their numbers: `     1→text`; empty where a picture is the answer.
    content: String,
    /// Lines of the whole file.
    total_lines: u64,
    /// The first line that is shown.
    start_line: u64,
    /// How many lines are shown.
    num_lines: u64,
    /// Whether the answer ends before what was asked for, because it would be too long.
    truncated: bool,
    /// Bytes of the file.
    file_size: u64,
    /// Its media type, by its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'static str>,
}

impl Operation for Read {
    const ID: &str = "shed_read";
    const SUMMARY: &str = "Read a file";
    const DOC: &str = "Read a text file as numbered lines, a PDF, DOCX, XLSX or PPTX as text, a picture as a picture. shed_read(zone=\"storage\", path=\"notes/todo.md\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[Code] = errors![
        ZONE_AND_PATH, EXISTING_FILE;
        FileTooLarge, UnsupportedFileType, InvalidFormat
    ];
    const EXAMPLES: &[&str] = &[
        r#"{"zone": "storage", "path": "notes/todo.md"}"#,
        r#"{"zone": "storage", "path": "notes/todo.md", "offset": 2, "limit": 1}"#,
    ];
    const SHORT_ANSWER: &[Keep] = &[
        Keep::Always("content"),
        Keep::Always("total_lines"),
        Keep::Unusual("truncated"),
    ];
    type Request = Request;
    type Response = Response;
    const AT_ONCE: Option<ImmediateRun<Self>> = Some(small_text);

    fn answer_max(settings: &Settings, _arguments: &Map<String, Value>) -> u64 {
        text_limit(settings)
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core
            .store
            .zone(caller, &request.zone, request.group.as_deref())?;
        let path = zone.path("path", &request.path)?;
        let first = line("offset", request.offset)?.unwrap_or(1);
        let limit = line("limit", request.limit)?.unwrap_or(u64::MAX);
        let entry = zone.entry(&path)?;
        let is_file = entry.expect_file();
        is_file.map_err(|error| zone.explain_disk(error))?;
        let (text, picture) = match document(&core.runs, &zone, &entry)? {
            Some(text) => (text, None),
            None => content(&zone, &entry)?,
        };
        let most = core.store.settings.output_of(caller.client) as usize;
        let shown = Numbered::of(&text, first, limit, most);
        Ok(reply(&path, entry.size(), (first, shown), picture))
    }
}

/// Bytes of the largest text that is read at once.
fn text_limit(settings: &Settings) -> u64 {
    settings.fs_text_limit_mb.saturating_mul(MEBIBYTE)
}

/// A small text that is in memory.
fn small_text(core: &Core, caller: &Caller, request: &Request) -> Option<Reply<Response>> {
    let zone = ZoneName::parse_parameter("zone", &request.zone).ok()?;
    let path = ZonePath::parse("path", &request.path).ok()?;
    let first = line("offset", request.offset).ok()?.unwrap_or(1);
    let limit = line("limit", request.limit).ok()?.unwrap_or(u64::MAX);
    if request.group.is_some() || path.name().is_none_or(may_be_document) {
        return None;
    }
    let file = at_once::file_at_once(&core.store, caller, zone, &path)?;
    if file.stamp.size() > text_limit(&core.store.settings) {
        return None;
    }
    let text = Encoding::text_of(&file.bytes)?;
    let most = core.store.settings.output_of(caller.client) as usize;
    let shown = Numbered::of(&text, first, limit, most);
    Some(reply(&path, file.stamp.size(), (first, shown), None))
}

/// The answer of a file of so many bytes, of which these lines are shown.
fn reply(
    path: &ZonePath,
    size: u64,
    (first, shown): (u64, Numbered),
    picture: Option<Picture>,
) -> Reply<Response> {
    let message = match (&picture, shown.count) {
        (Some(_), _) => format!("{path} is a picture of {size} bytes"),
        (None, 0) => format!("{path} has {} lines", shown.total),
        (None, count) => format!(
            "Lines {first} to {} of {} of {path}",
            first + count - 1,
            shown.total
        ),
    };
    let more = shown.truncated.then(|| {
        let next = first + shown.count;
        format!("more with offset={next}")
    });
    let reply = Reply::new(
        Response {
            path: path.as_str().to_owned(),
            total_lines: shown.total,
            start_line: first,
            num_lines: shown.count,
            truncated: shown.truncated,
            content: shown.content,
            file_size: size,
            mime_type: content_type::by_name(path.name().unwrap_or_default()),
        },
        message,
    );
    Reply { picture, ..reply }.noting(more)
}

fn line(parameter: &'static str, value: Option<i64>) -> Result<Option<u64>, ArgumentError> {
    at_least(parameter, value, 1, "1 or more")
}

/// The text of a document; `None` for a file that is none.
pub(crate) fn document(
    runs: &Runs,
    zone: &Zone<'_>,
    entry: &Entry,
) -> Result<Option<String>, Error> {
    Ok(document_text(runs, zone, entry)?.map(|document| {
        if document.truncated {
            document.text + "\n[cut here: the document has more text]\n"
        } else {
            document.text
        }
    }))
}

/// The text of a file, or the picture that it is.
fn content(zone: &Zone<'_>, entry: &Entry) -> Result<(String, Option<Picture>), Error> {
    let path = entry.path().as_str().to_owned();
    let limit = zone.text_limit();
    if entry.size() > limit {
        let size = entry.size();
        return Err(zone.explain(ReadError::TooLarge { path, size, limit }.into()));
    }
    let bytes = entry
        .content()
        .map_err(|error: DiskError| zone.explain_disk(error))?;
    if let Some(text) = Encoding::text_of(&bytes) {
        return Ok((text.into_owned(), None));
    }
    let kind = content_type::by_name(entry.path().name().unwrap_or_default());
    match kind.filter(|kind| content_type::is_picture(kind)) {
        Some(mime_type) => {
            let mime_type = mime_type.into();
            Ok((String::new(), Some(Picture { mime_type, bytes })))
        }
        None => Err(zone.explain(
            ReadError::Binary {
                path,
                kind: kind.unwrap_or(content_type::BYTES),
            }
            .into(),
        )),
    }
}

diagnostics! {
    /// A file that is not read as text.
    #[derive(Debug, thiserror::Error)]
    enum ReadError {
        /// Neither text nor anything that a model can see.
        #[error("`{path}` is no text: {kind}")]
        Binary {
            path: String = "a.zip".to_owned(),
            kind: &'static str = "application/zip",
        } => {
            code: UnsupportedFileType,
            hint: Hint::from(NextCall::here("shed_file_type").with("path", path.as_str()))
                .say(" tells what it is, ")
                .call(NextCall::here("shed_hexdump").with("path", path.as_str()))
                .say(" shows its bytes")
                .instead("read it with a command of shed_exec"),
            details: { "path": path, "content_type": kind },
        },
        /// More than is held at once.
        #[error("`{path}` has {size} bytes, a text that is read may have {limit}")]
        TooLarge {
            path: String = "all.log".to_owned(),
            size: u64 = 60_000_000,
            limit: u64 = 10_485_760,
        } => {
            code: FileTooLarge,
            hint: "read a part of it with shed_exec, with `sed -n` or `head`",
            details: { "path": path, "size_bytes": size, "limit_bytes": limit },
        },
    }
}
