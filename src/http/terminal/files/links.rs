//! `POST /files/upload/link` and `GET /files/download/link`: addresses that anybody may open for a
//! few minutes.

use std::time::Duration;

use axum::http::Method;
use fileshed_core::link::Purpose;
use fileshed_core::view::View;
use fileshed_core::{Error, Timings};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::upload::to_fill;
use crate::http::terminal::endpoint::Endpoint;

/// How long a link works.
const AGE: Duration = Timings::STANDARD.http.terminal_link;

/// Where the link leads.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    url: String,
}

/// `POST /files/upload/link`
pub(in crate::http::terminal) struct UploadLink;

/// Where files go.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Directory {
    /// Directory that gets them.
    directory: String,
}

impl Endpoint for UploadLink {
    const ID: &'static str = "create_upload_link";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/upload/link";
    const CHANGES: bool = true;
    type Request = Directory;
    type Response = Response;

    fn run(view: View<'_>, request: Directory) -> Result<Response, Error> {
        let found = to_fill(view, &request.directory)?;
        let links = view.store.links();
        let link = links.create_for(&found.zone, &found.path, Purpose::Upload, AGE);
        let url = link.map_err(|error| found.explain(error))?.url;
        Ok(Response { url })
    }
}

/// `GET /files/download/link`
pub(in crate::http::terminal) struct DownloadLink;

/// What is fetched.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct File {
    /// File to fetch.
    path: String,
}

impl Endpoint for DownloadLink {
    const ID: &'static str = "create_download_link";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/download/link";
    const CHANGES: bool = true;
    type Request = File;
    type Response = Response;

    fn run(view: View<'_>, request: File) -> Result<Response, Error> {
        let found = view.resolve("path", &request.path)?;
        found.file()?;
        let links = view.store.links();
        let link = links.create_for(&found.zone, &found.path, Purpose::Download, AGE);
        let url = link.map_err(|error| found.explain(error))?.url;
        Ok(Response { url })
    }
}
