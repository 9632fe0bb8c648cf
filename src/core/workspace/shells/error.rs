//! Shells that are not there, or not to be had.

use crate::diagnostics;

diagnostics! {
    /// Why there is no shell for a client.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
    pub enum ShellSessionError {
        /// None of the caller's has this id: it ended, was never there, or is another's.
        #[error("you have no shell of this id")]
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
        /// What was typed before is not read.
        #[error("the user's shell does not read what is typed")]
        Full => {
            code: Busy,
            hint: "read_user_terminal shows what runs there; send less, or wait",
            details: { "scope": "user" },
            retry_after: 1,
        },
        /// The user has as many as one user may have, and something runs in each.
        #[error("{limit} of your shells are open, which is as many as one user may have")]
        User {
            /// The limit.
            limit: u64,
        } => {
            code: Busy,
            hint: "end one with `exit`",
            details: { "scope": "user", "terminal.max_shells": limit },
        },
        /// The server has as many as it may have.
        #[error("{limit} shells are open, which is as many as the server may have")]
        Server {
            /// The limit.
            limit: u64,
        } => {
            code: Busy,
            hint: "try again later; run_command works without a shell",
            details: { "scope": "server", "terminal.max_shells_total": limit },
        },
        /// It did not begin.
        #[error("the shell did not start in time")]
        NotStarted => {
            code: ExecError,
            hint: "try again; an administrator runs fileshed doctor",
        },
    }
}
