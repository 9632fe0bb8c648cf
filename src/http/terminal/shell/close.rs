//! `DELETE /api/terminals/{session_id}`: ends a shell of the caller.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// `DELETE /api/terminals/{session_id}`
pub(in crate::http::terminal) struct CloseShell;

/// What `delete_terminal` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Its id.
    session_id: String,
}

/// That it is gone.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    status: &'static str,
}

impl Endpoint for CloseShell {
    const ID: &'static str = "delete_terminal";
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/api/terminals/{session_id}";
    const CHANGES: bool = true;
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        view.close_shell(&request.session_id)?;
        Ok(Response { status: "deleted" })
    }
}
