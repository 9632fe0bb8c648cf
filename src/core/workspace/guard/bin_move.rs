//! What goes between a zone and the bin, and how it is entered: when the change is done, when it is
//! undone, and when its process died.

use crate::Error;
use crate::store::Store;
use crate::tenant::TenantRoot;
use crate::zone::{ZoneName, ZonePath};
use fileshed_registry::{BinRow, Intent, RegistryError};

/// What a permit moves between its zone and the bin.
#[derive(Debug)]
pub(super) enum BinMove {
    /// It was deleted.
    Into(BinRow),
    /// It comes back.
    OutOf(BinRow),
}

impl BinMove {
    /// The change is done.
    pub(super) fn commit(&self, store: &Store, intent: Intent) -> Result<(), RegistryError> {
        match self {
            Self::Into(row) => store.registry().commit_into_bin(intent, row),
            Self::OutOf(row) => store.registry().commit_from_bin(intent, row),
        }
    }

    /// The change was undone, as far as that went.
    pub(super) fn roll_back(&self, store: &Store, tenant: &TenantRoot) -> Result<(), Error> {
        let (Self::Into(row) | Self::OutOf(row)) = self;
        store.settle(tenant, row)
    }
}

impl Store {
    /// Enters of one that was under way whether it is in the bin.
    fn settle(&self, tenant: &TenantRoot, row: &BinRow) -> Result<(), Error> {
        let bin = tenant.bin()?;
        let is_there = match bin.entry_as_named(&ZonePath::found(row.id.clone())) {
            Ok(_) => true,
            Err(error) if error.is_gone() => false,
            Err(error) => return Err(error.into()),
        };
        Ok(self.registry().settle_in_bin(row, is_there)?)
    }

    /// Enters what was under way between a zone and the bin when its process died. The caller has
    /// the zone's write lock.
    pub(super) fn repair_bin(&self, tenant: &TenantRoot, zone: ZoneName) -> Result<(), Error> {
        for row in self
            .registry()
            .unsettled_in_bin(&tenant.key, zone.as_str())?
        {
            self.settle(tenant, &row)?;
        }
        Ok(())
    }
}
