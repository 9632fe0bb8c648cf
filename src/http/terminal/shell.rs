//! Interactive shells of people: opened, read, written and closed by calls, used over a socket.

use axum::http::Method;
use fileshed_core::processes::ShellEntry;
use fileshed_core::terminal::ProcessUse;
use fileshed_core::{CallerView, Error};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::{Endpoint, Nothing, Status};
use crate::ops::Effect;

mod client;
pub(super) mod socket;

/// `POST /api/terminals`
pub(in crate::http::terminal) struct OpenShell;

impl Endpoint for OpenShell {
    const ID: &'static str = "create_terminal";
    const METHOD: Method = Method::POST;
    const PATH: &'static str = "/api/terminals";
    const CHANGES: bool = true;
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Starts);
    type Request = Nothing;
    type Response = ShellEntry;

    fn run(view: CallerView<'_>, _: Nothing) -> Result<ShellEntry, Error> {
        view.core.runs.open_shell(view.caller)
    }
}

/// `GET /api/terminals`
pub(in crate::http::terminal) struct ListShells;

impl Endpoint for ListShells {
    const ID: &'static str = "list_terminals";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/api/terminals";
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Nothing;
    type Response = Vec<ShellEntry>;

    fn run(view: CallerView<'_>, _: Nothing) -> Result<Vec<ShellEntry>, Error> {
        Ok(view.core.runs.shells(view.caller))
    }
}

/// `DELETE /api/terminals/{session_id}`
pub(in crate::http::terminal) struct CloseShell;

/// What `delete_terminal` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct CloseShellRequest {
    /// Its id.
    session_id: String,
}

impl Endpoint for CloseShell {
    const ID: &'static str = "delete_terminal";
    const METHOD: Method = Method::DELETE;
    const PATH: &'static str = "/api/terminals/{session_id}";
    const CHANGES: bool = true;
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = CloseShellRequest;
    type Response = Status;

    fn run(view: CallerView<'_>, request: CloseShellRequest) -> Result<Status, Error> {
        view.core
            .runs
            .close_shell(view.caller, &request.session_id)?;
        Ok(Status { status: "deleted" })
    }
}

/// `GET /api/terminals/user/output`
pub(in crate::http::terminal) struct ReadUserShell;

/// The end of what it shows.
#[derive(Serialize)]
pub(in crate::http::terminal) struct ReadShellResponse {
    output: String,
}

impl Endpoint for ReadUserShell {
    const ID: &'static str = "read_user_terminal";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/api/terminals/user/output";
    const DOC: &'static str = "Read the recent output of the user's open shell.";
    const PROCESSES: Option<ProcessUse> = Some(ProcessUse::Finds);
    type Request = Nothing;
    type Response = ReadShellResponse;

    fn run(view: CallerView<'_>, _: Nothing) -> Result<ReadShellResponse, Error> {
        Ok(ReadShellResponse {
            output: view.core.runs.read_user_shell(view.caller)?,
        })
    }
}

/// `POST /api/terminals/user/input`
pub(in crate::http::terminal) struct WriteUserShell;

/// What `send_user_terminal_input` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct WriteShellRequest {
    /// Literal text; a line needs its newline.
    input: String,
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
    type Request = WriteShellRequest;
    type Response = Status;

    fn run(view: CallerView<'_>, request: WriteShellRequest) -> Result<Status, Error> {
        view.core
            .runs
            .write_user_shell(view.caller, &request.input)?;
        Ok(Status { status: "ok" })
    }
}
