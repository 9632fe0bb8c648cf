//! Where tenants lie: decided at their first use, written down in the registry, and asked there from then
//! on, because another process may have moved one since.

use std::collections::{HashMap, HashSet};

use super::{GROUPS, Store};
use crate::tenant::{TenantRoot, VolumePlace};
use crate::volumes::{Volume, VolumeError, Volumes};
use crate::{Error, ZoneName, ZonePath};
use fileshed_registry::{Arrival, Occupant, Placement, RegistryError};
use fileshed_storage::{Kind, Reserve, Root};
use fileshed_types::fair::Place;

impl Store {
    /// The directories of data.
    pub(crate) fn volumes(&self) -> &Volumes {
        &self.volumes
    }

    /// The one in which a tenant lies.
    pub(crate) fn volume(&self, tenant: &TenantRoot) -> &Volume {
        self.volumes.of(tenant)
    }

    /// Says that something of a tenant changed. Strict: comes back when it is on disk.
    pub(crate) fn changed(&self, tenant: &TenantRoot) {
        self.volumes
            .changed(tenant.volume, self.registry.is_a_file());
    }

    /// A tenant, of which there may be nothing yet, with the quota and the place that are written down.
    pub(crate) fn made_tenant(&self, key: &str, arrival: &Arrival) -> Result<TenantRoot, Error> {
        let place = self.decided_place(key, arrival.placement.as_ref())?;
        let root = self.volumes.at(place.number).root.subdirectory(key)?;
        Ok(self.tenant_at(key, place, root, arrival.quota))
    }

    /// A tenant, if there is anything of it.
    pub(crate) fn existing_tenant(&self, key: &str) -> Result<Option<TenantRoot>, Error> {
        let arrival = self.registry.arrival("", key)?;
        let Some(place) = self.existing_place(key, arrival.placement.as_ref())? else {
            return Ok(None);
        };
        let volume = self.volumes.at(place.number);
        let root = volume.root.existing_subdirectory(key)?;
        Ok(root.map(|root| self.tenant_at(key, place, root, arrival.quota)))
    }

    fn tenant_at(
        &self,
        key: &str,
        volume: VolumePlace,
        root: Root,
        quota: Option<u64>,
    ) -> TenantRoot {
        TenantRoot {
            root,
            key: key.to_owned(),
            volume,
            limit: quota.unwrap_or_else(|| self.usual_quota(key)),
            zones: zones_of(key),
            place: Place::default(),
        }
    }

    /// Whether there is a directory of a tenant.
    pub(crate) fn has_tenant(&self, key: &str) -> Result<bool, Error> {
        Ok(self.existing_tenant(key)?.is_some())
    }

    /// The volume that a tenant comes to of which there is nothing; from now on it is that tenant's.
    pub(crate) fn volume_of_new(&self, key: &str) -> Result<&Volume, Error> {
        let placement = self.registry.placement(key)?;
        Ok(self
            .volumes
            .at(self.decided_place(key, placement.as_ref())?.number))
    }

    /// Fails where a tenant was moved since its directory was opened. It stays so for who has one of its
    /// write locks.
    pub(crate) fn expect_unmoved(&self, tenant: &TenantRoot) -> Result<(), Error> {
        let Some(moves) = tenant.volume.moves else {
            return Ok(());
        };
        match self.registry.placement(&tenant.key)? {
            Some(now) if now.moves != moves => Err(RegistryError::Moved.into()),
            _ => Ok(()),
        }
    }

    /// The volume of a tenant that is there; nothing where it is not known without a look at the disk.
    pub(crate) fn volume_at_once(&self, placement: Option<&Placement>) -> Option<&Volume> {
        if !self.volumes.are_several() {
            return Some(self.volumes.at(0));
        }
        Some(self.volumes.at(self.volumes.named(&placement?.volume)?))
    }

    /// Where tenants lie, for who looks at all of them; empty where there is one volume.
    pub(crate) fn all_placements(&self) -> Result<HashMap<String, Placement>, Error> {
        if !self.volumes.are_several() {
            return Ok(HashMap::new());
        }
        Ok(self.registry.placements()?)
    }

    /// The name of the volume in which a tenant lies, of whom it is decided.
    pub(crate) fn volume_name(&self, key: &str) -> Result<Option<String>, Error> {
        let placement = self.registry.placement(key)?;
        let place = match self.existing_place(key, placement.as_ref()) {
            // Of one that lies in two, nothing is decided.
            Err(error) if matches!(error.cause(), Some(VolumeError::TwoPlaces)) => None,
            place => place?,
        };
        Ok(place.map(|place| self.volumes.at(place.number).name.clone()))
    }

    /// The keys of the tenants that have a directory below one of this name, in the volume in which they
    /// lie: what a move left elsewhere is nobody's.
    pub(crate) fn tenants_below(&self, parent: &str) -> Result<Vec<String>, Error> {
        let placements = self.all_placements()?;
        let mut found = Vec::new();
        for volume in self.volumes.all() {
            let Some(directory) = volume.root.existing_subdirectory(parent)? else {
                continue;
            };
            for entry in directory.list(&ZonePath::root())? {
                let key = format!("{parent}/{}", entry.path);
                let lies_in = placements.get(&key).map(|placement| &placement.volume);
                let is_there = lies_in.is_none_or(|name| *name == volume.name);
                if entry.kind == Kind::Directory && is_there {
                    found.push(key);
                }
            }
        }
        // One of whom nothing is written down may lie in two volumes.
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The space for deletions in the volume of a tenant.
    pub(crate) fn reserve(&self, tenant: &TenantRoot) -> &Reserve {
        &self.volumes.of(tenant).reserve
    }

    /// Where a tenant lies, if that is decided: as it is written down, and where it never was, as of all
    /// of an installation that had one volume, where it has a directory.
    fn existing_place(
        &self,
        key: &str,
        placement: Option<&Placement>,
    ) -> Result<Option<VolumePlace>, Error> {
        if !self.volumes.are_several() {
            return Ok(Some(VolumePlace::default()));
        }
        if let Some(placement) = placement {
            return Ok(Some(self.place(placement)?));
        }
        match *self.volumes.with_directory(key)? {
            [] => Ok(None),
            [number] => Ok(Some(self.write_down(key, number)?)),
            _ => Err(VolumeError::TwoPlaces.into()),
        }
    }

    /// Where a tenant lies, from now on where that was not decided.
    fn decided_place(
        &self,
        key: &str,
        placement: Option<&Placement>,
    ) -> Result<VolumePlace, Error> {
        match self.existing_place(key, placement)? {
            Some(place) => Ok(place),
            None => self.write_down(key, self.volumes.choose(key)),
        }
    }

    fn write_down(&self, key: &str, number: usize) -> Result<VolumePlace, Error> {
        let name = &self.volumes.at(number).name;
        let now = self.clock.now().as_second();
        self.registry.place(key, name, now)?;
        // Another process may have been first.
        let placement = self.registry.placement(key)?;
        self.place(&placement.ok_or(RegistryError::Moved)?)
    }

    fn place(&self, placement: &Placement) -> Result<VolumePlace, Error> {
        let number = self.volumes.named(&placement.volume);
        let name = || placement.volume.clone();
        Ok(VolumePlace {
            number: number.ok_or_else(|| VolumeError::NotOpen { name: name() })?,
            moves: Some(placement.moves),
        })
    }
}

/// Keeps tenants from being moved until it is dropped: something has their directories open.
#[derive(Debug)]
#[must_use = "the tenants may be moved when it is dropped"]
pub(crate) struct Occupancy<'a> {
    store: &'a Store,
    occupants: Vec<Occupant>,
}

impl Store {
    /// Keeps these tenants where they are, for something that people call `what`.
    pub(crate) fn occupy<'t>(
        &self,
        tenants: impl Iterator<Item = &'t TenantRoot>,
        what: &str,
    ) -> Result<Occupancy<'_>, Error> {
        let mut occupancy = Occupancy {
            store: self,
            occupants: Vec::new(),
        };
        let mut seen = HashSet::new();
        for tenant in tenants {
            let Some(moves) = tenant.volume.moves else {
                continue;
            };
            if seen.insert(&tenant.key) {
                let place = (tenant.key.as_str(), moves);
                let occupant = self.registry.occupy(place, self.instance(), what)?;
                occupancy.occupants.push(occupant);
            }
        }
        Ok(occupancy)
    }
}

impl Drop for Occupancy<'_> {
    fn drop(&mut self) {
        for occupant in self.occupants.drain(..) {
            if let Err(error) = self.store.registry.leave(occupant) {
                tracing::warn!(%error, "a tenant cannot be moved before this server ends");
            }
        }
    }
}

/// What a tenant holds.
fn zones_of(key: &str) -> &'static [ZoneName] {
    if key.starts_with(GROUPS) {
        &ZoneName::SHARED
    } else {
        &ZoneName::PERSONAL
    }
}
