//! `GET /files/display`: say which file the client is to show.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::view::{View, ViewPlace};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `GET /files/display`
pub(in crate::http::terminal) struct DisplayFile;

/// The file.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// File to show.
    path: String,
}

/// Where it is, and whether it is there.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    path: String,
    exists: bool,
}

impl Endpoint for DisplayFile {
    const ID: &'static str = "display_file";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/display";
    const DOC: &'static str =
        "Show a file to the user in their viewer. You do not see it: read_file does that.";
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let path = view.path("path", &request.path)?;
        let exists = matches!(path.place(), ViewPlace::Zone(..) | ViewPlace::Logs(_))
            && view
                .resolve("path", path.as_str())
                .and_then(|found| found.file())
                .is_ok();
        let path = path.as_str().to_owned();
        Ok(Response { path, exists })
    }
}
