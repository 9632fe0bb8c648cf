//! `POST /execute`: a line for the shell, run in the background.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::http::Method;
use fileshed_core::processes::Process;
use fileshed_core::terminal::{CommandRequest, ProcessUse};
use fileshed_core::{CallerView, Error, diagnostics};
use serde::Deserialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::process::{ProcessAnswer, expect_tail, patience, wait_for_end};
use crate::http::terminal::endpoint::Endpoint;
use crate::http::terminal::pending::Begun;
use crate::ops::Effect;

/// `POST /execute`
pub(in crate::http::terminal) struct RunCommand;

/// What `run_command` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Line for /bin/sh.
    command: String,
    /// Directory; default: the working directory.
    cwd: Option<String>,
    /// More environment variables.
    #[schema(value_type = Option<Object>)]
    env: Option<BTreeMap<String, Value>>,
    /// Seconds to wait for the end, at most 300; default: answer at once.
    wait: Option<f64>,
    /// Only the last so many output entries.
    tail: Option<u64>,
    /// Output as it comes, one JSON object a line.
    #[serde(default)]
    stream: bool,
    /// What was started.
    #[serde(skip)]
    started: Option<Arc<Process>>,
}

impl Endpoint for RunCommand {
    const ID: &'static str = "run_command";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/execute";
    const DOC: &'static str = "Run a line of sh in the background. With `wait` the answer has the \
        output; else ask get_process_status.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::CHANGES.outside();
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Starts);
    type Request = Request;
    type Response = ProcessAnswer;

    fn begin(view: CallerView<'_>, request: &mut Request) -> Result<Begun, Error> {
        expect_tail(request.tail)?;
        // What cannot be answered is not started either.
        let patience = patience(request.wait)?;
        if request.command.trim().is_empty() {
            return Err(RunError::Empty.into());
        }
        let line = &request.command;
        view.core
            .transfer
            .claim_named(view.caller, &|waiting| line.contains(waiting));
        let environment = request.env.take().unwrap_or_default();
        let environment = environment.into_iter().map(variable);
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
            return Ok(Begun::Streams(process));
        }
        let begun = wait_for_end(&process, patience);
        request.started = Some(process);
        Ok(begun)
    }

    fn run(view: CallerView<'_>, request: Request) -> Result<ProcessAnswer, Error> {
        let process = request.started.ok_or(RunError::Empty)?;
        ProcessAnswer::of(view, &process, None, request.tail)
    }
}

/// A variable of the environment, whose value may be a number or a truth value.
fn variable((name, value): (String, Value)) -> Result<(String, String), RunError> {
    let text = match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        Value::Array(_) | Value::Object(_) => return Err(RunError::Variable { name }),
    };
    Ok((name, text))
}

diagnostics! {
    /// A line that cannot be started.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum RunError {
        /// There is none.
        #[error("parameter `command` is empty")]
        Empty => {
            code: MissingParameter,
            hint: "send a line for the shell, like `ls -la`",
            details: { "parameter": "command" },
        },
        /// A variable is one text.
        #[error("the value of `{name}` in `env` is no text")]
        Variable {
            name: String = "PATHS".to_owned(),
        } => {
            code: InvalidParameter,
            hint: "the value of a variable is a string",
            details: { "parameter": "env", "name": name },
        },
    }
}
