//! The directories of tenants.

use super::{GROUPS, Store};
use crate::tenant::TenantRoot;
use fileshed_registry::Arrival;
use fileshed_storage::{DiskError, Kind, Reserve, Root};
use fileshed_types::fair::Place;
use fileshed_types::{Error, ZoneName, ZonePath};

impl Store {
    /// Says that something of a tenant changed. Strict: comes back when it is on disk.
    pub fn changed(&self) {
        self.flusher.changed();
    }

    /// The space for deletions.
    pub fn reserve(&self) -> &Reserve {
        &self.reserve
    }

    /// A tenant, of which there may be nothing yet, with the quota that is written down.
    pub(crate) fn made_tenant(&self, key: &str, arrival: &Arrival) -> Result<TenantRoot, Error> {
        let root = self.data.subdirectory(key)?;
        Ok(self.tenant_at(key, root, arrival.quota))
    }

    /// A tenant, if there is anything of it.
    pub fn existing_tenant(&self, key: &str) -> Result<Option<TenantRoot>, Error> {
        let Some(root) = self.data.existing_subdirectory(key)? else {
            return Ok(None);
        };
        let quota = self.registry.tenant_quota(key)?;
        Ok(Some(self.tenant_at(key, root, quota)))
    }

    fn tenant_at(&self, key: &str, root: Root, quota: Option<u64>) -> TenantRoot {
        TenantRoot {
            root,
            key: key.to_owned(),
            limit: quota.unwrap_or_else(|| self.usual_quota(key)),
            zones: zones_of(key),
            place: Place::default(),
        }
    }

    /// Whether there is a directory of a tenant.
    pub fn has_tenant(&self, key: &str) -> Result<bool, DiskError> {
        Ok(self.data.existing_subdirectory(key)?.is_some())
    }

    /// Makes the directory in which a tenant gets its own, for the server's account alone.
    pub fn make_parent_of(&self, tenant: &str) -> Result<(), DiskError> {
        if let Some((parent, _)) = tenant.rsplit_once('/') {
            self.data.subdirectory(parent)?;
        }
        Ok(())
    }

    /// The keys of the tenants that have a directory below one of this name.
    pub fn tenants_below(&self, parent: &str) -> Result<Vec<String>, DiskError> {
        let Some(directory) = self.data.existing_subdirectory(parent)? else {
            return Ok(Vec::new());
        };
        let entries = directory.list(&ZonePath::root())?.into_iter();
        let entries = entries.filter(|entry| entry.kind == Kind::Directory);
        let keys = entries.map(|entry| format!("{parent}/{}", entry.path));
        Ok(keys.collect())
    }
}

/// What a tenant holds.
fn zones_of(key: &str) -> &'static [ZoneName] {
    if key.starts_with(GROUPS) {
        &ZoneName::SHARED
    } else {
        &ZoneName::PERSONAL
    }
}
