//! An empty directory, made as every other change is.

use crate::Error;
use crate::zone::{Zone, ZonePath};
use fileshed_storage::{DiskError, Kind, Target};

impl Zone<'_> {
    /// Makes a directory, and those above it that are missing; whether there was none. `operation`
    /// is the name for history and logs.
    pub fn make_directory(
        &self,
        parameter: &'static str,
        path: &ZonePath,
        operation: &'static str,
    ) -> Result<bool, Error> {
        self.expect_writable()?;
        let staged = self.stage_directory()?;
        let writer = self.writer(operation)?;
        match self.destination(parameter, path)? {
            Target::Entry(entry) if entry.kind() == Kind::Directory => Ok(false),
            Target::Entry(entry) => {
                let path = entry.path().clone();
                Err(self.explain_disk(DiskError::Exists { path }))
            }
            target @ Target::Vacancy(_) => {
                writer
                    .install(staged, target)?
                    .commit(None, &format!("Make directory {path}"))?;
                Ok(true)
            }
        }
    }
}
