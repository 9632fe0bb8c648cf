//! Rows that follow a path: what is kept of a file moves with it, and goes when the file goes.

use super::database::{Executor, Statements, ToRow, Value};
use super::{Registry, Result};

/// A path of a zone.
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
    /// Returns the directory and the name.
    pub(super) fn split(&self) -> (&'a str, &'a str) {
        self.path.rsplit_once('/').unwrap_or(("", self.path))
    }
}

impl ToRow for FilePlace<'_> {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        row.extend([self.tenant, self.zone, self.path].map(Value::from));
    }
}

/// Returns the condition for rows at a path or below it; `path` is the expression for the path of a row.
pub(super) fn at_or_below(path: &str) -> String {
    format!(
        "home = ?1 AND zone = ?2
         AND ({path} = ?3 OR substr({path}, 1, length(?3) + 1) = ?3 || '/')"
    )
}

/// The path of the file of a row of `file_metadata`.
pub(super) const FILE_PATH: &str =
    "CASE WHEN directory = '' THEN name ELSE directory || '/' || name END";

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

    /// Returns its name, and the expression for the path of a row.
    fn name_and_path(self) -> (&'static str, &'static str) {
        match self {
            Self::FileMetadata => ("file_metadata", FILE_PATH),
            Self::DeadProperties => ("dead_properties", "path"),
        }
    }

    /// Returns `true` if there are rows of a zone: most have none, and then nothing is written.
    fn has_rows(self, statements: &impl Statements, tenant: &str, zone: &str) -> Result<bool> {
        let (table, _) = self.name_and_path();
        statements.value(
            &format!("SELECT EXISTS (SELECT 1 FROM {table} WHERE home = ?1 AND zone = ?2)"),
            [tenant, zone],
        )
    }

    /// Forgets the rows at a path and below it.
    fn forget(self, statements: &impl Statements, place: FilePlace<'_>) -> Result<()> {
        let (table, path) = self.name_and_path();
        let condition = at_or_below(path);
        statements.run(&format!("DELETE FROM {table} WHERE {condition}"), place)
    }

    /// Moves the rows of a file, or of all below a directory, within a tenant. The rows of whatever
    /// was at the new place go.
    fn follow(
        self,
        transaction: &Executor<'_>,
        from: FilePlace<'_>,
        to: FilePlace<'_>,
    ) -> Result<()> {
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
        let (table, _) = self.name_and_path();
        let (tenant, zone) = (from.tenant, from.zone);
        let column = match self {
            Self::FileMetadata => {
                let ((directory, name), (new_directory, new_name)) = (from.split(), to.split());
                transaction.run(
                    "UPDATE file_metadata SET zone = ?5, directory = ?6, name = ?7
                     WHERE home = ?1 AND zone = ?2 AND directory = ?3 AND name = ?4",
                    [
                        tenant,
                        zone,
                        directory,
                        name,
                        to.zone,
                        new_directory,
                        new_name,
                    ],
                )?;
                "directory"
            }
            Self::DeadProperties => "path",
        };
        let condition = at_or_below(column);
        transaction.run(
            &format!(
                "UPDATE {table} SET zone = ?4, {column} = ?5 || substr({column}, length(?3) + 1)
                 WHERE {condition}"
            ),
            [tenant, zone, from.path, to.zone, to.path],
        )
    }
}

impl Registry {
    /// Returns `true` if a table has rows of a zone.
    pub fn has_rows(&self, table: PathTable, tenant: &str, zone: &str) -> Result<bool> {
        table.has_rows(self, tenant, zone)
    }

    /// Forgets the rows of these tables of a file that went, or of all below a directory.
    pub fn forget_rows(&self, tables: &[PathTable], place: FilePlace<'_>) -> Result<()> {
        for table in tables {
            if self.has_rows(*table, place.tenant, place.zone)? {
                table.forget(self, place)?;
            }
        }
        Ok(())
    }

    /// Keeps the rows of these tables of what moved, and of all below, under its new path.
    pub fn move_rows(&self, tables: &[PathTable], from: FilePlace<'_>, to: &str) -> Result<()> {
        let to = FilePlace { path: to, ..from };
        for table in tables {
            if self.has_rows(*table, from.tenant, from.zone)? {
                self.transact(&[from.tenant], |transaction| {
                    table.follow(transaction, from, to)
                })?;
            }
        }
        Ok(())
    }
}

/// Forgets the rows of all tables at a place.
pub(super) fn forget(transaction: &Executor<'_>, place: FilePlace<'_>) -> Result<()> {
    let mut tables = PathTable::ALL.into_iter();
    tables.try_for_each(|table| table.forget(transaction, place))
}

/// Moves the rows of all tables to a new place of the same tenant.
pub(super) fn follow(
    transaction: &Executor<'_>,
    from: FilePlace<'_>,
    to: FilePlace<'_>,
) -> Result<()> {
    let mut tables = PathTable::ALL.into_iter();
    tables.try_for_each(|table| table.follow(transaction, from, to))
}
