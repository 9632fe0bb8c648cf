//! `POST /api/terminals/user/input`: types into the user's shell, for a model that helps there.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;
use crate::ops::Effect;

/// `POST /api/terminals/user/input`
pub(in crate::http::terminal) struct WriteUserShell;

/// What `send_user_terminal_input` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Literal text; a line needs its newline.
    input: String,
}

/// That it was typed.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    status: &'static str,
}

impl Endpoint for WriteUserShell {
    const ID: &'static str = "send_user_terminal_input";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/api/terminals/user/input";
    const DOC: &'static str = "Type into the user's open shell. Read it first: a program may be \
        running there. Does not wait for what the input does.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::CHANGES.outside();
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        view.write_user_shell(&request.input)?;
        Ok(Response { status: "ok" })
    }
}
