//! The directories of data, and the one in which a tenant lies.
//!
//! Each is a file system of its own, so everything that a rename or a flush needs is there once for each:
//! staging lies beside the data of a tenant, and here are the thread that flushes, the space that is kept
//! for deletions, and the reader of what is in memory. What belongs to no tenant lies in the first.

mod error;
mod identity;
mod rendezvous;

use crate::Error;
use crate::tenant::{TenantRoot, VolumePlace};
use fileshed_storage::{CachedReader, DiskError, Flusher, Reserve, Root};
use fileshed_types::settings::Durability;

pub(crate) use error::VolumeError;
pub(crate) use identity::{VolumeIdentity, number};

/// The name of the first.
pub(crate) const FIRST: &str = "volume-1";

/// One directory of data that is open.
#[derive(Debug)]
pub(crate) struct Volume {
    /// What people call it.
    pub(crate) name: String,
    /// How many of all tenants come to it, compared with the others.
    weight: u64,
    pub(crate) root: Root,
    /// Its files that are read without waiting for a disk.
    pub(crate) cached_files: CachedReader,
    pub(crate) flusher: Flusher,
    /// Space that is kept for deletions.
    pub(crate) reserve: Reserve,
}

/// All of them, in the order of the setting.
#[derive(Debug)]
pub(crate) struct Volumes(Vec<Volume>);

impl Volume {
    pub(crate) fn open(
        root: Root,
        name: &str,
        weight: u64,
        durability: Durability,
    ) -> Result<Self, DiskError> {
        Ok(Self {
            name: name.to_owned(),
            weight,
            cached_files: CachedReader::new(&root)?,
            flusher: Flusher::start(&root, durability)?,
            reserve: Reserve::take(&root)?,
            root,
        })
    }

    /// Makes the directory in which a tenant gets its own, for the server's account alone.
    pub(crate) fn make_parent_of(&self, tenant: &str) -> Result<(), DiskError> {
        if let Some((parent, _)) = tenant.rsplit_once('/') {
            self.root.subdirectory(parent)?;
        }
        Ok(())
    }

    /// Fails where the place in which it was found does not lead to it any more.
    pub(crate) fn expect_mounted(&self) -> Result<(), Error> {
        let found = Root::open_existing_ambient(self.root.location())?;
        let found = found.as_ref().map(VolumeIdentity::read).transpose()?;
        if found.flatten() == VolumeIdentity::read(&self.root)? {
            return Ok(());
        }
        let name = self.name.clone();
        Err(VolumeError::NotMounted { name }.into())
    }
}

impl Volumes {
    pub(crate) fn new(all: Vec<Volume>) -> Self {
        Self(all)
    }

    /// Whether there is more than one.
    pub(crate) fn are_several(&self) -> bool {
        self.0.len() > 1
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Volume> {
        self.0.iter()
    }

    /// One by its number.
    pub(crate) fn at(&self, volume: usize) -> &Volume {
        &self.0[volume]
    }

    /// The one in which a tenant lies.
    pub(crate) fn of(&self, tenant: &TenantRoot) -> &Volume {
        self.at(tenant.volume.number)
    }

    /// The number of the one that has this name.
    pub(crate) fn named(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|volume| volume.name == name)
    }

    /// The numbers of those that have a directory of this name.
    pub(crate) fn with_directory(&self, name: &str) -> Result<Vec<usize>, DiskError> {
        let mut found = Vec::new();
        for (number, volume) in self.0.iter().enumerate() {
            if volume.root.existing_subdirectory(name)?.is_some() {
                found.push(number);
            }
        }
        Ok(found)
    }

    /// The number of the one that a new tenant comes to.
    pub(crate) fn choose(&self, tenant: &str) -> usize {
        let volumes = self.0.iter().map(|volume| (&*volume.name, volume.weight));
        rendezvous::choose(tenant, volumes)
    }

    /// Another handle of each.
    pub(crate) fn roots(&self) -> Result<Vec<Root>, Error> {
        let roots = self.0.iter().map(|volume| volume.root.try_clone());
        Ok(roots.collect::<Result<_, _>>()?)
    }

    /// Says that something changed in one of them, and in the rows of the registry, where they are a file
    /// of the first. Strict: comes back when both are on disk.
    pub(crate) fn changed(&self, place: VolumePlace, has_registry: bool) {
        let own = &self.at(place.number).flusher;
        if place.number == 0 || !has_registry {
            return own.changed();
        }
        let rows = &self.0[0].flusher;
        let (asked, asked_rows) = (own.ask(), rows.ask());
        own.wait(asked);
        rows.wait(asked_rows);
    }
}
