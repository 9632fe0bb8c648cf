//! Where the files of the compact tools are that are in no zone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Clock, Error, Settings, diagnostics};
use fileshed_files::{Memory, MemoryLimit, Provider};
#[cfg(feature = "objects")]
use fileshed_objects::ObjectStorage;
use fileshed_types::settings::{FilesUrl, MEBIBYTE};

/// The files of all users.
#[derive(Debug)]
pub struct FileStorage(Kind);

#[derive(Debug)]
enum Kind {
    Zone,
    Memory {
        clock: Clock,
        limit: Arc<MemoryLimit>,
        tenants: Mutex<HashMap<String, Arc<Memory>>>,
    },
    #[cfg(feature = "objects")]
    Objects(ObjectStorage),
}

impl FileStorage {
    /// The storage at an address.
    pub(crate) fn open(settings: &Settings, clock: &Clock) -> Result<Self, Error> {
        Ok(Self(match &settings.files_url {
            FilesUrl::Zone => Kind::Zone,
            FilesUrl::Memory => Kind::Memory {
                clock: clock.clone(),
                limit: Arc::new(MemoryLimit::new(
                    settings.files_memory_mb.saturating_mul(MEBIBYTE),
                )),
                tenants: Mutex::default(),
            },
            FilesUrl::Objects(address) => objects(address, clock)?,
        }))
    }

    /// What callers call the root of their files.
    #[must_use]
    pub fn root(&self) -> &'static str {
        match self.0 {
            Kind::Zone => "storage",
            Kind::Memory { .. } => "memory",
            #[cfg(feature = "objects")]
            Kind::Objects(_) => "objects",
        }
    }

    /// Asks whether files can be where the setting says, in bounded time; else why not. Nothing where
    /// they are in the storage zone of their user.
    pub(crate) fn check(&self) -> Option<Result<String, FileStorageError>> {
        match &self.0 {
            Kind::Zone => None,
            Kind::Memory { limit, .. } => {
                let (used, most) = (limit.used(), limit.most());
                Some(Ok(format!("{used} of {most} bytes of memory are used")))
            }
            #[cfg(feature = "objects")]
            Kind::Objects(storage) => Some(match storage.check() {
                Ok(()) => Ok("the bucket answers".to_owned()),
                Err(why) => Err(FileStorageError {
                    reason: format!("names a bucket that cannot be used: {why}"),
                }),
            }),
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
            Kind::Memory {
                clock,
                limit,
                tenants,
            } => {
                let mut tenants = tenants.lock().unwrap_or_else(PoisonError::into_inner);
                let files = tenants.entry(tenant.to_owned());
                let files = files
                    .or_insert_with(|| Arc::new(Memory::within(clock.clone(), Arc::clone(limit))));
                Some(Arc::clone(files) as _)
            }
            // One segment of a key, and nobody's but the tenant's.
            #[cfg(feature = "objects")]
            Kind::Objects(storage) => Some(Arc::new(storage.files(&tenant.replace('/', "-")))),
        }
    }
}

/// A bucket. As whom it is used, the environment of the server says.
#[cfg(feature = "objects")]
fn objects(address: &str, clock: &Clock) -> Result<Kind, FileStorageError> {
    let storage = ObjectStorage::open(address, &[], clock.clone());
    let storage = storage.map_err(|error| FileStorageError {
        reason: error.to_string(),
    })?;
    Ok(Kind::Objects(storage))
}

#[cfg(not(feature = "objects"))]
fn objects(_: &str, _: &Clock) -> Result<Kind, FileStorageError> {
    Err(FileStorageError {
        reason: "needs a program that was built with the feature `objects`".to_owned(),
    })
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
