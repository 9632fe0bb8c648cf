//! Metadata of a file, from the file itself or from the registry.

use super::ZoneFiles;
use fileshed_files::{EntryType, Metadata, Version};
use fileshed_registry::{FileMetadata, FilePlace, PathTable};
use fileshed_storage::{Attributes, Entry, Kind};
use fileshed_types::{Error, ZonePath, random};
use jiff::Timestamp;

/// A text that no other write has.
pub(super) fn fresh_write() -> Result<String, Error> {
    Ok(hex::encode(random::bytes::<8>()?))
}

impl ZoneFiles<'_> {
    fn place<'p>(&'p self, path: &'p ZonePath) -> FilePlace<'p> {
        self.zone.place(path.as_str())
    }

    /// Returns the metadata of the entry at `path`.
    pub(super) fn metadata(&self, path: &ZonePath, entry: &Entry) -> Result<Metadata, Error> {
        self.metadata_from(path, path, entry)
    }

    /// Returns the metadata of the entry at `path`, which the registry knows at `before`.
    pub(super) fn metadata_from(
        &self,
        before: &ZonePath,
        path: &ZonePath,
        entry: &Entry,
    ) -> Result<Metadata, Error> {
        let mut attributes = entry.attributes();
        if entry.kind() == Kind::File && attributes.write.is_none() {
            let born = born(entry);
            let inode = (entry.stamp().inode(), born.as_deref());
            let known = &self.zone.store.registry;
            let known = known.file_metadata(self.place(before), inode)?;
            if let Some((known, at)) = known {
                self.follow(path, entry, &known, &at)?;
                complete(&mut attributes, known);
            }
        }
        Ok(metadata(path, entry, attributes))
    }

    /// Returns the metadata of these entries of one directory.
    pub(super) fn all_metadata(
        &self,
        directory: &ZonePath,
        entries: &[(ZonePath, Entry)],
    ) -> Result<Vec<Metadata>, Error> {
        let mut known = None;
        let mut all = Vec::with_capacity(entries.len());
        for (path, entry) in entries {
            let mut attributes = entry.attributes();
            if entry.kind() == Kind::File && attributes.write.is_none() {
                if !attributes.supported {
                    all.push(self.metadata(path, entry)?);
                    continue;
                }
                let registry = &self.zone.store.registry;
                let known = match &mut known {
                    Some(known) => known,
                    None => known.insert(registry.file_metadata_in(self.place(directory))?),
                };
                let known = known.remove(path.name().unwrap_or_default());
                if let Some(known) = known {
                    self.follow(path, entry, &known, path.as_str())?;
                    complete(&mut attributes, known);
                }
            }
            all.push(metadata(path, entry, attributes));
        }
        Ok(all)
    }

    /// A program wrote the file anew, or gave it another name: the registry knows it by what it is
    /// now, so that it is known after the next one.
    fn follow(
        &self,
        path: &ZonePath,
        entry: &Entry,
        known: &FileMetadata,
        at: &str,
    ) -> Result<(), Error> {
        let registry = &self.zone.store.registry;
        if at != path.as_str() {
            let at = ZonePath::found(at.to_owned());
            let tables = [PathTable::FileMetadata];
            registry.move_rows(&tables, self.place(&at), path.as_str())?;
        }
        let now = FileMetadata {
            inode: entry.stamp().inode(),
            born: born(entry),
            ..known.clone()
        };
        if now != *known {
            registry.set_file_metadata(self.place(path), &now)?;
        }
        Ok(())
    }

    /// Has the registry know of a file what the file itself may lose.
    pub(super) fn remember(
        &self,
        path: &ZonePath,
        entry: &Entry,
        attributes: &Attributes,
    ) -> Result<(), Error> {
        let created_at = attributes.created_at.unwrap_or_else(|| entry.begun_at());
        let known = FileMetadata {
            inode: entry.stamp().inode(),
            born: born(entry),
            created_at: created_at.to_string(),
            mime_type: attributes.mime_type.clone(),
            write: attributes.write.clone().unwrap_or_default(),
        };
        let registry = &self.zone.store.registry;
        Ok(registry.set_file_metadata(self.place(path), &known)?)
    }
}

fn born(entry: &Entry) -> Option<String> {
    let (seconds, nanoseconds) = entry.born()?;
    Some(format!("{seconds}.{nanoseconds:09}"))
}

/// Adds the attributes that the file itself does not store.
fn complete(attributes: &mut Attributes, known: FileMetadata) {
    let created_at: Option<Timestamp> = known.created_at.parse().ok();
    attributes.created_at = match (attributes.created_at, created_at) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    };
    attributes.mime_type = attributes.mime_type.take().or(known.mime_type);
    attributes.write = attributes.write.take().or(Some(known.write));
}

fn metadata(path: &ZonePath, entry: &Entry, attributes: Attributes) -> Metadata {
    let is_file = entry.kind() == Kind::File;
    let created_at = attributes.created_at.unwrap_or_else(|| entry.begun_at());
    let write = attributes.write.unwrap_or_default();
    Metadata {
        path: path.clone(),
        kind: if is_file {
            EntryType::File
        } else {
            EntryType::Directory
        },
        mime_type: attributes.mime_type.filter(|_| is_file),
        size: if is_file { entry.size() } else { 0 },
        created_at,
        updated_at: entry.stamp().modified_exactly(),
        version: Version(format!("{}{write}", entry.stamp().tag())),
    }
}
