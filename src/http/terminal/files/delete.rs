//! `DELETE /files/delete`: remove a file or a directory with everything in it.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::storage::Kind;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `DELETE /files/delete`
pub(in crate::http::terminal) struct DeleteEntry;

/// What to remove.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// File or directory.
    path: String,
}

/// What was removed.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    path: String,
    r#type: &'static str,
}

impl Endpoint for DeleteEntry {
    const ID: &'static str = "delete_entry";
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/files/delete";
    const CHANGES: bool = true;
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let target = view.resolve_to_change("path", &request.path)?;
        let entry = target.remove(Self::ID)?;
        let r#type = match entry.kind() {
            Kind::Directory => "directory",
            _ => "file",
        };
        Ok(Response {
            path: target.at.as_str().to_owned(),
            r#type,
        })
    }
}
