//! Background processes of the terminal: `/execute` starts a line of the shell, lists the processes,
//! returns the status of a process, writes to its input and ends it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use fileshed_core::processes::{OutputEntry, OutputSpan, Process, ProcessStatus};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::terminal::CommandRequest;
use fileshed_core::{CallerView, Error, diagnostics, timings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::endpoint::Nothing;
use crate::http::tool::{Awaited, CallStep, ToolContent};
use escapes::decode;

mod escapes;

/// Longest wait of one call in seconds, which the application's proxy does not cut.
const WAIT_MAX: f64 = 300.0;

/// Bytes of output where the caller says how many entries it wants.
const TAIL_BYTES: u64 = MEBIBYTE;

/// A process in a list.
#[derive(Serialize)]
pub(super) struct ProcessSummary {
    id: String,
    command: String,
    status: ProcessStatus,
    exit_code: Option<i32>,
    log_path: String,
}

impl ProcessSummary {
    fn of(process: &Process) -> Self {
        let (status, exit_code) = process.status();
        Self {
            id: process.id().to_owned(),
            command: process.identity.command.clone(),
            status,
            exit_code,
            log_path: process.log_path(),
        }
    }
}

/// A process and what it wrote.
#[derive(Serialize)]
struct ProcessAnswer {
    #[serde(flatten)]
    process: ProcessSummary,
    cwd: String,
    output: Vec<OutputEntry>,
    truncated: bool,
    next_offset: u64,
}

impl ProcessAnswer {
    /// Returns the answer with the entries from `offset` on, or the last `tail` of these. A caller that
    /// asks for no number of entries is most often a model: it gets as much as the answer of a command
    /// has, and the offset of the rest.
    fn of(
        view: CallerView<'_>,
        process: &Process,
        offset: Option<u64>,
        tail: Option<u64>,
    ) -> Result<Self, Error> {
        // Before the output is read, because a process that has ended has written all of it.
        let summary = ProcessSummary::of(process);
        let output = process.output(OutputSpan {
            offset: offset.unwrap_or(0),
            tail,
            most_bytes: match tail {
                Some(_) => TAIL_BYTES,
                None => view.core.store.settings.output_of(view.caller.client),
            },
        })?;
        Ok(Self {
            process: summary,
            cwd: process.identity.cwd.clone(),
            output: merged(output.entries),
            truncated: output.truncated,
            next_offset: output.next_offset,
        })
    }

    /// Returns the fields that the caller that started the process cannot know: without handles for further
    /// calls, if the process ended while the caller waited, and the answer has all of its output.
    fn news(self, waited: bool) -> Value {
        let is_running = self.process.status == ProcessStatus::Running;
        let has_more = is_running || self.truncated;
        let mut news = json!(self);
        if let Value::Object(fields) = &mut news {
            fields.retain(|name, value| match name.as_str() {
                "command" | "cwd" => false,
                "id" => has_more || !waited,
                "next_offset" => has_more,
                "log_path" | "truncated" => self.truncated,
                _ => !value.is_null(),
            });
        }
        news
    }
}

/// Joins what was written to one stream in a row.
fn merged(entries: Vec<OutputEntry>) -> Vec<OutputEntry> {
    let mut merged: Vec<OutputEntry> = Vec::new();
    for entry in entries {
        match merged.last_mut() {
            Some(last) if last.r#type == entry.r#type => last.data.push_str(&entry.data),
            _ => merged.push(entry),
        }
    }
    merged
}

/// Reads how long a call waits for the end of a process, and fails at a number of entries that means
/// nothing.
fn patience(wait: Option<f64>, tail: Option<u64>) -> Result<Duration, ExecuteError> {
    if tail == Some(0) {
        return Err(ExecuteError::Tail);
    }
    let seconds = wait.unwrap_or(0.0);
    if !(0.0..=WAIT_MAX).contains(&seconds) {
        return Err(ExecuteError::Range { seconds });
    }
    Ok(timings::fractional_seconds(seconds))
}

/// Answers once a process has ended, or once nobody waits for that any more.
fn when_ended<R: Serialize + Send + 'static>(
    view: CallerView<'_>,
    process: Arc<Process>,
    patience: Duration,
    answer: impl FnOnce(CallerView<'_>, &Process) -> Result<R, Error> + Send + 'static,
) -> Result<CallStep, Error> {
    if patience.is_zero() || !process.is_running() {
        return Ok(CallStep::data(answer(view, &process)?));
    }
    let awaited = Awaited::end(Arc::clone(&process), patience);
    let rest = move |view: CallerView<'_>| {
        view.core.store.expect_active(view.caller)?;
        Ok(ToolContent::data(answer(view, &process)?))
    };
    Ok(CallStep::Waits(awaited, Box::new(rest)))
}

diagnostics! {
    /// Arguments that are refused.
    #[derive(Debug, thiserror::Error)]
    enum ExecuteError {
        /// The time is negative, or too long.
        #[error("parameter `wait` must be 0 to {WAIT_MAX} seconds, got: {seconds}")]
        Range {
            seconds: f64 = 3600.0,
        } => {
            code: InvalidParameter,
            hint: "wait at most 300 seconds, then ask again with get_process_status(wait=300)",
            details: { "parameter": "wait" },
        },
        /// No entries at all.
        #[error("parameter `tail` must be at least 1, got: 0")]
        Tail => {
            code: InvalidParameter,
            hint: "leave `tail` out for everything from `offset` on",
            details: { "parameter": "tail" },
        },
        /// There is no line to run.
        #[error("parameter `command` is empty")]
        Empty => {
            code: MissingParameter,
            hint: "send a line for the shell, like `ls -la`",
            details: { "parameter": "command" },
        },
        /// A variable is one text.
        #[error("the value of `{name}` in `env` is not a string")]
        Variable {
            name: String = "PATHS".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "give each variable a string",
            details: { "parameter": "env", "name": name },
        },
    }
}

/// Input of `run_command`.
#[derive(Deserialize, ToSchema)]
pub(super) struct RunRequest {
    /// Line for /bin/sh.
    command: String,
    /// Directory; default: the working directory.
    cwd: Option<String>,
    /// More environment variables.
    #[schema(value_type = Option<Object>)]
    env: Option<BTreeMap<String, Value>>,
    /// Seconds to wait for the end, at most 300. Pass 30 unless it runs on its own.
    wait: Option<f64>,
    /// Only the last N output entries.
    tail: Option<u64>,
    /// Stream output, one JSON object a line.
    #[serde(default)]
    stream: bool,
}

/// `POST /execute`: a line for the shell, run in the background.
pub(super) fn run(view: CallerView<'_>, request: &RunRequest) -> Result<CallStep, Error> {
    let tail = request.tail;
    // Checks the arguments first, so that a command does not start if they are refused.
    let settings = &view.core.store.settings;
    let usual = settings.terminal_execute_wait_ms as f64 / 1000.0;
    let patience = patience(request.wait.or(Some(usual)), tail)?;
    if request.command.trim().is_empty() {
        return Err(ExecuteError::Empty.into());
    }
    let line = &request.command;
    view.core
        .transfer
        .claim_named(view.caller, &|waiting| line.contains(waiting));
    let environment = request.env.iter().flatten().map(variable);
    let cwd = match &request.cwd {
        Some(text) => view.path("cwd", text)?,
        None => view.existing_cwd()?,
    };
    let process = view.core.runs.start_line(
        view.caller,
        CommandRequest {
            command: request.command.clone(),
            cwd,
            environment: environment.collect::<Result<_, _>>()?,
        },
    )?;
    if request.stream {
        return Ok(CallStep::Streams(process));
    }
    let waits = !patience.is_zero();
    when_ended(view, process, patience, move |view, process| {
        Ok(ProcessAnswer::of(view, process, None, tail)?.news(waits))
    })
}

/// A variable of the environment, whose value may be a number or a truth value.
fn variable((name, value): (&String, &Value)) -> Result<(String, String), ExecuteError> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => {
            return Err(ExecuteError::Variable { name: name.clone() });
        }
    };
    Ok((name.clone(), text))
}

/// `GET /execute`
pub(super) fn list(view: CallerView<'_>, _: &Nothing) -> Result<Vec<ProcessSummary>, Error> {
    let lines = view.core.runs.lines(view.caller)?;
    Ok(lines.iter().map(|line| ProcessSummary::of(line)).collect())
}

/// Input of `get_process_status`.
#[derive(Deserialize, ToSchema)]
pub(super) struct ProcessStatusRequest {
    /// Id from `run_command`.
    process_id: String,
    /// Seconds to wait for its end, at most 300.
    wait: Option<f64>,
    /// Entries to skip: `next_offset` of the previous answer.
    offset: Option<u64>,
    /// Only the last N entries.
    tail: Option<u64>,
}

/// `GET /execute/{process_id}/status`
pub(super) fn status(
    view: CallerView<'_>,
    request: &ProcessStatusRequest,
) -> Result<CallStep, Error> {
    let (offset, tail) = (request.offset, request.tail);
    let patience = patience(request.wait, tail)?;
    let process = view.core.runs.line(view.caller, &request.process_id)?;
    when_ended(view, process, patience, move |view, process| {
        ProcessAnswer::of(view, process, offset, tail)
    })
}

/// The character that Ctrl-C sends.
const INTERRUPT: &str = "\u{3}";

/// Input of `send_process_input`.
#[derive(Deserialize, ToSchema)]
pub(super) struct ProcessInputRequest {
    /// Id from `run_command`.
    process_id: String,
    /// Text; `\n` is a line end, `\x04` closes the input, `\x03` asks the command to end.
    input: String,
}

/// `POST /execute/{process_id}/input`
pub(super) fn input(view: CallerView<'_>, request: &ProcessInputRequest) -> Result<Value, Error> {
    let process = view.core.runs.line(view.caller, &request.process_id)?;
    let text = decode(&request.input);
    // The process has no terminal that would turn the character into a signal.
    let (before, interrupts) = match text.split_once(INTERRUPT) {
        Some((before, _)) => (before, true),
        None => (text.as_str(), false),
    };
    let patience = view.core.store.settings.timings.processes.input;
    process.send(before.as_bytes(), patience)?;
    if interrupts {
        process.stop(false);
    }
    Ok(json!({"status": "ok"}))
}

/// Input of `kill_process`.
#[derive(Deserialize, ToSchema)]
pub(super) struct KillProcessRequest {
    /// Id from `run_command`.
    process_id: String,
    /// End it at once instead of asking it to end.
    #[serde(default)]
    force: bool,
}

/// `DELETE /execute/{process_id}`
pub(super) fn kill(view: CallerView<'_>, request: &KillProcessRequest) -> Result<CallStep, Error> {
    let process = view.core.runs.line(view.caller, &request.process_id)?;
    process.stop(request.force);
    let patience = view.core.store.settings.timings.processes.kill;
    when_ended(view, process, patience, |_, process| {
        let (status, _) = process.status();
        let mut answer = json!({"status": status});
        if status == ProcessStatus::Running {
            answer["detail"] = "it was asked to end but still runs; force=true ends it".into();
        }
        Ok(answer)
    })
}
