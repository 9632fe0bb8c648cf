//! Work on the histories of zones.

use jiff::Timestamp;

use super::Store;
use crate::tenant::ZoneRoots;
use fileshed_history::{CommitId, History, HistoryError, HistoryFailure};

impl Store {
    /// Works on a history, whose writer lock the caller has. It is made on first use, and made anew
    /// where it is damaged.
    pub fn work_on_history<T, E: HistoryFailure>(
        &self,
        of: &ZoneRoots<'_>,
        now: Timestamp,
        work: impl FnMut(&History) -> Result<T, E>,
    ) -> Result<T, E> {
        let done = History::work(of.base, of.data, now, work)?;
        self.touched(of);
        Ok(done)
    }

    /// The same for a commit of known paths, in a repository that stays open for the next one.
    pub(crate) fn commit_to_history(
        &self,
        of: &ZoneRoots<'_>,
        now: Timestamp,
        commit: impl FnMut(&History) -> Result<Option<CommitId>, HistoryError>,
    ) -> Result<Option<CommitId>, HistoryError> {
        let done = self.repositories.work(of.base, of.data, now, commit)?;
        self.touched(of);
        Ok(done)
    }

    fn touched(&self, of: &ZoneRoots<'_>) {
        if let Some(packer) = &self.packer {
            packer.touched(of.tenant, of.zone);
        }
    }
}
