//! `POST /files/compare`: how two files differ, for the view of the file browser.

use fileshed_core::comparison::Side;
use fileshed_core::text::{ComparedLine, Hunk};
use fileshed_core::{CallerView, Error};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// What `compare_files` takes.
#[derive(Deserialize, ToSchema)]
pub(super) struct Request {
    /// The file as it was.
    original: String,
    /// The file as it is.
    revised: String,
    /// Whether blanks count; default false.
    ignore_whitespace: Option<bool>,
}

/// `POST /files/compare`
pub(super) fn compare(view: CallerView<'_>, request: &Request) -> Result<Value, Error> {
    let (original, old) = file(view, "original", &request.original)?;
    let (revised, new) = file(view, "revised", &request.revised)?;
    let comparison = old.against(&new, request.ignore_whitespace.unwrap_or(false));
    Ok(json!({
        "original": original,
        "revised": revised,
        "additions": comparison.additions,
        "deletions": comparison.deletions,
        "hunks": comparison.hunks.into_iter().map(hunk).collect::<Value>(),
    }))
}

/// A file that is compared, as the answer names it, and its lines.
fn file(view: CallerView<'_>, parameter: &'static str, text: &str) -> Result<(Value, Side), Error> {
    let found = view.resolve(parameter, text)?;
    let side = Side::read(&view.core.runs, &found.zone, &found.file()?)?;
    let path = found.at.as_str();
    let name = path.rsplit('/').next().unwrap_or_default();
    let file = json!({"path": path, "name": name, "notices": side.notices});
    Ok((file, side))
}

/// Lines that differ, and some around them.
fn hunk(hunk: Hunk) -> Value {
    let lines = hunk.lines.into_iter().map(line);
    json!({"header": hunk.header, "lines": lines.collect::<Vec<Value>>()})
}

fn line(line: ComparedLine) -> Value {
    let kind = match (line.old_number, line.new_number) {
        (Some(_), Some(_)) => "context",
        (Some(_), None) => "removed",
        (None, _) => "added",
    };
    let segments = line.segments.into_iter();
    let segments = segments.map(|part| json!({"text": part.text, "changed": part.changed}));
    let mut shown = json!({
        "type": kind,
        "oldNumber": line.old_number,
        "newNumber": line.new_number,
        "content": line.content,
    });
    if let Some(revised) = line.revised {
        shown["revisedContent"] = revised.into();
    }
    shown["segments"] = segments.collect();
    shown
}
