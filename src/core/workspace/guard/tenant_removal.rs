//! The end of a tenant: its directory goes as a whole, and what the registry has of it.

use crate::store::Store;
use crate::volumes::Volume;
use crate::{Error, UserId, ZonePath};
use fileshed_registry::RegistryError;
use fileshed_storage::{Removed, Staging};

/// Where what is removed waits for its end, below its volume.
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
            // What a move left elsewhere would be found as the tenant's.
            let volumes = self.volumes().all();
            let removed = volumes.map(|volume| self.set_aside(tenant, volume));
            let removed = removed.collect::<Result<Vec<_>, Error>>()?;
            forget()?;
            for removed in removed.into_iter().flatten() {
                removed.keep()?;
            }
        } else {
            forget()?;
        }
        self.sweep_removed()
    }

    /// Takes the directory of a tenant out of a volume, if it is there. The caller has the tenant's write
    /// locks.
    pub(crate) fn set_aside(
        &self,
        tenant: &str,
        volume: &Volume,
    ) -> Result<Option<Removed>, Error> {
        if volume.root.existing_subdirectory(tenant)?.is_none() {
            return Ok(None);
        }
        let entry = volume.root.entry(&ZonePath::found(tenant.to_owned()))?;
        let waiting = Staging::new(volume.root.subdirectory(REMOVED)?, self.instance());
        Ok(Some(waiting.remove(&entry)?))
    }

    /// Removes what an earlier call did not come to the end of.
    pub(crate) fn sweep_removed(&self) -> Result<(), Error> {
        for volume in self.volumes().all() {
            if let Some(directory) = volume.root.existing_subdirectory(REMOVED)? {
                let waiting = Staging::new(directory, self.instance());
                waiting.sweep(|| self.live_instances())?;
            }
        }
        Ok(())
    }
}
