//! `/execute/{process_id}` and the list of processes: their status, input and end.

use std::sync::Arc;
use std::time::Duration;

use axum::http::Method;
use fileshed_core::processes::{OutputEntry, OutputSpan, Process, ProcessStatus};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::{CallerView, Error, diagnostics, timings};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::{Endpoint, Nothing, Status};
use crate::http::terminal::execute::escapes::decode;
use crate::http::terminal::pending::{Awaited, Begun};
use crate::ops::Effect;

/// Longest wait of one call in seconds: what the application's proxy has patience for.
const WAIT_MAX: f64 = 300.0;

/// Bytes of output where the caller says how many entries it wants.
const TAIL_BYTES: u64 = MEBIBYTE;

/// A process in a list.
#[derive(Serialize)]
pub(in crate::http::terminal) struct ProcessSummary {
    id: String,
    command: String,
    status: ProcessStatus,
    exit_code: Option<i32>,
    log_path: String,
}

impl ProcessSummary {
    pub(super) fn of(process: &Process) -> Self {
        let (status, exit_code) = process.status();
        Self {
            id: process.id().to_owned(),
            command: process.command().to_owned(),
            status,
            exit_code,
            log_path: process.log_path(),
        }
    }
}

/// A process and what it wrote.
#[derive(Serialize)]
pub(in crate::http::terminal) struct ProcessAnswer {
    id: String,
    command: String,
    cwd: String,
    status: ProcessStatus,
    exit_code: Option<i32>,
    output: Vec<OutputEntry>,
    truncated: bool,
    next_offset: u64,
    log_path: String,
}

impl ProcessAnswer {
    /// With the entries from `offset` on, or of these the last `tail`. Who asks for no number of
    /// them is most often a model: it gets as much as an answer of a command has, and the offset of
    /// the rest.
    pub(super) fn of(
        view: CallerView<'_>,
        process: &Process,
        offset: Option<u64>,
        tail: Option<u64>,
    ) -> Result<Self, Error> {
        // Before the output: what ended has written all of it.
        let (status, exit_code) = process.status();
        let output = process.output(OutputSpan {
            offset: offset.unwrap_or(0),
            tail,
            most_bytes: match tail {
                Some(_) => TAIL_BYTES,
                None => view.core.store.settings().output_of(view.caller.client),
            },
        })?;
        Ok(Self {
            id: process.id().to_owned(),
            command: process.command().to_owned(),
            cwd: process.cwd().to_owned(),
            status,
            exit_code,
            output: output.entries,
            truncated: output.truncated,
            next_offset: output.next_offset,
            log_path: process.log_path(),
        })
    }
}

/// Reads how long a call waits for the end of a process.
pub(super) fn patience(seconds: Option<f64>) -> Result<Duration, WaitError> {
    let seconds = seconds.unwrap_or(0.0);
    if !(0.0..=WAIT_MAX).contains(&seconds) {
        return Err(WaitError::Range { seconds });
    }
    Ok(timings::fractional_seconds(seconds))
}

/// Begins to wait for the end of a process, unless it has ended or nobody waits.
pub(super) fn wait_for_end(process: &Arc<Process>, patience: Duration) -> Begun {
    if patience.is_zero() || !process.is_running() {
        return Begun::Ready;
    }
    Begun::Waits(Awaited {
        process: Arc::clone(process),
        seen: Awaited::END,
        patience,
    })
}

/// Fails at a number of entries that means nothing.
pub(super) fn expect_tail(tail: Option<u64>) -> Result<(), WaitError> {
    match tail {
        Some(0) => Err(WaitError::Tail),
        _ => Ok(()),
    }
}

diagnostics! {
    /// How long and for what to wait, as it cannot be meant.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum WaitError {
        /// Nobody waits so long, or less than nothing.
        #[error("parameter `wait` is {seconds}, it can be from 0 to {WAIT_MAX} seconds")]
        Range {
            seconds: f64 = 3600.0,
        } => {
            code: InvalidParameter,
            hint: "wait at most 300 seconds, then ask again with get_process_status(wait=300)",
            details: { "parameter": "wait" },
        },
        /// No entries at all.
        #[error("parameter `tail` is 0, it is the number of entries to show")]
        Tail => {
            code: InvalidParameter,
            hint: "leave `tail` out for everything from `offset` on",
            details: { "parameter": "tail" },
        },
    }
}

/// `GET /execute`
pub(in crate::http::terminal) struct ListProcesses;

impl Endpoint for ListProcesses {
    const ID: &'static str = "list_processes";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/execute";
    const DOC: &'static str =
        "List commands of this chat that run or ended in the last five minutes.";
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Nothing;
    type Response = Vec<ProcessSummary>;

    fn run(view: CallerView<'_>, _: Nothing) -> Result<Self::Response, Error> {
        let lines = view.core.runs.lines(view.caller)?;
        Ok(lines.iter().map(|line| ProcessSummary::of(line)).collect())
    }
}

/// `GET /execute/{process_id}/status`
pub(in crate::http::terminal) struct GetProcessStatus;

/// What `get_process_status` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct ProcessStatusRequest {
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
    type Request = ProcessStatusRequest;
    type Response = ProcessAnswer;

    fn begin(view: CallerView<'_>, request: &mut ProcessStatusRequest) -> Result<Begun, Error> {
        expect_tail(request.tail)?;
        let patience = patience(request.wait)?;
        let process = view.core.runs.line(view.caller, &request.process_id)?;
        Ok(wait_for_end(&process, patience))
    }

    fn run(view: CallerView<'_>, request: ProcessStatusRequest) -> Result<ProcessAnswer, Error> {
        let process = view.core.runs.line(view.caller, &request.process_id)?;
        ProcessAnswer::of(view, &process, request.offset, request.tail)
    }
}

/// `POST /execute/{process_id}/input`
pub(in crate::http::terminal) struct SendProcessInput;

/// What Ctrl-C sends.
const INTERRUPT: &str = "\u{3}";

/// What `send_process_input` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct ProcessInputRequest {
    /// Id from `run_command`.
    process_id: String,
    /// Text; `\n` is a line end, `\x04` closes the input, `\x03` asks the command to end.
    input: String,
}

impl Endpoint for SendProcessInput {
    const ID: &'static str = "send_process_input";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/execute/{process_id}/input";
    const DOC: &'static str = "Write to the standard input of a running command.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::CHANGES;
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = ProcessInputRequest;
    type Response = Status;

    fn run(view: CallerView<'_>, request: ProcessInputRequest) -> Result<Status, Error> {
        let process = view.core.runs.line(view.caller, &request.process_id)?;
        let text = decode(&request.input);
        // There is no terminal that would make a signal of it.
        let (before, interrupts) = match text.split_once(INTERRUPT) {
            Some((before, _)) => (before, true),
            None => (text.as_str(), false),
        };
        let patience = view.core.store.settings().timings.processes.input;
        process.send(before.as_bytes(), patience)?;
        if interrupts {
            process.stop(false);
        }
        Ok(Status { status: "ok" })
    }
}

/// `DELETE /execute/{process_id}`
pub(in crate::http::terminal) struct KillProcess;

/// What `kill_process` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct KillProcessRequest {
    /// Id from `run_command`.
    process_id: String,
    /// End it at once instead of asking it to end.
    #[serde(default)]
    force: bool,
}

/// How the process stands now.
#[derive(Serialize)]
pub(in crate::http::terminal) struct KillProcessResponse {
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
    type Request = KillProcessRequest;
    type Response = KillProcessResponse;

    fn begin(view: CallerView<'_>, request: &mut KillProcessRequest) -> Result<Begun, Error> {
        let process = view.core.runs.line(view.caller, &request.process_id)?;
        process.stop(request.force);
        let patience = view.core.store.settings().timings.processes.kill;
        Ok(wait_for_end(&process, patience))
    }

    fn run(
        view: CallerView<'_>,
        request: KillProcessRequest,
    ) -> Result<KillProcessResponse, Error> {
        let process = view.core.runs.line(view.caller, &request.process_id)?;
        let (status, _) = process.status();
        let runs = status == ProcessStatus::Running;
        Ok(KillProcessResponse {
            status,
            detail: runs.then_some("it was asked to end and runs still; force=true ends it"),
        })
    }
}
