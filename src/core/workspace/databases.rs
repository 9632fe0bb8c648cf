//! Databases of a zone: what a call may touch, and its result taken in.
//!
//! SQLite never opens a database in the server: the engine ([`fileshed_tables`]) works in a confined
//! child ([`fileshed_sandbox`]), which answers over a pipe.
//!
//! A database is changed where it lies, by SQLite's own journal: what was acknowledged is there,
//! and what was not is rolled back. One that does not exist yet is made beside the zone and moved
//! in whole.

mod error;
mod job;
mod journal;
mod run;

pub use error::TableError;
pub use fileshed_tables::{
    Changed, DateFormat, Export, Exported, IfExists, Import, ImportInfo, Imported, Parameters,
    Query, Rows,
};
pub use job::DATABASE_JOB;
pub use journal::ForeignJournal;
pub(crate) use journal::{Statement, expect_alone};
pub use run::{CsvFile, DatabaseTask, Outcome, run};
pub(crate) use run::{put_right, recover};
