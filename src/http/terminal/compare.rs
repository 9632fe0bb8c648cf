//! `POST /files/compare`: how two files differ, for the view of the file browser.

use fileshed_core::comparison::Side;
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
        "hunks": comparison.hunks,
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
