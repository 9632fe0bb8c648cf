//! Background processes that cannot be had, or do not take what they are sent.

use crate::diagnostics;
use fileshed_types::Hint;

diagnostics! {
    /// Why nothing came of a call about a background process.
    #[derive(Debug, thiserror::Error)]
    pub enum BackgroundError {
        /// None of this user has the id, or it ended a while ago.
        #[error("there is no process `{id}`")]
        NotFound {
            /// What was sent.
            id: String = "a1b2c3d4e5f6".to_owned(),
        } => {
            code: FileNotFound,
            hint: Hint::new(
                "list_processes() shows those that run or ended in the last five minutes; what older \
                 ones wrote is in /logs",
            ),
            details: { "process_id": id },
        },
        /// It runs no more.
        #[error("process `{id}` has ended")]
        Ended {
            /// Which.
            id: String = "a1b2c3d4e5f6".to_owned(),
        } => {
            code: ExecError,
            hint: Hint::new("get_process_status shows what it wrote; run_command starts another"),
            details: { "process_id": id },
        },
        /// It closed its standard input, or that was closed by an end-of-transmission character.
        #[error("the standard input of process `{id}` is closed")]
        InputClosed {
            /// Which.
            id: String = "a1b2c3d4e5f6".to_owned(),
        } => {
            code: ExecError,
            hint: Hint::new("get_process_status shows what it does now"),
            details: { "process_id": id },
        },
        /// It does not read.
        #[error("process `{id}` does not read its input: {left} bytes were not taken")]
        InputFull {
            /// Which.
            id: String = "a1b2c3d4e5f6".to_owned(),
            /// Bytes that are left.
            left: usize = 4096,
        } => {
            code: ExecError,
            hint: Hint::new("look with get_process_status what it waits for, and send the rest later"),
            details: { "process_id": id, "left": left },
        },
        /// As many run as one user may have.
        #[error("{limit} of your processes are running, which is as many as one user may have")]
        TooMany {
            /// How many.
            limit: u64 = 16,
        } => {
            code: Busy,
            hint: Hint::new(
                "wait for one with get_process_status, or end one with kill_process; an administrator \
                 can raise terminal.max_processes",
            ),
            details: { "scope": "user", "terminal.max_processes": limit },
            retry_after: 5_u64,
        },
        /// As many run as this server has places.
        #[error("as many processes are running as this server has places for")]
        Full => {
            code: Busy,
            hint: Hint::new("start it again in a minute"),
            details: { "scope": "server" },
            retry_after: 60_u64,
        },
    }
}
