//! Databases of users: SQL on a file of a zone, tables from CSV files and back.
//!
//! Neither a database nor a statement is trusted: a file may be crafted, a statement may never
//! end. So SQLite never opens one in the server. [`run`](self) decides what a call may touch and
//! takes the result in; the engine works in a confined child ([`crate::exec`]), for which the
//! kernel holds memory, files and time, and which answers over a pipe. Inside the child the engine
//! has bounds of its own: an authorizer, SQLite's limits, a deadline, a largest size.
//!
//! A database is changed where it lies, by SQLite's own journal: what was acknowledged is there,
//! and what was not is rolled back. One that does not exist yet is made beside the zone and moved
//! in whole.

mod csv;
mod engine;
mod error;
mod import;
mod journal;
mod query;
mod run;
mod sql;
mod work;

pub(crate) use engine::Opened;
pub use error::TableError;
pub use journal::ForeignJournal;
pub(crate) use journal::{Statement, expect_alone};
pub use run::{CsvFile, Outcome, Task, run};
pub(crate) use run::{put_right, recover};
pub(crate) use work::Work;
pub use work::{
    Changed, DateFormat, Export, Exported, IfExists, Import, ImportInfo, Imported, Parameters,
    Query, Rows,
};
