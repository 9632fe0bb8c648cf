//! Commands of a zone: a command line judged, a program started in the sandbox ([`fileshed_sandbox`]),
//! and what it changed taken into history.

mod built_in;
mod command_line;
mod content;
mod error;
mod fetch;
mod git;
mod glob;
mod invocation;
mod limit;
mod line;
mod names;
mod network;
mod outcome;
mod output;
mod pdf_text;
mod pipeline;
mod places;
mod run;

pub use command_line::{CommandLine, Ran, answer_max};
pub use error::ExecError;
pub use fetch::fetch;
pub use limit::Limit;
pub(crate) use names::NamesBefore;
pub(crate) use network::CommandNetwork;
pub(crate) use pdf_text::{PDF_COMMAND, pdf_text};
pub use run::{run, run_on_copy};
