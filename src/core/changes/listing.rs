//! Listing of one directory of a zone, with the rights of the caller to each entry.

use std::collections::HashMap;

use fileshed_registry::Record;
use fileshed_storage::{Kind, WalkEntry};
use fileshed_text::without_accents;
use fileshed_types::settings::WriteMode;
use fileshed_types::{Error, ZoneName};
use fileshed_zones::zone::{Zone, ZonePath, is_git_name};

/// A directory of a zone.
#[derive(Debug)]
pub struct DirectoryListing {
    /// `true` if the caller may put anything into it.
    pub is_writable: bool,
    /// Files and directories, in the order of their paths; letters with accents beside those without.
    pub entries: Vec<ListedEntry>,
}

/// A file or a directory.
#[derive(Debug)]
pub struct ListedEntry {
    /// The entry as it is on disk.
    pub found: WalkEntry,
    /// `true` if the caller may change it.
    pub is_writable: bool,
    /// Whose it is, in a group where somebody wrote it through the server, and its mode.
    pub owner: Option<(String, WriteMode)>,
}

impl DirectoryListing {
    /// Lists a directory. Links and special files are no files to a caller, and git's own file in a
    /// versioned zone is not theirs.
    pub fn of(zone: &Zone<'_>, directory: &ZonePath) -> Result<Self, Error> {
        let found = zone.data.list(directory)?;
        let is_writable = zone.expect_writable().is_ok();
        let mut listing = Self::unshared(zone.name, found, is_writable);
        listing.share(zone, directory)?;
        Ok(listing)
    }

    /// Returns the listing of a directory that belongs to the caller alone, from the entries on disk.
    #[must_use]
    pub fn unshared(zone: ZoneName, mut found: Vec<WalkEntry>, is_writable: bool) -> Self {
        let hides_git = zone.is_versioned();
        found.retain(|found| {
            matches!(found.kind, Kind::File | Kind::Directory)
                && !(hides_git && found.path.name().is_some_and(is_git_name))
        });
        found.sort_by_cached_key(|found| {
            let path = found.path.as_str();
            (without_accents(path), path.to_owned())
        });
        let entries = found.into_iter().map(|found| ListedEntry {
            found,
            is_writable,
            owner: None,
        });
        Self {
            is_writable,
            entries: entries.collect(),
        }
    }

    /// Adds whose each file of a group is; outside groups nothing.
    fn share(&mut self, zone: &Zone<'_>, directory: &ZonePath) -> Result<(), Error> {
        let records = records(zone, directory)?;
        // Most directories have no records, and a key is made of every character of a path.
        if records.is_empty() {
            return Ok(());
        }
        for entry in &mut self.entries {
            if let Some(record) = records.get(&entry.found.path.key()) {
                entry.is_writable &= record.lets(zone.user());
                entry.owner = Some((record.owner.clone(), record.mode));
            }
        }
        Ok(())
    }
}

/// The records of files in a directory of a group, by their paths; outside groups there are none.
fn records(zone: &Zone<'_>, directory: &ZonePath) -> Result<HashMap<String, Record>, Error> {
    let Some(shared) = zone.group() else {
        return Ok(HashMap::new());
    };
    let (registry, group) = (&zone.store.registry, shared.id.as_str());
    let records = if directory.is_root() {
        registry.records(group)?
    } else {
        registry.records_around(group, &directory.key())?
    };
    let records = records.into_iter();
    Ok(records
        .map(|record| (record.path.clone(), record))
        .collect())
}
