//! The root of everything of one user, or of one group.

use fileshed_registry::BIN;
use fileshed_storage::{DiskError, Root};
use fileshed_types::fair::CallSlot;
use fileshed_types::{BinNotes, ZoneName};

/// Directory of all working copies of a zone, beside its data.
pub const EDITZONE: &str = "editzone";

/// Directory of a zone's files, beside what belongs to them.
pub const DATA: &str = "data";

/// Everything of one user (or of the one person of shared mode, or of a group): the unit of
/// quota and of repair.
#[derive(Debug)]
pub struct TenantRoot {
    /// `shared`, `users/<namespace>`, `groups/<id>`: the name below the data directory, and
    /// the key in the registry.
    pub key: String,
    /// Its directory.
    pub root: Root,
    /// Bytes that it may hold.
    pub limit: u64,
    /// The zones that it has.
    pub zones: &'static [ZoneName],
    /// Given back while the caller waits for a write lock.
    pub place: CallSlot,
    /// Notes on what the caller's call did to the bin.
    pub notes: BinNotes,
}

impl TenantRoot {
    /// Returns the id of the group whose root it is.
    #[must_use]
    pub fn group(&self) -> Option<&str> {
        self.key.strip_prefix("groups/")
    }

    /// Returns the directory of a zone's files and of everything that belongs to them, if it exists.
    pub fn existing_base(&self, zone: ZoneName) -> Result<Option<Root>, DiskError> {
        match zone.directory() {
            Some(directory) => self.root.existing_subdirectory(directory),
            None => self.root.try_clone().map(Some),
        }
    }

    /// Returns the directory of deleted entries that can be restored, and creates it if it is missing.
    pub fn bin(&self) -> Result<Root, DiskError> {
        self.root.subdirectory(BIN)
    }

    /// Returns another handle of the same root.
    pub fn try_clone(&self) -> Result<Self, DiskError> {
        Ok(Self {
            key: self.key.clone(),
            root: self.root.try_clone()?,
            limit: self.limit,
            zones: self.zones,
            place: self.place.clone(),
            notes: self.notes.clone(),
        })
    }
}

/// The directories of a zone.
#[derive(Clone, Copy)]
pub struct ZoneRoots<'a> {
    /// The key of the tenant.
    pub tenant: &'a str,
    /// The name of the zone.
    pub zone: ZoneName,
    /// The directory that holds the files and the repository.
    pub base: &'a Root,
    /// The files.
    pub data: &'a Root,
}
