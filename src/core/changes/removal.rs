//! Removals of a whole tenant, or of the uploads of one conversation: a directory goes in one rename.

#![expect(
    clippy::disallowed_methods,
    reason = "intents are recorded and ended here"
)]

use super::permit::new_intent;
use crate::repair;
use fileshed_history::Author;
use fileshed_registry::RegistryError;
use fileshed_storage::{DiskError, Removed, Root, Staging};
use fileshed_types::{Error, ZoneName, ZonePath};
use fileshed_zones::store::Store;
use fileshed_zones::tenant::TenantRoot;

/// Directory for removed tenants until they are deleted, below the data directory.
const REMOVED: &str = ".removed";

/// The operation that ends uploads, for history and logs.
const OPERATION: &str = "uploads_retention";

/// Removes a tenant's root while nobody else writes there; `forget` takes out what the registry has of
/// it.
pub fn remove_directory(
    store: &Store,
    tenant: &str,
    forget: impl Fn() -> Result<(), RegistryError>,
) -> Result<(), Error> {
    if let Some(root) = store.existing_tenant(tenant)? {
        let mut write_locks = Vec::new();
        for zone in root.zones {
            write_locks.push(store.write_lock(&root, *zone)?);
        }
        let removed = set_aside(store, tenant)?;
        forget()?;
        removed.keep()?;
    } else {
        forget()?;
    }
    sweep_removed(store)
}

/// Takes the directory of a tenant out of its place. The caller has the tenant's write locks.
fn set_aside(store: &Store, tenant: &str) -> Result<Removed, DiskError> {
    let entry = store.data.entry(&ZonePath::found(tenant.to_owned()))?;
    let waiting = Staging::new(store.data.subdirectory(REMOVED)?, &store.instance.name);
    waiting.remove(&entry)
}

/// Removes what an earlier call did not come to the end of.
fn sweep_removed(store: &Store) -> Result<(), Error> {
    if let Some(directory) = store.data.existing_subdirectory(REMOVED)? {
        let waiting = Staging::new(directory, &store.instance.name);
        waiting.sweep(|| store.instance.live_instances())?;
    }
    Ok(())
}

/// Removes the uploads in the directory `chat`, if `have_ended` still says so when nobody else
/// writes there. Returns `true` if they were removed.
pub fn remove_uploads(
    store: &Store,
    tenant: &TenantRoot,
    chat: &str,
    have_ended: impl Fn(&Root) -> Result<bool, Error>,
) -> Result<bool, Error> {
    let zone = ZoneName::Uploads;
    repair::try_make_ready(store, tenant, zone, None)?;
    let _write_lock = store.write_lock(tenant, zone)?;
    let Some(uploads) = tenant.existing_base(zone)? else {
        return Ok(false);
    };
    let place = uploads.existing_subdirectory(chat)?;
    if !place.as_ref().map(have_ended).transpose()?.unwrap_or(false) {
        return Ok(false);
    }
    let entry = uploads.entry(&ZonePath::found(chat.to_owned()))?;
    let nobody = Author::named(String::new(), String::new());
    let new = new_intent(store, tenant, zone, (OPERATION, &nobody));
    let intent = store.registry.begin(new)?;
    let remove = || -> Result<(), Error> {
        store.staging(tenant)?.remove(&entry)?.keep()?;
        let left = uploads.measure()?;
        let place = (tenant.key.as_str(), zone.as_str());
        Ok(store.registry.commit_measured(intent, place, left)?)
    };
    if let Err(error) = remove() {
        // The next access measures what is there.
        store.leave_to_repair(&tenant.key, intent);
        return Err(error);
    }
    Ok(true)
}
