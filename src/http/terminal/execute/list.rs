//! `GET /execute`: the processes of this conversation.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use serde::Deserialize;
use utoipa::ToSchema;

use super::answer::ProcessSummary;
use crate::http::terminal::endpoint::Endpoint;

/// `GET /execute`
pub(in crate::http::terminal) struct ListProcesses;

/// What `list_processes` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {}

impl Endpoint for ListProcesses {
    const ID: &'static str = "list_processes";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/execute";
    const DOC: &'static str =
        "List commands of this chat that run or ended in the last five minutes.";
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Request;
    type Response = Vec<ProcessSummary>;

    fn run(view: View<'_>, _: Request) -> Result<Self::Response, Error> {
        let processes = view.store.processes(view.caller)?;
        let processes = processes.iter();
        Ok(processes
            .map(|process| ProcessSummary::of(process))
            .collect())
    }
}
