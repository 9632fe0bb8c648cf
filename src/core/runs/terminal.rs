//! Shell lines and shells of users, which outlive the call that starts them.

mod advice;
mod host;
mod line_output;
mod lines;
mod shell;
mod shell_terminal;
mod shells;
mod thread;

pub use crate::processes::StartingProcess;
pub(crate) use fileshed_zones::zone_access::LOGS;
pub use host::{ProcessUse, TerminalPlace};
pub use lines::CommandRequest;
pub use shell::{ShellOutcome, ShellRequest, ShellWatch, run_shell};
