//! Work on the histories of zones.

use jiff::Timestamp;

use super::Store;
use crate::tenant::ZoneRoots;
use fileshed_history::{History, HistoryFailure};

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
        if let Some(packer) = &self.packer {
            packer.touched(of.tenant, of.zone);
        }
        Ok(done)
    }
}
