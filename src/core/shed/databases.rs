//! Databases that a dead process left in the middle of a change.

use crate::Error;
use crate::caller::Caller;
use crate::table;
use crate::zone::{Home, Zone, ZoneName, ZonePath};

use super::{DATA, Shed};

impl Shed {
    /// Rolls back what statements left that were cut off, before anything else meets it. What
    /// cannot be put right now is with the next statement.
    pub(super) fn put_databases_right(&self, home: &Home, zone: ZoneName) -> Result<(), Error> {
        let paths = self.ledger.cut_off_databases(&home.key, zone.as_str())?;
        let Some(base) = home.existing_base(zone)?.filter(|_| !paths.is_empty()) else {
            return Ok(());
        };
        let caller = Caller::default();
        let zone = Zone {
            shed: self,
            caller: &caller,
            name: zone,
            home: Home {
                key: home.key.clone(),
                root: home.root.try_clone()?,
                limit: home.limit,
                zones: home.zones,
                place: home.place.clone(),
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
                tracing::warn!(home = home.key, %error, "a database waits to be put right");
            }
        }
        Ok(())
    }
}
