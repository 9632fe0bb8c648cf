//! Databases of a zone: what a call may touch, and its result taken in.
//!
//! SQLite never opens a database in the server: the engine ([`fileshed_tables`]) works in a confined
//! child ([`fileshed_sandbox`]), which answers over a pipe.
//!
//! A database is changed where it lies, by SQLite's own journal: what was acknowledged is there,
//! and what was not is rolled back. One that does not exist yet is made beside the zone and moved
//! in whole.

mod child;
mod error;
mod journal;
mod run;

use std::io;

use fileshed_sandbox::{BuiltInJob, PreparedJob};
use fileshed_tables::Opened;

pub use error::{TableError, table_of};
pub use fileshed_tables::{
    Changed, CsvImport, DateFormat, Export, ExportedCsv, IfExists, ImportInfo, ImportedTable,
    Query, Rows, StatementParameters, TablePart,
};
pub use journal::ForeignJournal;
pub(crate) use journal::{Statement, expect_alone};
pub use run::{CsvFile, DatabaseOutcome, DatabaseTask, look, recover_all, run};
pub(crate) use run::{convert, source, tables};

/// Works on a database in a confined process.
pub const DATABASE_JOB: BuiltInJob = BuiltInJob {
    name: "database",
    prepare,
};

fn prepare(spec: &str) -> io::Result<PreparedJob> {
    let opened = Opened::new(serde_json::from_str(spec)?)?;
    Ok(PreparedJob {
        read: opened.place_to_read(),
        write: opened.place_to_change(),
        work: Box::new(|| opened.answer()),
    })
}
