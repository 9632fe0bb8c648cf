//! Parts of the core that administration works on.

use std::sync::Arc;

use fileshed_changes::FileStorage;
use fileshed_runs::Runs;
use fileshed_transfer::Transfer;
use fileshed_zones::store::Store;

/// Administration, and the maintenance that the server does by itself.
#[derive(Clone, Debug)]
pub struct Admin {
    pub(crate) store: Arc<Store>,
    pub(crate) runs: Arc<Runs>,
    pub(crate) transfer: Arc<Transfer>,
    pub(crate) files: Arc<FileStorage>,
}

impl Admin {
    /// Administers a data directory and everything that works on it.
    pub fn new(
        store: Arc<Store>,
        runs: Arc<Runs>,
        transfer: Arc<Transfer>,
        files: Arc<FileStorage>,
    ) -> Self {
        Self {
            store,
            runs,
            transfer,
            files,
        }
    }
}
