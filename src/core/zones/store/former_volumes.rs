//! Volumes of version 0.1.0, which could spread tenants on several directories.
//!
//! Tenants in another volume than the first would seem to have lost everything, so the server refuses to
//! start.

use fileshed_registry::{FIRST_VOLUME, Registry};
use fileshed_storage::{DiskError, Root};
use fileshed_types::{Error, diagnostics};

/// The file in which a volume says which one it is.
const FILE: &str = ".volume";

/// Most bytes that are read of it.
const FILE_MAX: u64 = 256;

/// Fails if a directory is another volume than the first: everything of the installation would look new.
pub(super) fn expect_first(data: &Root) -> Result<(), Error> {
    let content = data.read_private_file(FILE, FILE_MAX);
    let content = content.map_err(DiskError::server)?.unwrap_or_default();
    let text = String::from_utf8_lossy(&content);
    match text.split_whitespace().next() {
        None | Some(FIRST_VOLUME) => Ok(()),
        Some(name) => Err(FormerVolumesError::NotFirst {
            name: name.to_owned(),
        }
        .into()),
    }
}

/// Fails if tenants are in other volumes.
pub(super) fn expect_all_in_first(registry: &Registry) -> Result<(), Error> {
    match registry.tenants_in_other_volumes()? {
        0 => Ok(()),
        tenants => Err(FormerVolumesError::Others { tenants }.into()),
    }
}

/// Hint on moving all tenants into one directory.
const WAY_BACK: &str = "nothing was changed; start version 0.1.0 with its setting once more, move all that \
     `fileshed tenant list` shows elsewhere with `fileshed tenant move --to volume-1`, and name the \
     directory of `volume-1` alone";

diagnostics! {
    /// Not all data are in the directory of the setting.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum FormerVolumesError {
        /// The directory is another volume than the one with the registry.
        #[error("the directory of the setting `storage_base_path` is `{name}` of version 0.1.0, and the registry \
            is in `{FIRST_VOLUME}`")]
        NotFirst { name: String = "volume-2".to_owned() } => {
            code: InternalApiError,
            hint: WAY_BACK,
        },
        /// Tenants lie in other volumes.
        #[error("{tenants} users and groups are in other volumes of version 0.1.0, and this version has one \
            directory for all data")]
        Others { tenants: u64 = 7 } => {
            code: InternalApiError,
            hint: WAY_BACK,
        },
    }
}
