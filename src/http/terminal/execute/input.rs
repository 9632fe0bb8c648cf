//! `POST /execute/{process_id}/input`: text for the standard input of a process.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::escapes::decode;
use crate::http::terminal::endpoint::Endpoint;
use crate::ops::Effect;

/// `POST /execute/{process_id}/input`
pub(in crate::http::terminal) struct SendProcessInput;

/// What Ctrl-C sends.
const INTERRUPT: &str = "\u{3}";

/// What `send_process_input` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Id from `run_command`.
    process_id: String,
    /// Text; `\n` is a line end, `\x04` closes the input, `\x03` asks the command to end.
    input: String,
}

/// The text was taken.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    status: &'static str,
}

impl Endpoint for SendProcessInput {
    const ID: &'static str = "send_process_input";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/execute/{process_id}/input";
    const DOC: &'static str = "Write to the standard input of a running command.";
    const CHANGES: bool = true;
    const EFFECT: Effect = Effect::CHANGES;
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let process = view.store.process(view.caller, &request.process_id)?;
        let text = decode(&request.input);
        // There is no terminal that would make a signal of it.
        let (before, interrupts) = match text.split_once(INTERRUPT) {
            Some((before, _)) => (before, true),
            None => (text.as_str(), false),
        };
        process.send(before.as_bytes())?;
        if interrupts {
            process.stop(false);
        }
        Ok(Response { status: "ok" })
    }
}
