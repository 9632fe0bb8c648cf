//! Shell lines and shells of users, which outlive the call that starts them.

mod host;
mod line_output;
mod lines;
mod places;
mod shell;
mod shell_terminal;
mod shells;
mod thread;

/// The directory of logs, below the tenant's root, and their name in the registry.
const LOGS: &str = "logs";

pub use crate::processes::StartingProcess;
pub use host::{ProcessUse, TerminalPlace};
pub use lines::CommandRequest;
pub use shell::{ShellOutcome, ShellRequest, ShellWatch, run_shell};
