//! `POST /files/mkdir`: make a directory, with those above it.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `POST /files/mkdir`
pub(in crate::http::terminal) struct MakeDirectory;

/// The directory.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Directory to make; one that is there stays as it is.
    path: String,
}

/// What is there now.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    path: String,
}

impl Endpoint for MakeDirectory {
    const ID: &'static str = "mkdir";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/mkdir";
    const CHANGES: bool = true;
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let target = view.resolve_to_change("path", &request.path)?;
        target.explained(|| target.zone.make_directory("path", &target.path, Self::ID))?;
        let path = target.at.as_str().to_owned();
        Ok(Response { path })
    }
}
