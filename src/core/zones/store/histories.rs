//! Work on the histories of zones.

use jiff::Timestamp;

use super::Store;
use fileshed_history::{CommitId, Failure, History, HistoryError};
use fileshed_storage::Root;
use fileshed_types::ZoneName;

/// The history of a zone, by what it lies beside.
#[derive(Clone, Copy)]
pub struct HistoryOf<'a> {
    /// The key of the tenant.
    pub tenant: &'a str,
    /// Which zone it is.
    pub zone: ZoneName,
    /// What holds the files and the repository.
    pub base: &'a Root,
    /// The files.
    pub data: &'a Root,
}

impl Store {
    /// Works on a history, whose writer lock the caller has. It is made on first use, and made anew
    /// where it is damaged.
    pub fn work_on_history<T, E: Failure>(
        &self,
        of: &HistoryOf<'_>,
        now: Timestamp,
        work: impl FnMut(&History) -> Result<T, E>,
    ) -> Result<T, E> {
        let done = History::work(of.base, of.data, now, work)?;
        self.packer.touched(of.tenant, of.zone);
        Ok(done)
    }

    /// The same for a commit of known paths, in a repository that stays open for the next one.
    pub(crate) fn commit_to_history(
        &self,
        of: &HistoryOf<'_>,
        now: Timestamp,
        commit: impl FnMut(&History) -> Result<Option<CommitId>, HistoryError>,
    ) -> Result<Option<CommitId>, HistoryError> {
        let done = self.repositories.work(of.base, of.data, now, commit)?;
        self.packer.touched(of.tenant, of.zone);
        Ok(done)
    }
}
