//! Opening a store with what only the top of the core knows.

use crate::store::{Opening, Store};
use crate::tenant::{DATA, TenantRoot};
use crate::{Caller, Clock, Error, Settings, Zone, ZoneName, ZonePath, databases};

impl Store {
    /// Opens the data directory; makes it at the first start, and refuses one in which something
    /// is lost.
    pub fn open(settings: Settings) -> Result<Self, Error> {
        Self::open_at(settings, Clock::SYSTEM)
    }

    /// Opens a store that exists; refuses a directory that has none.
    pub fn open_existing(settings: Settings) -> Result<Self, Error> {
        let clock = Clock::SYSTEM;
        Self::assemble(settings, clock, Opening::Existing, recover_databases)
    }

    /// [`Store::open`] with a clock, which a test may move.
    pub fn open_at(settings: Settings, clock: Clock) -> Result<Self, Error> {
        Self::assemble(settings, clock, Opening::Make, recover_databases)
    }
}

/// Rolls back what statements left that were cut off, before anything else meets it. What cannot be
/// put right now is put right with the next statement.
fn recover_databases(store: &Store, tenant: &TenantRoot, name: ZoneName) -> Result<(), Error> {
    let registry = store.registry();
    let paths = registry.cut_off_databases(&tenant.key, name.as_str())?;
    let Some(base) = tenant.existing_base(name)?.filter(|_| !paths.is_empty()) else {
        return Ok(());
    };
    let caller = Caller::default();
    let zone = Zone {
        store,
        caller: &caller,
        name,
        tenant: tenant.try_clone()?,
        data: base.subdirectory(DATA)?,
        base,
        group: None,
        ready: true,
        absent: false,
    };
    for path in paths {
        let path = ZonePath::found(path);
        if let Err(error) = databases::put_right(&zone, &path) {
            tracing::warn!(tenant = tenant.key, %error, "a database waits to be put right");
        }
    }
    Ok(())
}
