//! Rows that follow a path: what is kept of a file moves with it, and goes when the file goes.

use super::database::{DatabaseError, Statements, Transaction};
use super::{Registry, RegistryError};

/// A path of a zone, as its directory and its name.
#[derive(Clone, Copy, Debug)]
pub struct FilePlace<'a> {
    /// The key of the tenant.
    pub tenant: &'a str,
    /// The zone, by its name in the registry.
    pub zone: &'a str,
    /// The path of the file in the zone.
    pub path: &'a str,
}

impl<'a> FilePlace<'a> {
    pub(super) fn split(&self) -> (&'a str, &'a str) {
        self.path.rsplit_once('/').unwrap_or(("", self.path))
    }
}

/// Rows of the column `path` at a path or below it.
pub(super) const AT_OR_BELOW: &str = "home = ?1 AND zone = ?2
     AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/')";

/// A table whose rows follow a path.
#[derive(Clone, Copy, Debug)]
pub enum PathTable {
    /// When a file was made, and its type.
    FileMetadata,
    /// Properties that programs keep with files over WebDAV.
    DeadProperties,
}

impl PathTable {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::FileMetadata, Self::DeadProperties];

    fn name(self) -> &'static str {
        match self {
            Self::FileMetadata => "file_metadata",
            Self::DeadProperties => "dead_properties",
        }
    }

    /// Returns `true` if there are rows of a zone: most have none, and then nothing is written.
    fn has_rows(
        self,
        statements: &impl Statements,
        tenant: &str,
        zone: &str,
    ) -> Result<bool, DatabaseError> {
        let table = self.name();
        statements.value(
            &format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE home = ?1 AND zone = ?2)"),
            (tenant, zone),
        )
    }

    fn forget(
        self,
        statements: &impl Statements,
        place: FilePlace<'_>,
    ) -> Result<(), DatabaseError> {
        let values = (place.tenant, place.zone, place.path);
        match self {
            Self::FileMetadata => {
                let (directory, name) = place.split();
                statements.execute(
                    "DELETE FROM file_metadata WHERE home = ?1 AND zone = ?2
                     AND ((directory = ?4 AND name = ?5) OR directory = ?3
                          OR substr(directory, 1, length(?3) + 1) = ?3 || '/')",
                    (place.tenant, place.zone, place.path, directory, name),
                )
            }
            Self::DeadProperties => {
                let forget = format!("DELETE FROM dead_properties WHERE {AT_OR_BELOW}");
                statements.execute(&forget, values)
            }
        }
        .map(drop)
    }

    /// Moves the rows of a file, or of all below a directory, within a tenant. The rows of whatever
    /// was at the new place go.
    fn follow(
        self,
        transaction: &Transaction<'_>,
        from: FilePlace<'_>,
        to: FilePlace<'_>,
    ) -> Result<(), DatabaseError> {
        if (from.zone, from.path) == (to.zone, to.path)
            || !self.has_rows(transaction, from.tenant, from.zone)?
        {
            return Ok(());
        }
        let rest = from.path.strip_prefix(to.path);
        let is_below = from.zone == to.zone && rest.is_some_and(|rest| rest.starts_with('/'));
        if !is_below {
            self.forget(transaction, to)?;
        }
        let values = (from.tenant, from.zone, from.path, to.zone, to.path);
        match self {
            Self::FileMetadata => {
                transaction.execute(
                    "UPDATE file_metadata
                     SET zone = ?4, directory = ?5 || substr(directory, length(?3) + 1)
                     WHERE home = ?1 AND zone = ?2
                     AND (directory = ?3 OR substr(directory, 1, length(?3) + 1) = ?3 || '/')",
                    values,
                )?;
                let ((directory, name), (new_directory, new_name)) = (from.split(), to.split());
                transaction.execute(
                    "UPDATE file_metadata SET zone = ?5, directory = ?6, name = ?7
                     WHERE home = ?1 AND zone = ?2 AND directory = ?3 AND name = ?4",
                    (
                        from.tenant,
                        from.zone,
                        directory,
                        name,
                        to.zone,
                        new_directory,
                        new_name,
                    ),
                )?;
            }
            Self::DeadProperties => {
                let follow = format!(
                    "UPDATE dead_properties SET zone = ?4, path = ?5 || substr(path, length(?3) + 1)
                     WHERE {AT_OR_BELOW}"
                );
                transaction.execute(&follow, values)?;
            }
        }
        Ok(())
    }
}

impl Registry {
    /// Returns `true` if a table has rows of a zone.
    pub fn has_rows(
        &self,
        table: PathTable,
        tenant: &str,
        zone: &str,
    ) -> Result<bool, RegistryError> {
        Ok(table.has_rows(&self.connection()?, tenant, zone)?)
    }

    /// Forgets the rows of these tables of a file that went, or of all below a directory.
    pub fn forget_rows(
        &self,
        tables: &[PathTable],
        place: FilePlace<'_>,
    ) -> Result<(), RegistryError> {
        for table in tables {
            if self.has_rows(*table, place.tenant, place.zone)? {
                table.forget(&self.connection()?, place)?;
            }
        }
        Ok(())
    }

    /// Keeps the rows of these tables of what moved, and of all below, under its new path.
    pub fn move_rows(
        &self,
        tables: &[PathTable],
        from: FilePlace<'_>,
        to: &str,
    ) -> Result<(), RegistryError> {
        let to = FilePlace { path: to, ..from };
        for table in tables {
            if self.has_rows(*table, from.tenant, from.zone)? {
                self.transact(&[from.tenant], |transaction| {
                    Ok::<_, RegistryError>(table.follow(transaction, from, to)?)
                })?;
            }
        }
        Ok(())
    }
}

/// Forgets the rows of all tables at a place.
pub(super) fn forget(
    transaction: &Transaction<'_>,
    place: FilePlace<'_>,
) -> Result<(), DatabaseError> {
    let mut tables = PathTable::ALL.into_iter();
    tables.try_for_each(|table| table.forget(transaction, place))
}

/// Moves the rows of all tables to a new place of the same tenant.
pub(super) fn follow(
    transaction: &Transaction<'_>,
    from: FilePlace<'_>,
    to: FilePlace<'_>,
) -> Result<(), DatabaseError> {
    let mut tables = PathTable::ALL.into_iter();
    tables.try_for_each(|table| table.follow(transaction, from, to))
}
