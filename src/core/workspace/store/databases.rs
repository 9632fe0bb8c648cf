//! Databases that a dead process left in the middle of a change.

use crate::Error;
use crate::caller::Caller;
use crate::table;
use crate::zone::{TenantRoot, Zone, ZoneName, ZonePath};

use super::{DATA, Store};

impl Store {
    /// Rolls back what statements left that were cut off, before anything else meets it. What
    /// cannot be put right now is with the next statement.
    pub(super) fn put_databases_right(
        &self,
        tenant: &TenantRoot,
        zone: ZoneName,
    ) -> Result<(), Error> {
        let paths = self
            .registry
            .cut_off_databases(&tenant.key, zone.as_str())?;
        let Some(base) = tenant.existing_base(zone)?.filter(|_| !paths.is_empty()) else {
            return Ok(());
        };
        let caller = Caller::default();
        let zone = Zone {
            store: self,
            caller: &caller,
            name: zone,
            tenant: TenantRoot {
                key: tenant.key.clone(),
                root: tenant.root.try_clone()?,
                limit: tenant.limit,
                zones: tenant.zones,
                place: tenant.place.clone(),
            },
            data: base.subdirectory(DATA)?,
            base,
            group: None,
            ready: true,
            absent: false,
        };
        for path in paths {
            let path = ZonePath::found(path);
            if let Err(error) = table::put_right(&zone, &path) {
                tracing::warn!(tenant = tenant.key, %error, "a database waits to be put right");
            }
        }
        Ok(())
    }
}
