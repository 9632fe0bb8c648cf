//! Work on databases as a job for the sandbox: SQLite is never opened in the server.

use std::io;
use std::path::PathBuf;

use fileshed_sandbox::{BuiltInJob, Job, PreparedJob};
use fileshed_tables::{Opened, Work};

/// Name of the job.
const NAME: &str = "database";

/// What the server's binary does in a confined process.
pub const DATABASE_JOB: BuiltInJob = BuiltInJob {
    name: NAME,
    prepare,
};

/// The job that does this work.
pub(super) fn spec(work: &Work) -> io::Result<Job> {
    Ok(Job::BuiltIn {
        name: NAME.to_owned(),
        spec: serde_json::to_string(work)?,
    })
}

fn prepare(spec: &str) -> io::Result<Box<dyn PreparedJob>> {
    let opened = Opened::new(serde_json::from_str(spec)?)?;
    Ok(Box::new(DatabaseJob(opened)))
}

struct DatabaseJob(Opened);

impl PreparedJob for DatabaseJob {
    fn read(&self) -> Option<PathBuf> {
        self.0.place_to_read()
    }

    fn write(&self) -> Option<PathBuf> {
        self.0.place_to_change()
    }

    fn run(self: Box<Self>) -> String {
        self.0.answer()
    }
}
