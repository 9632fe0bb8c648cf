//! Metadata of files that cannot keep it in extended attributes.

use std::collections::HashMap;

use super::database::Statements as _;
use super::path_rows::{FILE_PATH, at_or_below};
use super::rows::{Entity as _, row};
use super::{FilePlace, Registry, Result};

/// The directory of files whose path is not known; no path begins with it.
const NOWHERE: &str = "/";

/// Files of a zone without a path that are remembered.
const LOST_MOST: u32 = 1000;

row! {
    /// Metadata that a program gave for one file.
    pub struct FileMetadata in "file_metadata" {
        /// The file's identity in the kernel.
        inode: u64 = "inode",
        /// When the kernel made it, if that is known: inodes are used again.
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
    /// Returns what is known of a file, and its path there: by its inode, which survives a rename, or
    /// else by its path.
    pub fn file_metadata(
        &self,
        place: FilePlace<'_>,
        (inode, born): (u64, Option<&str>),
    ) -> Result<Option<(FileMetadata, String)>> {
        let (directory, name) = place.split();
        let connection = self.connection()?;
        let select = format!(
            "SELECT {}, {FILE_PATH} FROM file_metadata",
            FileMetadata::COLUMNS.join(", ")
        );
        let found = connection.first(
            &format!("{select} WHERE home = ?1 AND zone = ?2 AND inode = ?3 AND born = ?4 LIMIT 1"),
            (place.tenant, place.zone, inode, born),
        )?;
        if found.is_some() {
            return Ok(found);
        }
        connection.first(
            &format!("{select} WHERE home = ?1 AND zone = ?2 AND directory = ?3 AND name = ?4"),
            [place.tenant, place.zone, directory, name],
        )
    }

    /// Returns what is known of the files of one directory, by their names.
    pub fn file_metadata_in(&self, place: FilePlace<'_>) -> Result<HashMap<String, FileMetadata>> {
        let columns = FileMetadata::COLUMNS.join(", ");
        self.all(
            &format!(
                "SELECT name, {columns} FROM file_metadata
                 WHERE home = ?1 AND zone = ?2 AND directory = ?3"
            ),
            place,
        )
    }

    /// Remembers what is known of a file.
    pub fn set_file_metadata(&self, place: FilePlace<'_>, known: &FileMetadata) -> Result<()> {
        let (directory, name) = place.split();
        let columns: &[&str] = &["home", "zone", "directory", "name"];
        let place = (columns, [place.tenant, place.zone, directory, name]);
        let replace = "ON CONFLICT (home, zone, directory, name) DO UPDATE SET
             inode = excluded.inode, born = excluded.born, created_at = excluded.created_at,
             mime_type = excluded.mime_type, write_id = excluded.write_id";
        known.insert(self, place, replace).map(drop)
    }

    /// Returns the paths of the files of a zone of which something is known; not those without one.
    pub fn file_metadata_paths(&self, tenant: &str, zone: &str) -> Result<Vec<String>> {
        let paths = format!(
            "SELECT {FILE_PATH} FROM file_metadata WHERE home = ?1 AND zone = ?2 AND directory != ?3"
        );
        self.all(&paths, [tenant, zone, NOWHERE])
    }

    /// Forgets these paths, whose files are gone although no operation removed them: a file that comes
    /// there later is another one. A file that only has another path now is still known by its inode.
    pub fn lose_file_metadata(&self, tenant: &str, zone: &str, paths: &[&str]) -> Result<()> {
        let lost = at_or_below(FILE_PATH);
        let statements = [
            format!("DELETE FROM file_metadata WHERE born IS NULL AND {lost}"),
            // The same file may be known from before, without a path.
            format!(
                "DELETE FROM file_metadata WHERE home = ?1 AND zone = ?2
                 AND directory = '{NOWHERE}' AND name IN (
                     SELECT inode || ' ' || born FROM file_metadata WHERE {lost})"
            ),
            format!(
                "UPDATE file_metadata SET directory = '{NOWHERE}', name = inode || ' ' || born
                 WHERE {lost}"
            ),
        ];
        self.transact(&[tenant], |transaction| {
            for path in paths {
                for statement in &statements {
                    transaction.run(statement, FilePlace { tenant, zone, path })?;
                }
            }
            transaction.run(
                "DELETE FROM file_metadata WHERE home = ?1 AND zone = ?2 AND directory = ?3
                 AND name NOT IN (SELECT name FROM file_metadata
                     WHERE home = ?1 AND zone = ?2 AND directory = ?3
                     ORDER BY created_at DESC LIMIT ?4)",
                (tenant, zone, NOWHERE, LOST_MOST),
            )
        })
    }
}
