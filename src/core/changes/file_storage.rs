//! Storage of the compact tools, for files that are in no zone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use fileshed_files::{Memory, MemoryLimit, Provider};
use fileshed_types::settings::{FilesUrl, MEBIBYTE};
use fileshed_types::{Clock, Settings};

/// The files of all users.
#[derive(Debug)]
pub struct FileStorage(StorageKind);

#[derive(Debug)]
enum StorageKind {
    Zone,
    Memory {
        clock: Clock,
        limit: Arc<MemoryLimit>,
        tenants: Mutex<HashMap<String, Arc<Memory>>>,
    },
}

impl FileStorage {
    /// The storage at an address.
    #[must_use]
    pub fn open(settings: &Settings, clock: &Clock) -> Self {
        Self(match settings.files_url {
            FilesUrl::Zone => StorageKind::Zone,
            FilesUrl::Memory => StorageKind::Memory {
                clock: clock.clone(),
                limit: Arc::new(MemoryLimit::new(
                    settings.files_memory_mb.saturating_mul(MEBIBYTE),
                )),
                tenants: Mutex::default(),
            },
        })
    }

    /// What callers call the root of their files.
    #[must_use]
    pub fn root(&self) -> &'static str {
        match self.0 {
            StorageKind::Zone => "storage",
            StorageKind::Memory { .. } => "memory",
        }
    }

    /// How much of the memory for files is used, in words; nothing where they are in the storage zone of
    /// their user.
    pub fn memory_use(&self) -> Option<String> {
        let StorageKind::Memory { limit, .. } = &self.0 else {
            return None;
        };
        let (used, most) = (limit.used(), limit.most());
        Some(format!("{used} of {most} bytes of memory are used"))
    }

    /// Returns `true` if files are in the storage zone of their user.
    #[must_use]
    pub fn is_zone(&self) -> bool {
        matches!(self.0, StorageKind::Zone)
    }

    /// The files of a tenant; nothing where they are in its storage zone.
    pub fn of_tenant(&self, tenant: &str) -> Option<Arc<dyn Provider>> {
        match &self.0 {
            StorageKind::Zone => None,
            StorageKind::Memory {
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
        }
    }
}
