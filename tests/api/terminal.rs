//! The terminal surface: files, commands and shells as Open WebUI's terminal connection calls them.

mod answers;
mod departures;
mod discovery;
mod document;
mod execute;
pub(crate) mod files;
mod first_message;
mod identity;
mod programs;
mod search;
mod servers;
mod shell;
