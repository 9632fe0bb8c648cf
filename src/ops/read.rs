//! `shed_read`: a file as a model reads it: numbered lines, the text of a document, or a picture.

use fileshed_core::extraction::{may_be_document, page_picture, recognised_text};
use std::fmt::Write as _;
use std::io::{Read as _, Seek as _, SeekFrom};

use fileshed_core::settings::MEBIBYTE;
use fileshed_core::storage::{DiskError, Entry};
use fileshed_core::text::{ContentFormat, Encoding, LineRequest, SelectedLines, count_lines};
use fileshed_core::{Hint, NextCall, Runs, Settings, Zone, ZonePath, at_once, diagnostics};

use super::arguments::{ArgumentError, at_least, not_negative};
use super::prelude::*;
use super::{ImmediateRun, Picture};
use crate::content_type;

/// Most files that one call reads.
const FILES: usize = 50;

/// `shed_read`
pub struct Read;

/// The files.
#[derive(Deserialize, ToSchema)]
pub struct Request {
    /// Its zone
    #[schema(value_type = AnyZone)]
    zone: String,
    /// In the zone
    path: String,
    /// More files
    #[serde(default)]
    paths: Vec<String>,
    /// First line, from 1; -9: the last 9
    #[schema(default = 1)]
    offset: Option<i64>,
    /// Max lines
    limit: Option<i64>,
    /// First character of the first line
    column: Option<i64>,
    /// Page of a PDF as an image
    page: Option<i64>,
    /// Bytes: offset from 0 and limit count them
    #[schema(value_type = Option<ByteEncoding>)]
    encoding: Option<String>,
    /// For zone group
    group: Option<String>,
}

/// The form in which bytes are written.
#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
#[expect(dead_code, reason = "it is a schema: `ContentFormat` reads it")]
enum ByteEncoding {
    Hex,
    Base64,
}

/// The lines.
#[derive(Default, Serialize, ToSchema)]
pub struct Response {
    /// Path of the file.
    path: String,
    /// The lines with their numbers: `     1→text`, or the bytes; empty where a picture is the answer.
    content: String,
    /// Lines of the whole file.
    total_lines: u64,
    /// The first line that is shown.
    start_line: u64,
    /// The number of lines that are shown.
    num_lines: u64,
    /// `true` if the answer was cut, because it would be too long.
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
    const DOC: &str = "Read a text file as numbered lines, a PDF, DOCX, XLSX or PPTX as text, a picture as a picture. shed_read(zone=\"storage\", path=\"a.md\")";
    const CORE: bool = true;
    const EFFECT: Effect = Effect::READS;
    const ERRORS: &[&[Code]] = errors![
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

    fn prepare(arguments: &mut Map<String, Value>) {
        let list = |name: &str| arguments.get(name).and_then(Value::as_array).cloned();
        let mut paths = list("path").unwrap_or_default();
        if paths.len() < 2 && arguments.contains_key("path") {
            return;
        }
        paths.extend(list("paths").unwrap_or_default());
        if let [first, others @ ..] = paths.as_slice() {
            arguments.insert("path".to_owned(), first.clone());
            arguments.insert("paths".to_owned(), others.into());
        }
    }

    fn run(core: &Core, caller: &Caller, request: Request) -> Result<Reply<Response>, Error> {
        let zone = core.zone(caller, &request.zone, request.group.as_deref())?;
        let most = core.store.settings.output_of(caller.client) as usize;
        if let Some(encoding) = &request.encoding {
            let format = ContentFormat::of_bytes(encoding)?;
            return bytes(&zone, &request, most, format);
        }
        let reader = Reader {
            runs: &core.runs,
            zone: &zone,
            lines: lines_of(&request)?,
        };
        if request.paths.len() >= FILES {
            return Err(ArgumentError::Range {
                parameter: "paths",
                received: request.paths.len() as i64,
                range: "fewer than 50 files",
            }
            .into());
        }
        if !request.paths.is_empty() {
            return reader.several(request, most);
        }
        let page = at_least("page", request.page, 1, "1 or more")?;
        let file = reader.file("path", &request.path, page, most)?;
        let (message, more) = (file.message(), file.more());
        let (scanned, picture) = (file.scanned, file.picture);
        let reply = Reply::new(file.response, message)
            .noting(scanned)
            .noting(more);
        Ok(Reply { picture, ..reply })
    }
}

/// The lines that a call asks for.
fn lines_of(request: &Request) -> Result<LineRequest, ArgumentError> {
    let number = |parameter, value| at_least(parameter, value, 1, "1 or more");
    if request.offset == Some(0) {
        return Err(ArgumentError::Range {
            parameter: "offset",
            received: 0,
            range: "1 or more, or negative to count from the end",
        });
    }
    Ok(LineRequest {
        offset: request.offset.unwrap_or(1),
        limit: number("limit", request.limit)?.unwrap_or(u64::MAX),
        column: number("column", request.column)?.unwrap_or(1),
    })
}

/// A small text that is in memory.
fn small_text(core: &Core, caller: &Caller, request: &Request) -> Option<Reply<Response>> {
    let zone = ZoneName::parse_parameter("zone", &request.zone).ok()?;
    let path = ZonePath::parse("path", &request.path).ok()?;
    let lines = lines_of(request).ok()?;
    let is_one = request.paths.is_empty() && request.group.is_none();
    let is_plain = request.page.is_none() && request.encoding.is_none();
    if !is_one || !is_plain || path.name().is_none_or(may_be_document) {
        return None;
    }
    let file = at_once::file_at_once(&core.store, caller, zone, &path)?;
    if file.stamp.size() > text_limit(&core.store.settings) {
        return None;
    }
    let text = Encoding::text_of(&file.bytes)?;
    let most = core.store.settings.output_of(caller.client) as usize;
    let file = ShownFile::text(&path, file.stamp.size(), &lines.of(&text, most));
    let (message, more) = (file.message(), file.more());
    Some(Reply::new(file.response, message).noting(more))
}

/// A file that was read.
struct ShownFile {
    response: Response,
    /// The line and the character at which the rest begins.
    rest: Option<(u64, u64)>,
    picture: Option<Picture>,
    /// The page that the picture shows.
    page: Option<u64>,
    /// The hint for a page without text.
    scanned: Option<Hint>,
}

impl ShownFile {
    fn text(path: &ZonePath, size: u64, lines: &SelectedLines) -> Self {
        Self {
            response: Response {
                path: path.as_str().to_owned(),
                content: lines.numbered(),
                total_lines: lines.total,
                start_line: lines.first,
                num_lines: lines.count(),
                truncated: lines.rest.is_some(),
                file_size: size,
                mime_type: content_type::by_name(path.name().unwrap_or_default()),
            },
            rest: lines.rest,
            picture: None,
            page: None,
            scanned: None,
        }
    }

    fn picture(path: &ZonePath, size: u64, picture: Picture) -> Self {
        let nothing = SelectedLines {
            first: 1,
            ..SelectedLines::default()
        };
        Self {
            picture: Some(picture),
            ..Self::text(path, size, &nothing)
        }
    }

    fn message(&self) -> String {
        let Response {
            path,
            total_lines,
            start_line,
            num_lines,
            file_size,
            ..
        } = &self.response;
        if let Some(page) = self.page {
            return format!("Page {page} of {path} as an image");
        }
        match (&self.picture, num_lines) {
            (Some(_), _) => format!("{path} is a picture of {file_size} bytes"),
            (None, 0) => format!("{path} has {total_lines} lines"),
            (None, count) => format!(
                "Lines {start_line} to {} of {total_lines} of {path}",
                start_line + count - 1
            ),
        }
    }

    /// The parameters that read the rest.
    fn more(&self) -> Option<String> {
        self.rest.map(|rest| match rest {
            (line, 1) => format!("more with offset={line}"),
            (line, column) => format!("more with offset={line}, column={column}"),
        })
    }
}

/// The zone that files are read from, and what of them.
struct Reader<'a> {
    runs: &'a Runs,
    zone: &'a Zone<'a>,
    lines: LineRequest,
}

impl Reader<'_> {
    /// Several files one after the other, each below a line with its name and with its share of the
    /// answer. One that cannot be read says why in its place, unless none can.
    fn several(&self, request: Request, most: usize) -> Result<Reply<Response>, Error> {
        let mut data = Response::default();
        let (mut notes, mut failures) = (Vec::new(), Vec::new());
        let first = std::iter::once(("path", request.path));
        let others = request.paths.into_iter().map(|path| ("paths", path));
        let files: Vec<_> = first.chain(others).collect();
        let count = files.len();
        for (index, (parameter, name)) in files.iter().enumerate() {
            let share = most.saturating_sub(data.content.len()) / (count - index);
            let text = match self.file(parameter, name, None, share) {
                Ok(file) => {
                    let more = file.more();
                    notes.extend(more.map(|more| format!("{more} of {name}")));
                    data.total_lines += file.response.total_lines;
                    data.num_lines += file.response.num_lines;
                    data.file_size += file.response.file_size;
                    data.truncated |= file.response.truncated;
                    match file.picture {
                        Some(_) => format!("[{}: read it alone]", file.message()),
                        None => file.response.content,
                    }
                }
                Err(error) => {
                    let text = format!("[{}]", error.message());
                    failures.push(error);
                    text
                }
            };
            let between = if index == 0 { "" } else { "\n\n" };
            let _written = write!(data.content, "{between}==> {name} <==\n{text}");
        }
        if failures.len() == count
            && let Some(error) = failures.pop()
        {
            return Err(error);
        }
        let names: Vec<&str> = files.iter().map(|(_, name)| name.as_str()).collect();
        data.path = names.join(", ");
        data.start_line = 1;
        let failed = match failures.len() {
            0 => String::new(),
            failed => format!(", {failed} of which cannot be read"),
        };
        let message = format!("{} lines of {count} files{failed}", data.num_lines);
        Ok(Reply::new(data, message).noting(notes))
    }

    /// Reads a file, or as a picture a page of it.
    fn file(
        &self,
        parameter: &'static str,
        path: &str,
        page: Option<u64>,
        most: usize,
    ) -> Result<ShownFile, Error> {
        let path = self.zone.path(parameter, path)?;
        let entry = self.zone.entry(&path)?;
        let is_file = entry.expect_file();
        is_file.map_err(|error| self.zone.explain_disk(error))?;
        let size = entry.size();
        if let Some(page) = page {
            let picture = Picture {
                mime_type: "image/jpeg".into(),
                bytes: page_picture(self.runs, self.zone, &entry, page)?,
            };
            let mut file = ShownFile::picture(&path, size, picture);
            file.response.mime_type = Some("image/jpeg");
            return Ok(ShownFile {
                page: Some(page),
                ..file
            });
        }
        if let Some(document) = recognised_text(self.runs, self.zone, &entry)? {
            let page = document.page_without_text;
            let lines = self.lines.of(&document.shown(), most);
            return Ok(ShownFile {
                scanned: page.map(|page| as_picture(self.runs, self.zone, &path, page)),
                ..ShownFile::text(&path, size, &lines)
            });
        }
        if size > self.zone.text_limit() {
            let lines = self.long_text(&entry, most)?;
            return Ok(ShownFile::text(&path, size, &lines));
        }
        let bytes = entry
            .content()
            .map_err(|error| self.zone.explain_disk(error))?;
        let Some(text) = Encoding::text_of(&bytes) else {
            let mime_type = self.picture_type(&entry)?.into();
            let picture = Picture { mime_type, bytes };
            return Ok(ShownFile::picture(&path, size, picture));
        };
        let lines = self.lines.of(&text, most);
        Ok(ShownFile::text(&path, size, &lines))
    }

    /// Lines of a text that is too long to be held.
    fn long_text(&self, entry: &Entry, most: usize) -> Result<SelectedLines, Error> {
        let fail = |error| {
            let error = DiskError::of("read", entry.path(), error);
            self.zone.explain_disk(error)
        };
        let mut file = entry
            .open()
            .map_err(|error| self.zone.explain_disk(error))?;
        let encoding = Encoding::of_file(&mut file).map_err(fail)?;
        if !encoding.is_text() {
            self.picture_type(entry)?;
            let path = entry.path().as_str().to_owned();
            let (size, limit) = (entry.size(), self.zone.text_limit());
            return Err(self
                .zone
                .explain(ReadError::TooLarge { path, size, limit }.into()));
        }
        // Not more than it had, should it grow meanwhile.
        let size = entry.size();
        let count = || {
            let count = count_lines(&mut (&mut file).take(size), encoding.clone())?;
            file.rewind().map(|()| count)
        };
        let range = self.lines.range(most, count).map_err(fail)?;
        range.read(&mut file.take(size), encoding).map_err(fail)
    }

    /// The type of a file that is a picture.
    fn picture_type(&self, entry: &Entry) -> Result<&'static str, Error> {
        let kind = content_type::by_name(entry.path().name().unwrap_or_default());
        kind.filter(|kind| content_type::is_picture(kind))
            .ok_or_else(|| {
                let path = entry.path().as_str().to_owned();
                let kind = kind.unwrap_or(content_type::BYTES);
                self.zone.explain(ReadError::Binary { path, kind }.into())
            })
    }
}

/// Bytes of the largest text that is read at once.
fn text_limit(settings: &Settings) -> u64 {
    settings.fs_text_limit_mb.saturating_mul(MEBIBYTE)
}

/// The hint for a page without text, which is probably a scan.
fn as_picture(runs: &Runs, zone: &Zone<'_>, path: &ZonePath, page: u64) -> Hint {
    let see = NextCall::here("shed_read")
        .with("path", path.as_str())
        .with("page", page);
    let hint = Hint::new(format!("page {page} has no text and may be a scan; "))
        .call(see)
        .say(" shows it as an image");
    if zone.name == ZoneName::Uploads || !runs.programs.has("ocrmypdf") {
        return hint;
    }
    let arguments = vec![path.as_str(), "with-text.pdf"];
    let recognise = NextCall::here("shed_exec")
        .with("cmd", "ocrmypdf")
        .with("args", arguments);
    hint.or("").call(recognise).say(" gives all pages text")
}

/// Bytes of a file as digits.
fn bytes(
    zone: &Zone<'_>,
    request: &Request,
    most: usize,
    format: ContentFormat,
) -> Result<Reply<Response>, Error> {
    let first = not_negative("offset", request.offset)?.unwrap_or(0);
    let asked = at_least("limit", request.limit, 1, "1 or more")?.unwrap_or(u64::MAX);
    // Two digits a byte, or four for three.
    let limit = asked.min(most as u64 / 2);
    let path = &zone.path("path", &request.path)?;
    let entry = zone.entry(path)?;
    let mut file = entry.open().map_err(|error| zone.explain_disk(error))?;
    let (mut bytes, size) = (Vec::new(), entry.size());
    let read = file
        .seek(SeekFrom::Start(first.min(size)))
        .and_then(|_| file.take(limit).read_to_end(&mut bytes));
    read.map_err(|error| zone.explain_disk(DiskError::of("read", path, error)))?;
    let count = bytes.len() as u64;
    let next = first.saturating_add(count);
    let truncated = count < asked && next < size;
    let name = format.as_str();
    let message = format!("{count} bytes from {first} of {size} bytes of {path}, as {name}");
    let more = truncated.then(|| format!("more with offset={next}"));
    let data = Response {
        path: path.as_str().to_owned(),
        content: format.encode(&bytes),
        total_lines: 0,
        start_line: 0,
        num_lines: 0,
        truncated,
        file_size: size,
        mime_type: content_type::by_name(path.name().unwrap_or_default()),
    };
    Ok(Reply::new(data, message).noting(more))
}

/// A hint for a file that is no text; for a document of an old format first what has its text.
pub(crate) fn saved_otherwise(path: &str, hint: Hint) -> Hint {
    let end = path.rsplit('.').next().unwrap_or_default();
    let format = match end.to_ascii_lowercase().as_str() {
        "msg" => ".eml",
        "doc" | "pages" => ".docx",
        "ppt" | "key" => ".pptx",
        "numbers" => ".xlsx",
        _ => return hint,
    };
    Hint::new(format!(
        "tell the user to save it as {format} or PDF, and to upload that"
    ))
}

diagnostics! {
    /// A file that is not read as text.
    #[derive(Debug, thiserror::Error)]
    enum ReadError {
        /// Neither text nor anything that a model can see.
        #[error("`{path}` is not text: {kind}")]
        Binary {
            path: String = "a.zip".to_owned(),
            kind: &'static str = "application/zip",
        } => {
            code: UnsupportedFileType,
            hint: saved_otherwise(
                path,
                Hint::from(NextCall::here("shed_file_type").with("path", path.as_str()))
                    .say(" shows its format, ")
                    .call(NextCall::here("shed_hexdump").with("path", path.as_str()))
                    .say(" shows its bytes")
                    .instead("read it with a command of shed_exec"),
            ),
            details: { "path": path, "content_type": kind },
        },
        /// More than is held at once.
        #[error("`{path}` has {size} bytes; the limit for pictures is {limit}")]
        TooLarge {
            path: String = "all.png".to_owned(),
            size: u64 = 60_000_000,
            limit: u64 = 10_485_760,
        } => {
            code: FileTooLarge,
            hint: "make a smaller one with shed_exec, with `convert` and `-resize`",
            details: { "path": path, "size_bytes": size, "limit_bytes": limit },
        },
    }
}
