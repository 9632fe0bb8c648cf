//! `POST /files/upload/link` and `GET /files/download/link`: addresses that anybody may open for a
//! few minutes.

use std::time::Duration;

use fileshed_core::link::Purpose;
use fileshed_core::view::Resolved;
use fileshed_core::{CallerView, Error, Timings};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::upload::to_fill;

/// Lifetime of a link.
const AGE: Duration = Timings::STANDARD.http.terminal_link;

/// Where files go.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct UploadRequest {
    /// Directory that gets them.
    directory: String,
}

/// `POST /files/upload/link`
pub(in crate::http::terminal) fn upload(
    view: CallerView<'_>,
    request: &UploadRequest,
) -> Result<Value, Error> {
    let found = to_fill(view, &request.directory)?;
    link(view, &found, Purpose::Upload)
}

/// What is fetched.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct DownloadRequest {
    /// File to fetch.
    path: String,
}

/// `GET /files/download/link`
pub(in crate::http::terminal) fn download(
    view: CallerView<'_>,
    request: &DownloadRequest,
) -> Result<Value, Error> {
    let found = view.resolve("path", &request.path)?;
    found.file()?;
    link(view, &found, Purpose::Download)
}

fn link(view: CallerView<'_>, found: &Resolved<'_>, purpose: Purpose) -> Result<Value, Error> {
    let links = view.core.transfer.links();
    let link = links.create_for(&found.zone, &found.path, purpose, AGE);
    let url = link.map_err(|error| found.explain(error))?.url;
    Ok(json!({"url": url}))
}
