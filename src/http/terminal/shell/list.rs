//! `GET /api/terminals`: the caller's shells of this chat.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use serde::Deserialize;
use utoipa::ToSchema;

use super::ShellAnswer;
use crate::http::terminal::endpoint::Endpoint;

/// `GET /api/terminals`
pub(in crate::http::terminal) struct ListShells;

/// What `list_terminals` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {}

impl Endpoint for ListShells {
    const ID: &'static str = "list_terminals";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/api/terminals";
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Request;
    type Response = Vec<ShellAnswer>;

    fn run(view: View<'_>, _: Request) -> Result<Vec<ShellAnswer>, Error> {
        let shells = view.shells().into_iter();
        Ok(shells.map(ShellAnswer::from).collect())
    }
}
