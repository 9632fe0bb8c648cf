//! `GET` and `POST /files/cwd`: the working directory of a conversation.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::view::{HOME, View};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `GET /files/cwd`
pub(in crate::http::terminal) struct GetDirectory;

/// Nothing.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Nothing {}

/// Where relative paths begin, and where they do at first.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Directories {
    cwd: String,
    home: &'static str,
}

impl Endpoint for GetDirectory {
    const ID: &'static str = "get_cwd";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/cwd";
    type Request = Nothing;
    type Response = Directories;

    fn run(view: View<'_>, _request: Nothing) -> Result<Directories, Error> {
        let cwd = view.existing_cwd()?.as_str().to_owned();
        Ok(Directories { cwd, home: HOME })
    }
}

/// `POST /files/cwd`
pub(in crate::http::terminal) struct SetDirectory;

/// The directory.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Directory to work in.
    path: String,
}

/// The directory, as an absolute path.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    cwd: String,
}

impl Endpoint for SetDirectory {
    const ID: &'static str = "set_cwd";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/files/cwd";
    const CHANGES: bool = true;
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let path = view.set_cwd("path", &request.path)?;
        let cwd = path.as_str().to_owned();
        Ok(Response { cwd })
    }
}
