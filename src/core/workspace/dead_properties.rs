//! Properties that programs keep with files over WebDAV.

use crate::Error;
use crate::guard::{check_lock, check_owner};
use crate::zone::{Zone, ZonePath};
use fileshed_registry::{DeadProperty, PathTable, PropertyChange};

impl Zone<'_> {
    /// Whether programs keep properties with anything in the zone.
    pub fn has_dead_properties(&self) -> Result<bool, Error> {
        let registry = self.store.registry();
        let (tenant, zone) = (&self.tenant.key, self.name().as_str());
        Ok(registry.has_rows(PathTable::DeadProperties, tenant, zone)?)
    }

    /// The properties of what is at a path.
    pub fn dead_properties(&self, path: &ZonePath) -> Result<Vec<DeadProperty>, Error> {
        let registry = self.store.registry();
        Ok(registry.dead_properties(self.place(path.as_str()))?)
    }

    /// Makes all changes to the properties of what is at a path, or none where there would be too
    /// much; whether they are made. Whoever may write the file may.
    pub fn change_dead_properties(
        &self,
        path: &ZonePath,
        changes: &[PropertyChange],
    ) -> Result<bool, Error> {
        self.expect_writable()?;
        check_lock(self, path)?;
        check_owner(self, [path])?;
        let registry = self.store.registry();
        Ok(registry.change_dead_properties(self.place(path.as_str()), changes)?)
    }

    /// Gives what was copied the properties of what it was copied from.
    pub(crate) fn copy_dead_properties(&self, from: (&Zone<'_>, &ZonePath), path: &ZonePath) {
        let from = from.0.place(from.1.as_str());
        let (registry, to) = (self.store.registry(), self.place(path.as_str()));
        let copied = registry
            .forget_rows(&[PathTable::DeadProperties], to)
            .and_then(|()| registry.copy_dead_properties(from, to));
        if let Err(error) = copied {
            tracing::warn!(%error, "the properties of a file were not copied");
        }
    }
}
