//! `DELETE /execute/{process_id}`: the end of a process.

use std::sync::Arc;

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::background::ProcessStatus;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;
use crate::http::terminal::pending::{Awaited, Begun, Event};
use crate::ops::Effect;

/// `DELETE /execute/{process_id}`
pub(in crate::http::terminal) struct KillProcess;

/// What `kill_process` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Id from `run_command`.
    process_id: String,
    /// End it at once instead of asking it to end.
    #[serde(default)]
    force: bool,
}

/// How the process stands now.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    status: ProcessStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'static str>,
}

impl Endpoint for KillProcess {
    const ID: &'static str = "kill_process";
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/execute/{process_id}";
    const DOC: &'static str = "End a running command.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::REPLACES;
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Request;
    type Response = Response;

    fn begin(view: View<'_>, request: &mut Request) -> Result<Begun, Error> {
        let process = view.store.process(view.caller, &request.process_id)?;
        if !process.is_running() {
            return Ok(Begun::Ready);
        }
        process.stop(request.force);
        Ok(Begun::Waits(Awaited {
            process: Arc::clone(&process),
            event: Event::End,
            patience: view.store.settings().timings.processes.kill,
        }))
    }

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let process = view.store.process(view.caller, &request.process_id)?;
        let (status, _) = process.status();
        let runs = status == ProcessStatus::Running;
        Ok(Response {
            status,
            detail: runs.then_some("it was asked to end and runs still; force=true ends it"),
        })
    }
}
