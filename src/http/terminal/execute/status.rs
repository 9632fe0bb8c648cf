//! `GET /execute/{process_id}/status`: how a process stands and what it wrote; at an older address,
//! too.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use serde::Deserialize;
use utoipa::ToSchema;

use super::answer::{Patience, ProcessAnswer, expect_tail};
use crate::http::terminal::endpoint::Endpoint;
use crate::http::terminal::pending::Begun;

/// `GET /execute/{process_id}/status`
pub(in crate::http::terminal) struct GetProcessStatus;

/// `GET /processes/{process_id}/status`
pub(in crate::http::terminal) struct GetProcessStatusByProcess;

/// What `get_process_status` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Id from `run_command`.
    process_id: String,
    /// Seconds to wait for its end, at most 300.
    wait: Option<f64>,
    /// Entries to pass over: `next_offset` of the answer before.
    offset: Option<u64>,
    /// Only the last so many entries.
    tail: Option<u64>,
}

impl Endpoint for GetProcessStatus {
    const ID: &'static str = "get_process_status";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/execute/{process_id}/status";
    const DOC: &'static str = "Status, exit code and output of a command, from `offset` on.";
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Request;
    type Response = ProcessAnswer;

    fn begin(view: View<'_>, request: &mut Request) -> Result<Begun, Error> {
        expect_tail(request.tail)?;
        let patience = Patience::of(request.wait)?;
        let process = view.store.process(view.caller, &request.process_id)?;
        Ok(patience.begin(&process))
    }

    fn run(view: View<'_>, request: Request) -> Result<ProcessAnswer, Error> {
        let process = view.store.process(view.caller, &request.process_id)?;
        ProcessAnswer::of(view, &process, request.offset, request.tail)
    }
}

impl Endpoint for GetProcessStatusByProcess {
    const ID: &'static str = "get_process_status_by_process";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/processes/{process_id}/status";
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Request;
    type Response = ProcessAnswer;

    fn begin(view: View<'_>, request: &mut Request) -> Result<Begun, Error> {
        GetProcessStatus::begin(view, request)
    }

    fn run(view: View<'_>, request: Request) -> Result<ProcessAnswer, Error> {
        GetProcessStatus::run(view, request)
    }
}
