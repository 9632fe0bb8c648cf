//! The end of a tenant: its directory goes as a whole, and what the registry has of it.

use crate::store::Store;
use crate::{Error, UserId, ZonePath};
use fileshed_registry::RegistryError;
use fileshed_storage::{DiskError, Removed, Staging};

/// Where what is removed waits for its end, below the data directory.
const REMOVED: &str = ".removed";

impl Store {
    /// Removes everything below the root of a user's tenant, while nobody else writes there.
    pub(crate) fn remove_tenant(&self, tenant: &str, user: &UserId) -> Result<(), Error> {
        self.remove_directory(tenant, || {
            self.registry().forget_home(tenant, user.as_str())
        })
    }

    /// Removes everything below the root of a group's tenant in the same way.
    pub(crate) fn remove_group(&self, tenant: &str, group: &str) -> Result<(), Error> {
        self.remove_directory(tenant, || self.registry().forget_group(tenant, group))
    }

    /// Removes a tenant's root while nobody else writes there; `forget` takes out what the registry has of
    /// it.
    pub(crate) fn remove_directory(
        &self,
        tenant: &str,
        forget: impl Fn() -> Result<(), RegistryError>,
    ) -> Result<(), Error> {
        if let Some(root) = self.existing_tenant(tenant)? {
            let mut write_locks = Vec::new();
            for zone in root.zones {
                write_locks.push(self.write_lock(&root, *zone)?);
            }
            let removed = self.set_aside(tenant)?;
            forget()?;
            removed.keep()?;
        } else {
            forget()?;
        }
        self.sweep_removed()
    }

    /// Takes the directory of a tenant out of its place. The caller has the tenant's write locks.
    fn set_aside(&self, tenant: &str) -> Result<Removed, DiskError> {
        let entry = self.data().entry(&ZonePath::found(tenant.to_owned()))?;
        let waiting = Staging::new(self.data().subdirectory(REMOVED)?, self.instance());
        waiting.remove(&entry)
    }

    /// Removes what an earlier call did not come to the end of.
    fn sweep_removed(&self) -> Result<(), Error> {
        if let Some(directory) = self.data().existing_subdirectory(REMOVED)? {
            let waiting = Staging::new(directory, self.instance());
            waiting.sweep(|| self.live_instances())?;
        }
        Ok(())
    }
}
