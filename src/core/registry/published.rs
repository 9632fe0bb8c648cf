//! The rows behind files that were put into the application that people chat in.

use super::database::{DatabaseError, Row, Statements as _};

use super::{Registry, RegistryError};

/// A file as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedRow {
    /// The id of the file in the chat application.
    pub id: String,
    /// The key of the tenant whose file it was.
    pub tenant: String,
    /// The zone that it came from.
    pub zone: String,
    /// The id of the group, where it came from a group's zone.
    pub group: Option<String>,
    /// Its path in the zone.
    pub path: String,
    /// Its name in the chat application.
    pub name: String,
    /// Its size in bytes.
    pub size: i64,
    /// When it was published, in seconds since 1970.
    pub created_at: i64,
}

const COLUMNS: &str = "id, home, zone, group_id, path, name, size, created_at";

impl PublishedRow {
    fn read(row: &Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get(0)?,
            tenant: row.get(1)?,
            zone: row.get(2)?,
            group: row.get(3)?,
            path: row.get(4)?,
            name: row.get(5)?,
            size: row.get(6)?,
            created_at: row.get(7)?,
        })
    }
}

impl Registry {
    /// Enters a file; false where the tenant has `limit` links of both kinds already.
    pub fn add_published(&self, file: &PublishedRow, limit: u64) -> Result<bool, RegistryError> {
        self.transact(&[&file.tenant], |transaction| {
            if super::links::count(transaction, &file.tenant, file.created_at)? >= limit {
                return Ok(false);
            }
            transaction.execute(
                &format!(
                    "INSERT INTO published ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
                 ON CONFLICT (home, id) DO UPDATE SET zone = excluded.zone,
                 group_id = excluded.group_id, path = excluded.path, name = excluded.name,
                 size = excluded.size, created_at = excluded.created_at"
                ),
                (
                    &file.id,
                    &file.tenant,
                    &file.zone,
                    &file.group,
                    &file.path,
                    &file.name,
                    file.size,
                    file.created_at,
                ),
            )?;
            Ok(true)
        })
    }

    /// Links of both kinds that a tenant has.
    pub fn count_links(&self, tenant: &str, now: i64) -> Result<u64, RegistryError> {
        super::links::count(&self.connection()?, tenant, now)
    }

    /// The file of a tenant that has this id.
    pub fn published(&self, tenant: &str, id: &str) -> Result<Option<PublishedRow>, RegistryError> {
        Ok(self.connection()?.first(
            &format!("SELECT {COLUMNS} FROM published WHERE home = ?1 AND id = ?2"),
            (tenant, id),
            PublishedRow::read,
        )?)
    }

    /// The files of a tenant, oldest first.
    pub fn all_published(&self, tenant: &str) -> Result<Vec<PublishedRow>, RegistryError> {
        Ok(self.connection()?.all(
            &format!("SELECT {COLUMNS} FROM published WHERE home = ?1 ORDER BY created_at, rowid"),
            [tenant],
            PublishedRow::read,
        )?)
    }

    /// Forgets a file of a tenant.
    pub fn remove_published(&self, tenant: &str, id: &str) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "DELETE FROM published WHERE home = ?1 AND id = ?2",
            (tenant, id),
        )?;
        Ok(())
    }
}
