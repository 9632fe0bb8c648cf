//! Removals of a whole tenant, or of the uploads of one conversation: a directory goes in one rename.

use super::permit::new_intent;
use crate::store::Store;
use crate::tenant::TenantRoot;
use crate::{Error, UserId, ZoneName, ZonePath};
use fileshed_history::Author;
use fileshed_registry::RegistryError;
use fileshed_storage::{DiskError, Removed, Root, Staging};

/// Directory for removed tenants until they are deleted, below the data directory.
const REMOVED: &str = ".removed";

/// The operation that ends uploads, for history and logs.
const OPERATION: &str = "uploads_retention";

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

    /// Removes the uploads in the directory `chat`, if `have_ended` still says so when nobody else
    /// writes there. Returns `true` if they were removed.
    pub(crate) fn remove_uploads(
        &self,
        tenant: &TenantRoot,
        chat: &str,
        have_ended: impl Fn(&Root) -> Result<bool, Error>,
    ) -> Result<bool, Error> {
        let zone = ZoneName::Uploads;
        self.try_make_ready(tenant, zone, None)?;
        let _write_lock = self.write_lock(tenant, zone)?;
        let Some(uploads) = tenant.existing_base(zone)? else {
            return Ok(false);
        };
        let place = uploads.existing_subdirectory(chat)?;
        if !place.as_ref().map(have_ended).transpose()?.unwrap_or(false) {
            return Ok(false);
        }
        let entry = uploads.entry(&ZonePath::found(chat.to_owned()))?;
        let nobody = Author::named(String::new(), String::new());
        let new = new_intent(self, tenant, zone, (OPERATION, &nobody));
        let intent = self.registry().begin(&new)?;
        let remove = || -> Result<(), Error> {
            self.staging(tenant)?.remove(&entry)?.keep()?;
            let left = uploads.measure()?;
            let place = (tenant.key.as_str(), zone.as_str());
            Ok(self.registry().commit_measured(intent, place, left)?)
        };
        if let Err(error) = remove() {
            // The next access measures what is there.
            self.leave_to_repair(&tenant.key, intent);
            return Err(error);
        }
        Ok(true)
    }
}
