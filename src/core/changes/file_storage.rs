//! Storage of the compact tools, for files that are in no zone.

use std::collections::HashMap;
use std::sync::Arc;

use fileshed_files::{MemoryLimit, MemoryProvider, Provider};
use fileshed_types::settings::{FilesUrl, MEBIBYTE};
use fileshed_types::{Clock, Mutex, Settings};

/// The files of all users; in memory, unless they are in the storage zones.
#[derive(Debug)]
pub struct FileStorage(Option<MemoryFiles>);

#[derive(Debug)]
struct MemoryFiles {
    clock: Clock,
    limit: Arc<MemoryLimit>,
    tenants: Mutex<HashMap<String, Arc<MemoryProvider>>>,
}

impl FileStorage {
    /// The storage at an address.
    #[must_use]
    pub fn open(settings: &Settings, clock: &Clock) -> Self {
        let bytes = settings.files_memory_mb.saturating_mul(MEBIBYTE);
        Self(match settings.files_url {
            FilesUrl::Zone => None,
            FilesUrl::Memory => Some(MemoryFiles {
                clock: clock.clone(),
                limit: Arc::new(MemoryLimit::new(bytes)),
                tenants: Mutex::default(),
            }),
        })
    }

    /// Returns the name of the root of these files, as callers see it.
    #[must_use]
    pub fn root(&self) -> &'static str {
        if self.is_zone() { "storage" } else { "memory" }
    }

    /// Returns the used memory for files, in words; `None` if the files are in the storage zone of their
    /// user.
    pub fn memory_use(&self) -> Option<String> {
        let limit = &self.0.as_ref()?.limit;
        let (used, most) = (limit.used(), limit.most());
        Some(format!("{used} of {most} bytes of memory are used"))
    }

    /// Returns `true` if files are in the storage zone of their user.
    #[must_use]
    pub fn is_zone(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the files of a tenant; `None` if they are in its storage zone.
    pub fn of_tenant(&self, tenant: &str) -> Option<Arc<dyn Provider>> {
        let memory = self.0.as_ref()?;
        let mut tenants = memory.tenants.lock();
        let files = tenants.entry(tenant.to_owned()).or_insert_with(|| {
            let (clock, limit) = (memory.clock.clone(), Arc::clone(&memory.limit));
            Arc::new(MemoryProvider::within(clock, limit))
        });
        Some(Arc::clone(files) as _)
    }
}
