//! The rows behind files that were put into the application that people chat in.

use super::database::Statements as _;
use super::rows::row;
use super::{Registry, RegistryError};

row! {
    /// A file as it is kept.
    pub struct PublishedRow {
        /// The id of the file in the chat application.
        id: String = "id",
        /// The key of the tenant whose file it was.
        tenant: String = "home",
        /// The zone that it came from.
        zone: String = "zone",
        /// The id of the group, where it came from a group's zone.
        group: Option<String> = "group_id",
        /// Its path in the zone.
        path: String = "path",
        /// Its name in the chat application.
        name: String = "name",
        /// Its size in bytes.
        size: i64 = "size",
        /// When it was published, in seconds since 1970.
        created_at: i64 = "created_at",
    }
}

impl Registry {
    /// Enters a file; false where the tenant has `limit` links of both kinds already.
    pub fn add_published(&self, file: &PublishedRow, limit: u64) -> Result<bool, RegistryError> {
        self.transact(&[&file.tenant], |transaction| {
            if super::links::count(transaction, &file.tenant, file.created_at)? >= limit {
                return Ok(false);
            }
            file.insert(
                transaction,
                "published",
                &[],
                "ON CONFLICT (home, id) DO UPDATE SET zone = excluded.zone,
                 group_id = excluded.group_id, path = excluded.path, name = excluded.name,
                 size = excluded.size, created_at = excluded.created_at",
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
