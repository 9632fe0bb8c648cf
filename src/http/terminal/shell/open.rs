//! `POST /api/terminals`: a shell for the caller, or the one that was left in this chat.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use serde::Deserialize;
use utoipa::ToSchema;

use super::ShellAnswer;
use crate::http::terminal::endpoint::Endpoint;

/// `POST /api/terminals`
pub(in crate::http::terminal) struct OpenShell;

/// What `create_terminal` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {}

impl Endpoint for OpenShell {
    const ID: &'static str = "create_terminal";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/api/terminals";
    const CHANGES: bool = true;
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Starts);
    type Request = Request;
    type Response = ShellAnswer;

    fn run(view: View<'_>, _: Request) -> Result<ShellAnswer, Error> {
        Ok(view.open_shell()?.into())
    }
}
