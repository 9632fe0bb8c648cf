//! `GET /files/read`: the text of a file, or of some of its lines; pictures as they are.

use std::io::Read as _;

use fileshed_core::extraction::recognised_text;
use fileshed_core::storage::{DiskError, Entry};
use fileshed_core::text::{Encoding, LineRange, SelectedLines};
use fileshed_core::view::{Resolved, ViewPath};
use fileshed_core::{CallerView, Code, Error, Hint, NextCall, at_once, diagnostics};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::content_type;
use crate::http::files::download::FileDownload;
use crate::http::tool::ToolContent;
use crate::ops::read::saved_otherwise;

/// Most bytes of a file that is returned unchanged.
const RAW_MAX: u64 = 20 * 1024 * 1024;

/// File to read.
#[derive(Deserialize, ToSchema)]
pub(super) struct Request {
    /// File to read.
    path: String,
    /// First line, from 1.
    start_line: Option<i64>,
    /// Last line.
    end_line: Option<i64>,
    /// Return the raw bytes.
    #[serde(default)]
    force_binary: bool,
}

/// Lines of a text.
#[derive(Serialize)]
struct TextLines {
    path: String,
    total_lines: u64,
    content: String,
}

/// `GET /files/read`
pub(super) fn read(view: CallerView<'_>, request: &Request) -> Result<ToolContent, Error> {
    let settings = &view.core.store.settings;
    let limit = settings.max_output_absolute;
    let range = line_range(request, limit)?;
    let file = view.resolve("path", &request.path)?;
    let entry = file.file()?;
    if request.force_binary {
        return raw(&file, &entry);
    }
    let kind = kind(&entry);
    let mut prefixes = settings.terminal_binary_mime_prefixes.iter();
    let is_sent_raw = prefixes.any(|prefix| prefix.is_of(kind));
    let document = match recognised_text(&view.core.runs, &file.zone, &entry) {
        // No program here reads it.
        Err(error) if error.code() == Code::UnsupportedFileType && is_sent_raw => {
            return raw(&file, &entry);
        }
        document => document.map_err(|error| file.explain(error))?,
    };
    let lines = match document {
        Some(document) => Some(range.of(&document.shown())),
        None => text_of(&file, &entry, &range)?,
    };
    if let Some(lines) = lines {
        return match lines.rest {
            Some(_) => Err(too_large(&file, entry.size(), limit)),
            None => Ok(answer(&file.at, lines)),
        };
    }
    if is_sent_raw {
        return raw(&file, &entry);
    }
    Err(FileReadError::Unsupported {
        path: file.at.as_str().to_owned(),
        kind,
        size: entry.size(),
    }
    .into())
}

/// A small text that is in memory.
pub(super) fn read_at_once(view: CallerView<'_>, request: &Request) -> Option<ToolContent> {
    let limit = view.core.store.settings.max_output_absolute;
    let range = line_range(request, limit).ok()?;
    if request.force_binary {
        return None;
    }
    let (at, file) = at_once::view_file_at_once(&view, &request.path)?;
    if file.stamp.size() > limit {
        return None;
    }
    let text = Encoding::text_of(&file.bytes)?;
    Some(answer(&at, range.of(&text)))
}

fn line_range(request: &Request, limit: u64) -> Result<LineRange, FileReadError> {
    let number = |parameter, line: Option<i64>| match line {
        Some(value) if value < 1 => Err(FileReadError::Line { parameter, value }),
        line => Ok(line.map(i64::unsigned_abs)),
    };
    Ok(LineRange {
        first: number("start_line", request.start_line)?.unwrap_or(1),
        last: number("end_line", request.end_line)?.unwrap_or(u64::MAX),
        column: 1,
        most: limit as usize,
        numbered: false,
    })
}

fn answer(at: &ViewPath, lines: SelectedLines) -> ToolContent {
    ToolContent::data(TextLines {
        path: at.as_str().to_owned(),
        total_lines: lines.total,
        content: lines.content,
    })
}

/// The type of a file by its name.
fn kind(entry: &Entry) -> &'static str {
    let name = entry.path().name().unwrap_or_default();
    content_type::by_name(name).unwrap_or(content_type::BYTES)
}

/// A file as it is.
fn raw(file: &Resolved<'_>, entry: &Entry) -> Result<ToolContent, Error> {
    if entry.size() > RAW_MAX {
        return Err(too_large(file, entry.size(), RAW_MAX));
    }
    file.explained(|| FileDownload::open(entry))
        .map(ToolContent::File)
}

/// Returns the lines of a text; `None` if the file is not text.
fn text_of(
    file: &Resolved<'_>,
    entry: &Entry,
    range: &LineRange,
) -> Result<Option<SelectedLines>, Error> {
    let fail = |error| file.explain(DiskError::of("read", entry.path(), error).into());
    let mut source = entry.open().map_err(|error| file.explain(error.into()))?;
    let encoding = Encoding::of_file(&mut source).map_err(fail)?;
    let size = entry.size();
    if size > 0 && !encoding.is_text() {
        return Ok(None);
    }
    if range.is_whole() && size > range.most as u64 {
        return Err(too_large(file, size, range.most as u64));
    }
    // Not more than it had, should it grow meanwhile.
    let lines = range.read(&mut source.take(size), encoding);
    lines.map(Some).map_err(fail)
}

fn too_large(file: &Resolved<'_>, size: u64, limit: u64) -> Error {
    FileReadError::TooLarge {
        path: file.at.as_str().to_owned(),
        size,
        limit,
    }
    .into()
}

diagnostics! {
    /// A file that cannot be read as it was asked for.
    #[derive(Debug, thiserror::Error)]
    enum FileReadError {
        /// Neither text nor anything that a model can see.
        #[error("`{path}` is not text: {kind}, {size} bytes")]
        Unsupported {
            path: String = "/storage/a.zip".to_owned(),
            kind: &'static str = "application/zip",
            size: u64,
        } => {
            code: UnsupportedFileType,
            hint: saved_otherwise(
                path,
                Hint::from(NextCall::new("display_file").with("path", path.as_str()))
                    .say(" shows it to the user")
                    .or("run_command reads it with a program"),
            ),
            details: { "path": path, "content_type": kind, "size_bytes": size },
        },
        /// More than an answer holds.
        #[error("`{path}` is too large for an answer: it has {size} bytes, the limit is {limit}")]
        TooLarge {
            path: String = "/storage/all.log".to_owned(),
            size: u64 = 60_000_000,
            limit: u64 = 5_000_000,
        } => {
            code: FileTooLarge,
            hint: Hint::new("read some lines: ").call(
                NextCall::new("read_file")
                    .with("path", path.as_str())
                    .with("start_line", 1)
                    .with("end_line", 500),
            ),
            details: { "path": path, "size_bytes": size, "limit_bytes": limit },
        },
        /// Lines count from 1.
        #[error("`{parameter}` is {value}, but lines count from 1")]
        Line {
            parameter: &'static str = "start_line",
            value: i64 = 0,
        } => {
            code: InvalidParameter,
            hint: "the first line is 1; leave it out to begin there",
            details: { "parameter": parameter },
        },
    }
}
