//! Shell lines and shells of users, which outlive the call that starts them.

mod drain;
mod execute;
mod host;
mod interactive;
mod places;
mod processes;
mod shell;

/// The directory of logs, below the tenant's root, and their name in the registry.
const LOGS: &str = "logs";

pub use crate::background::StartingProcess;
pub use execute::CommandRequest;
pub use host::{ProcessUse, TerminalPlace};
pub use shell::{ShellOutcome, ShellRequest, ShellWatch, run_shell};
