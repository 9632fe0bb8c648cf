//! The end of a tenant: its directory goes as a whole, and what the registry has of it.

use crate::store::Store;
use crate::{Error, UserId, ZonePath};
use fileshed_storage::Staging;

/// Where what is removed waits for its end, below the data directory.
const REMOVED: &str = ".removed";

impl Store {
    /// Removes everything below the root of a user's tenant, while nobody else writes there.
    pub(crate) fn remove_tenant(&self, tenant: &str, user: &UserId) -> Result<(), Error> {
        let waiting = Staging::new(&self.data().subdirectory(REMOVED)?, self.instance())?;
        if let Some(root) = self.data().existing_subdirectory(tenant)? {
            let root = self.tenant_root(root, tenant);
            let mut write_locks = Vec::new();
            for zone in root.zones {
                write_locks.push(self.write_lock(&root, *zone)?);
            }
            let entry = self.data().entry(&ZonePath::found(tenant.to_owned()))?;
            let removed = waiting.remove(&entry)?;
            self.registry().forget_home(tenant, user.as_str())?;
            removed.keep()?;
        } else {
            self.registry().forget_home(tenant, user.as_str())?;
        }
        // What an earlier call did not come to the end of.
        waiting.sweep(|| self.live_instances())?;
        Ok(())
    }
}
