//! `POST /files/compare`: how two files differ, for the view of the file browser.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::comparison::Side;
use fileshed_core::text::{ComparedLine, Hunk, Segment};
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `POST /files/compare`
pub(in crate::http::terminal) struct CompareFiles;

/// What `compare_files` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// The file as it was.
    original: String,
    /// The file as it is.
    revised: String,
    /// Whether blanks count; default false.
    ignore_whitespace: Option<bool>,
}

/// How they differ.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    original: ComparedFile,
    revised: ComparedFile,
    additions: usize,
    deletions: usize,
    hunks: Vec<ShownHunk>,
}

/// A file that was compared.
#[derive(Serialize)]
struct ComparedFile {
    path: String,
    name: String,
    notices: Vec<&'static str>,
}

/// Lines that differ, and some around them.
#[derive(Serialize)]
struct ShownHunk {
    header: String,
    lines: Vec<Line>,
}

/// A line of a hunk.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    r#type: &'static str,
    old_number: Option<usize>,
    new_number: Option<usize>,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    revised_content: Option<String>,
    segments: Vec<ShownSegment>,
}

/// A part of a line.
#[derive(Serialize)]
struct ShownSegment {
    text: String,
    changed: bool,
}

impl Endpoint for CompareFiles {
    const ID: &'static str = "compare_files";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/compare";
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let (original, old) = file(view, "original", &request.original)?;
        let (revised, new) = file(view, "revised", &request.revised)?;
        let comparison = old.against(&new, request.ignore_whitespace.unwrap_or(false));
        Ok(Response {
            original,
            revised,
            additions: comparison.additions,
            deletions: comparison.deletions,
            hunks: comparison.hunks.into_iter().map(hunk).collect(),
        })
    }
}

fn file(
    view: View<'_>,
    parameter: &'static str,
    text: &str,
) -> Result<(ComparedFile, Side), Error> {
    let found = view.resolve(parameter, text)?;
    let side = Side::read(&found.zone, &found.file()?)?;
    let path = &found.at;
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    let file = ComparedFile {
        name: name.to_owned(),
        path: path.as_str().to_owned(),
        notices: side.notices.clone(),
    };
    Ok((file, side))
}

fn hunk(hunk: Hunk) -> ShownHunk {
    ShownHunk {
        header: hunk.header,
        lines: hunk.lines.into_iter().map(line).collect(),
    }
}

fn line(line: ComparedLine) -> Line {
    Line {
        r#type: match (line.old_number, line.new_number) {
            (Some(_), Some(_)) => "context",
            (Some(_), None) => "removed",
            (None, _) => "added",
        },
        old_number: line.old_number,
        new_number: line.new_number,
        content: line.content,
        revised_content: line.revised,
        segments: line.segments.into_iter().map(segment).collect(),
    }
}

fn segment(segment: Segment) -> ShownSegment {
    ShownSegment {
        text: segment.text,
        changed: segment.changed,
    }
}
