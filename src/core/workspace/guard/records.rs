//! Changes of who owns a file and who may write it. No file changes with them, and each is one write
//! to the registry, so there is no space to ask for and nothing to undo.

use std::collections::HashSet;

use crate::Error;
use crate::write_lock::WriteLock;
use crate::zone::Zone;
use fileshed_registry::Record;

/// The write lock of a group's zone, to change ownership records.
#[derive(Debug)]
pub(crate) struct RecordWriter<'a> {
    zone: &'a Zone<'a>,
    group: &'a str,
    _write_lock: WriteLock<'a>,
}

/// The right to change the record of one file, which is the caller's.
#[derive(Debug)]
#[must_use = "a permit is for one change"]
pub(crate) struct RecordPermit<'a> {
    writer: RecordWriter<'a>,
    record: Record,
}

impl<'a> Zone<'a> {
    /// Takes the write lock, to change ownership records; nothing outside groups.
    pub(crate) fn record_writer(&'a self) -> Result<Option<RecordWriter<'a>>, Error> {
        let Some(group) = self.group() else {
            return Ok(None);
        };
        self.expect_writable()?;
        Ok(Some(RecordWriter {
            zone: self,
            group: group.id.as_str(),
            _write_lock: self.write_lock()?,
        }))
    }
}

impl<'a> RecordWriter<'a> {
    /// Asks whether the file of this key is the caller's. Where it is not, gives its record, if it
    /// has one.
    pub(crate) fn guard(
        self,
        key: &str,
    ) -> Result<Result<RecordPermit<'a>, Option<Record>>, Error> {
        let record = self.zone.store.registry().record(self.group, key)?;
        Ok(match record {
            Some(record) if record.owner == self.zone.user() => Ok(RecordPermit {
                writer: self,
                record,
            }),
            other => Err(other),
        })
    }

    /// Drops the records of files that are gone: those that are not among the keys `there`.
    pub(crate) fn forget_all_but(self, there: &HashSet<String>) -> Result<Vec<String>, Error> {
        let registry = self.zone.store.registry();
        let records = registry.records(self.group)?.into_iter();
        let mut gone: Vec<String> = records.map(|record| record.path).collect();
        gone.retain(|path| !there.contains(path));
        registry.forget_records(self.group, &gone)?;
        Ok(gone)
    }
}

impl RecordPermit<'_> {
    /// Changes the record.
    pub(crate) fn change<T>(mut self, change: impl FnOnce(&mut Record) -> T) -> Result<T, Error> {
        let old = change(&mut self.record);
        let registry = self.writer.zone.store.registry();
        registry.enter_record(self.writer.group, &self.record)?;
        Ok(old)
    }
}
