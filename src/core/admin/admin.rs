//! Parts of the core that administration works on.

use std::sync::Arc;

use fileshed_changes::FileStorage;
use fileshed_runs::Runs;
use fileshed_transfer::Transfer;
use fileshed_zones::store::Store;

/// Administration, and the maintenance that the server does by itself.
#[derive(Clone, Debug)]
pub struct Admin {
    /// Zones of callers.
    pub store: Arc<Store>,
    /// Commands, lines and shells.
    pub runs: Arc<Runs>,
    /// Uploads and links.
    pub transfer: Arc<Transfer>,
    /// Storage of the compact tools.
    pub files: Arc<FileStorage>,
}
