//! `GET /api/terminals/user/output`: what the user's shell shows, for a model that helps there.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `GET /api/terminals/user/output`
pub(in crate::http::terminal) struct ReadUserShell;

/// What `read_user_terminal` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {}

/// The end of what it shows.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    output: String,
}

impl Endpoint for ReadUserShell {
    const ID: &'static str = "read_user_terminal";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/api/terminals/user/output";
    const DOC: &'static str = "Read the recent output of the user's open shell.";
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, _: Request) -> Result<Response, Error> {
        Ok(Response {
            output: view.read_user_shell()?,
        })
    }
}
