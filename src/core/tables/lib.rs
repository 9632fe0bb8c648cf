//! Databases and CSV files of users, worked on where nothing else can be reached.
//!
//! Neither a database nor a statement is trusted: a file may be crafted, a statement may never
//! end. So this runs in a confined process, for which the kernel holds memory, files and time.
//! Inside it the engine has bounds of its own: an authorizer, SQLite's limits, a deadline, a
//! largest size.

mod csv;
mod engine;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod import;
mod part;
mod query;
mod sql;
mod table_source;
mod work;

pub use csv::{ENCRYPTED, sheets_as_text};
pub use engine::Opened;
pub use work::*;
