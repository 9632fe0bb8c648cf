//! The child of a call: started on a database, its answer understood.

use super::DATABASE_JOB;
use super::error::TableError;
use crate::process::{JobBounds, JobEnd, run_job};
use crate::runs::Runs;
use fileshed_storage::{Entry, PrivateDirectory, Staged};
use fileshed_tables::{
    Action, DatabaseError, DatabaseReply, DatabaseRequest, OpenMode, PRIVATE_CSV, TargetDatabase,
};
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{Error, timings};
use fileshed_zones::zone::{Zone, ZonePath};

/// Bytes of an answer beside its rows: names of columns and the like.
const FRAME: u64 = 8 * MEBIBYTE;

/// Time to put a database right that a child left in the middle of a change.
const RECOVERY: u64 = 20;

/// The operation whose parameter `path` is a file of rows.
pub(super) const CONVERSION: &str = "shed_convert";

/// One call.
pub(super) struct DatabaseCall<'a> {
    pub(super) runs: &'a Runs,
    pub(super) zone: &'a Zone<'a>,
    pub(super) operation: &'static str,
    pub(super) path: ZonePath,
    /// A file of another zone that a child reads.
    pub(super) csv: Option<Entry>,
}

impl<'a> DatabaseCall<'a> {
    pub(super) fn new(
        runs: &'a Runs,
        zone: &'a Zone<'a>,
        operation: &'static str,
        path: ZonePath,
    ) -> Self {
        Self {
            runs,
            zone,
            operation,
            path,
            csv: None,
        }
    }

    /// Starts a child and understands its answer.
    pub(super) fn child(
        &self,
        database: TargetDatabase,
        action: Action,
        output: Option<&mut Staged>,
        private: &PrivateDirectory,
    ) -> Result<DatabaseReply, Error> {
        let settings = &self.zone.store.settings;
        let (seconds, bytes) = match &action {
            Action::Query(query) => (settings.exec_timeout_default, query.bytes),
            Action::Import(_) | Action::Convert(..) | Action::Look(..) => {
                (settings.exec_timeout_default, 0)
            }
            Action::Recover => (RECOVERY, 0),
        };
        let work = DatabaseRequest {
            temporary: private.location().to_owned(),
            seconds,
            heap: settings.exec_memory_limit_mb * MEBIBYTE / 2,
            action,
            database,
        };
        let bounds = JobBounds {
            command: self.operation,
            private,
            changes: work.database.is_changed(),
            must_end: matches!(work.action, Action::Recover),
            output,
            answer: (bytes + FRAME) as usize,
            time: timings::seconds(seconds) + settings.timings.work.database,
            // A journal may be as large as the database, and a little more.
            file_size: 2 * settings.largest_file() + FRAME,
        };
        Ok(
            match run_job(self.runs, self.zone, &DATABASE_JOB, &work, bounds)? {
                JobEnd::Answered(answer) => answer,
                JobEnd::TooLong => DatabaseReply::Refused(DatabaseError::TooLong),
                JobEnd::Died => DatabaseReply::Refused(DatabaseError::Died),
            },
        )
    }

    pub(super) fn private(&self) -> Result<PrivateDirectory, Error> {
        let private = self.zone.store.private_directory(&self.zone.tenant)?;
        if let Some(csv) = &self.csv {
            private.receive(PRIVATE_CSV, &mut csv.open()?)?;
        }
        Ok(private)
    }

    /// Bytes that a file of the zone may have which has `old` now.
    pub(super) fn most(&self, old: u64) -> Result<u64, Error> {
        let left = self.zone.store.space_left(&self.zone.tenant)?;
        Ok(self.zone.store.settings.largest_file().min(old + left))
    }

    /// An answer that is not what was asked for, as a failure.
    pub(super) fn refused(&self, answer: DatabaseReply) -> Error {
        let refusal = match answer {
            DatabaseReply::Refused(refusal) => refusal,
            _ => DatabaseError::Died,
        };
        let seconds = self.zone.store.settings.exec_timeout_default;
        let path = self.path.as_str().to_owned();
        let parameter = match self.operation {
            CONVERSION => "path",
            _ => "import_csv",
        };
        let file = (parameter, self.csv.is_some());
        let error = TableError::of(refusal, path, seconds, file);
        self.zone.explain(error.into())
    }
}

/// Rolls back what a dead process left half done in the database at `path`. For calls that hold the
/// zone's write lock.
pub(super) fn recover(runs: &Runs, zone: &Zone<'_>, path: &ZonePath) -> Result<(), Error> {
    let call = DatabaseCall::new(runs, zone, "shed_sqlite", path.clone());
    let entry = zone.data.followed(path)?;
    let most = call.most(entry.size())?;
    let database = TargetDatabase::Zone {
        path: entry.path().as_str().to_owned(),
        mode: OpenMode::Write { most },
    };
    match call.child(database, Action::Recover, None, &call.private()?)? {
        DatabaseReply::Recovered => Ok(()),
        other => Err(call.refused(other)),
    }
}
