//! What is known of files that cannot tell it themselves.

use std::collections::HashMap;

use super::database::{Statements as _, Value};
use super::rows::row;
use super::{FilePlace, Registry, RegistryError};

/// The directory of files whose path is not known; no path begins with it.
const NOWHERE: &str = "/";

/// Files of a zone without a path that are remembered.
const LOST_MOST: u32 = 1000;

row! {
    /// Metadata that a program gave for one file.
    pub struct FileMetadata {
        /// The file's identity in the kernel.
        inode: u64 = "inode",
        /// When the kernel made it, where that is known: inodes are used again.
        born: Option<String> = "born",
        /// When there was first something at its path, as text.
        created_at: String = "created_at",
        /// The type that it was written as.
        mime_type: Option<String> = "mime_type",
        /// A text that no other write has.
        write: String = "write_id",
    }
}

impl Registry {
    /// What is known of a file, and under which path: by its inode, which survives a rename, or
    /// else by its path.
    pub fn file_metadata(
        &self,
        place: FilePlace<'_>,
        (inode, born): (u64, Option<&str>),
    ) -> Result<Option<(FileMetadata, String)>, RegistryError> {
        let (directory, name) = place.split();
        let connection = self.connection()?;
        let found = connection.first(
            &format!(
                "SELECT {COLUMNS}, directory, name FROM file_metadata
                 WHERE home = ?1 AND zone = ?2 AND inode = ?3 AND born = ?4 LIMIT 1"
            ),
            (place.tenant, place.zone, inode as i64, born),
            |found| {
                let (directory, name): (String, String) =
                    (found.get(COUNT)?, found.get(COUNT + 1)?);
                let path = match directory.as_str() {
                    "" => name,
                    directory => format!("{directory}/{name}"),
                };
                Ok((FileMetadata::read(found)?, path))
            },
        )?;
        if found.is_some() {
            return Ok(found);
        }
        let found = connection.first(
            &format!(
                "SELECT {COLUMNS} FROM file_metadata
                 WHERE home = ?1 AND zone = ?2 AND directory = ?3 AND name = ?4"
            ),
            (place.tenant, place.zone, directory, name),
            FileMetadata::read,
        )?;
        Ok(found.map(|found| (found, place.path.to_owned())))
    }

    /// What is known of the files of one directory, by their names.
    pub fn file_metadata_in(
        &self,
        place: FilePlace<'_>,
    ) -> Result<HashMap<String, FileMetadata>, RegistryError> {
        Ok(self.connection()?.all(
            &format!(
                "SELECT {COLUMNS}, name FROM file_metadata
                 WHERE home = ?1 AND zone = ?2 AND directory = ?3"
            ),
            (place.tenant, place.zone, place.path),
            |found| Ok((found.get(COUNT)?, FileMetadata::read(found)?)),
        )?)
    }

    /// Remembers what is known of a file.
    pub fn set_file_metadata(
        &self,
        place: FilePlace<'_>,
        known: &FileMetadata,
    ) -> Result<(), RegistryError> {
        let (directory, name) = place.split();
        let place = [
            ("home", Value::Text(place.tenant)),
            ("zone", Value::Text(place.zone)),
            ("directory", Value::Text(directory)),
            ("name", Value::Text(name)),
        ];
        known.insert(
            &self.connection()?,
            "file_metadata",
            &place,
            "ON CONFLICT (home, zone, directory, name) DO UPDATE SET
             inode = excluded.inode, born = excluded.born, created_at = excluded.created_at,
             mime_type = excluded.mime_type, write_id = excluded.write_id",
        )?;
        Ok(())
    }

    /// The paths of the files of a zone of which something is known; nothing of those without one.
    pub fn file_metadata_paths(
        &self,
        tenant: &str,
        zone: &str,
    ) -> Result<Vec<String>, RegistryError> {
        Ok(self.connection()?.all("SELECT CASE WHEN directory = '' THEN name ELSE directory || '/' || name END FROM file_metadata
             WHERE home = ?1 AND zone = ?2 AND directory != ?3", (tenant, zone, NOWHERE), |row| row.get(0))?)
    }

    /// Nothing is at these paths any more, and no operation took it away: what comes there is
    /// another file. A file that only has another path now is still known by its inode.
    pub fn lose_file_metadata(
        &self,
        tenant: &str,
        zone: &str,
        paths: &[&str],
    ) -> Result<(), RegistryError> {
        const AT_OR_BELOW: &str = "home = ?1 AND zone = ?2 AND ((directory = ?3 AND name = ?4)
             OR directory = ?5 OR substr(directory, 1, length(?5) + 1) = ?5 || '/')";
        self.transact(&[tenant], |transaction| {
            for path in paths {
                let (directory, name) = FilePlace { tenant, zone, path }.split();
                let place = (tenant, zone, directory, name, path);
                transaction.execute(
                    &format!("DELETE FROM file_metadata WHERE born IS NULL AND {AT_OR_BELOW}"),
                    place,
                )?;
                // The same file may be known from before, without a path.
                transaction.execute(
                    &format!(
                        "DELETE FROM file_metadata WHERE home = ?1 AND zone = ?2
                         AND directory = '{NOWHERE}' AND name IN (
                             SELECT inode || ' ' || born FROM file_metadata WHERE {AT_OR_BELOW})"
                    ),
                    place,
                )?;
                transaction.execute(
                    &format!(
                        "UPDATE file_metadata
                         SET directory = '{NOWHERE}', name = inode || ' ' || born
                         WHERE {AT_OR_BELOW}"
                    ),
                    place,
                )?;
            }
            transaction.execute(
                "DELETE FROM file_metadata WHERE home = ?1 AND zone = ?2 AND directory = ?3
                 AND name NOT IN (SELECT name FROM file_metadata
                     WHERE home = ?1 AND zone = ?2 AND directory = ?3
                     ORDER BY created_at DESC LIMIT ?4)",
                (tenant, zone, NOWHERE, LOST_MOST),
            )?;
            Ok(())
        })
    }
}
