//! Shell lines and shells of users, which outlive the call that starts them.

mod departures;
mod drain;
mod execute;
mod interactive;
mod places;
mod processes;
mod shell;

pub use execute::CommandRequest;
pub use shell::{ShellOutcome, ShellRequest, ShellWatch, run_shell};
