//! Lines and shells that are not there, not to be had, or do not take what they are sent.

use fileshed_types::diagnostics;

diagnostics! {
    /// Why nothing came of a call about a background process.
    #[derive(Debug, thiserror::Error)]
    pub enum BackgroundError {
        /// None of this user has the id, or it ended a while ago.
        #[error("there is no process `{id}`")]
        NotFound {
            /// The id received.
            id: String = "a1b2c3d4e5f6".to_owned(),
        } => {
            code: FileNotFound,
            hint: "list_processes() shows the processes that run or ended in the last five minutes; \
                the output of older ones is in /logs",
            details: { "process_id": id },
        },
        /// It runs no more.
        #[error("process `{id}` has ended")]
        Ended {
            /// Id of the process.
            id: String = "a1b2c3d4e5f6".to_owned(),
        } => {
            code: ExecError,
            hint: "get_process_status shows what it wrote; run_command starts another",
            details: { "process_id": id },
        },
        /// It closed its standard input, or that was closed by an end-of-transmission character.
        #[error("the standard input of process `{id}` is closed")]
        InputClosed {
            /// Id of the process.
            id: String = "a1b2c3d4e5f6".to_owned(),
        } => {
            code: ExecError,
            hint: "get_process_status shows what it does now",
            details: { "process_id": id },
        },
        /// It does not read.
        #[error("process `{id}` does not read its input: {left} bytes were not written")]
        InputFull {
            /// Id of the process.
            id: String = "a1b2c3d4e5f6".to_owned(),
            /// Bytes that are left.
            left: usize = 4096,
        } => {
            code: ExecError,
            hint: "read its output with get_process_status, and send the rest later",
            details: { "process_id": id, "left": left },
        },
        /// As many run as one user may have.
        #[error("{limit} of your processes are running, which is the maximum for one user")]
        TooMany {
            /// The limit.
            limit: u64 = 16,
        } => {
            code: Busy,
            hint: "wait for one with get_process_status, or end one with kill_process; an \
                administrator can raise terminal.max_processes",
            details: { "scope": "user", "terminal.max_processes": limit },
            retry_after: 5,
        },
        /// As many run as this server has places.
        #[error("the server runs the maximum number of processes")]
        Full => {
            code: Busy,
            hint: "start it again in a minute",
            details: { "scope": "server" },
            retry_after: 60,
        },
    }
}

diagnostics! {
    /// Why there is no shell for a client.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum ShellSessionError {
        /// None of the caller's has this id: it ended, was never there, or is another's.
        #[error("you have no shell with this id")]
        Unknown => {
            code: FileNotFound,
            hint: "POST /terminal/api/terminals opens one",
        },
        /// Somebody is connected.
        #[error("the shell has a client already")]
        Connected => {
            code: FileLocked,
            hint: "POST /terminal/api/terminals opens another one",
        },
        /// A tool that needs the user's own shell found none.
        #[error("the user has no shell open in this chat")]
        NotConnected => {
            code: FileNotFound,
            hint: "run_command works without one; only the user can open a shell",
        },
        /// Earlier input is not read yet.
        #[error("the user's shell does not read its input")]
        Full => {
            code: Busy,
            hint: "read_user_terminal shows the running program; send less, or wait",
            details: { "scope": "user" },
            retry_after: 1,
        },
        /// The user has as many as one user may have, and something runs in each.
        #[error("{limit} of your shells are open, which is the maximum for one user")]
        User {
            /// The limit.
            limit: u64,
        } => {
            code: Busy,
            hint: "end one with `exit`",
            details: { "scope": "user", "terminal.max_shells": limit },
        },
        /// The server has as many as it may have.
        #[error("{limit} shells are open, which is the maximum for the server")]
        Server {
            /// The limit.
            limit: u64,
        } => {
            code: Busy,
            hint: "try again later; run_command works without a shell",
            details: { "scope": "server", "terminal.max_shells_total": limit },
        },
        /// It did not begin.
        #[error("the shell did not start before the timeout")]
        NotStarted => {
            code: ExecError,
            hint: "try again; an administrator runs fileshed doctor",
        },
    }
}
