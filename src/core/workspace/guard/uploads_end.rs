//! The end of the uploads of one conversation: they go as a whole, in one rename.

use crate::store::Store;
use crate::tenant::TenantRoot;
use crate::{Error, ZoneName, ZonePath};
use fileshed_registry::NewIntent;
use fileshed_storage::Root;

/// What history and logs call it.
const OPERATION: &str = "uploads_retention";

impl Store {
    /// Removes the uploads in the directory `chat`, if `have_ended` still says so when nobody else
    /// writes there. Whether they were removed.
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
        let intent = self.registry().begin(&NewIntent {
            tenant: &tenant.key,
            zone: zone.as_str(),
            instance: self.instance(),
            operation: OPERATION,
            author_name: "",
            author_email: "",
            bytes: 0,
            files: 0,
            limit: tenant.limit,
            most_files: self.settings().max_files,
            ownership_change: None,
        })?;
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
