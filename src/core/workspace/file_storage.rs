//! Where the files of the compact tools are that are in no zone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Clock, Error, diagnostics};
use fileshed_files::{Memory, Provider};
use fileshed_types::settings::FilesUrl;

/// The files of all users.
#[derive(Debug)]
pub struct FileStorage(Kind);

#[derive(Debug)]
enum Kind {
    Zone,
    Memory {
        clock: Clock,
        tenants: Mutex<HashMap<String, Arc<Memory>>>,
    },
}

impl FileStorage {
    /// The storage at an address.
    pub(crate) fn open(address: &FilesUrl, clock: &Clock) -> Result<Self, Error> {
        Ok(Self(match address {
            FilesUrl::Zone => Kind::Zone,
            FilesUrl::Memory => Kind::Memory {
                clock: clock.clone(),
                tenants: Mutex::default(),
            },
            FilesUrl::Objects(_) => {
                return Err(FileStorageError {
                    reason: "this program was built without object storages".to_owned(),
                }
                .into());
            }
        }))
    }

    /// What callers call the root of their files.
    #[must_use]
    pub fn root(&self) -> &'static str {
        match self.0 {
            Kind::Zone => "storage",
            Kind::Memory { .. } => "memory",
        }
    }

    /// Whether files are in the storage zone of their user.
    #[must_use]
    pub fn is_zone(&self) -> bool {
        matches!(self.0, Kind::Zone)
    }

    /// The files of a tenant; nothing where they are in its storage zone.
    pub(crate) fn of_tenant(&self, tenant: &str) -> Option<Arc<dyn Provider>> {
        match &self.0 {
            Kind::Zone => None,
            Kind::Memory { clock, tenants } => {
                let mut tenants = tenants.lock().unwrap_or_else(PoisonError::into_inner);
                let files = tenants.entry(tenant.to_owned());
                let files = files.or_insert_with(|| Arc::new(Memory::new(clock.clone())));
                Some(Arc::clone(files) as _)
            }
        }
    }
}

diagnostics! {
    /// Files cannot be where the setting says.
    #[derive(Debug, thiserror::Error)]
    #[error("the setting `files.url` {reason}")]
    pub struct FileStorageError {
        /// Why not.
        reason: String = "cannot be used: there is no region".to_owned(),
    } => {
        code: InternalApiError,
        hint: "set `files.url` to file:, memory: or the address of a bucket",
        details: { "setting": "files.url" },
    }
}
