//! Commands of a zone: a command line judged, a program started in the sandbox ([`fileshed_sandbox`]),
//! and what it changed taken into history.

mod binary;
mod built_in;
mod command_line;
mod content;
mod copy;
mod download;
mod environment;
mod error;
mod fetch;
mod git;
mod glob;
mod invocation;
mod leftovers;
mod limit;
mod line;
mod names_left;
mod network;
mod outcome;
mod output;
mod pdf;
mod pdf_text;
mod places;
mod portable;
mod rename;
mod run;
mod sqlite;
mod tar;
mod which;

pub use command_line::{CommandLine, Ran, answer_max};
pub use copy::run_on_copy;
pub use error::ExecError;
pub use fetch::fetch;
pub use limit::Limit;
pub(crate) use names_left::NamesBefore;
pub(crate) use network::CommandNetwork;
pub(crate) use pdf_text::{PDF_COMMAND, PdfText, pdf_text};
pub use run::run;
