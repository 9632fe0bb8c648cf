//! The rows behind links.

use super::database::Statements;
use super::rows::row;
use super::{Registry, RegistryError};

row! {
    /// A link as it is kept.
    pub struct LinkRow {
        /// The id of the link.
        id: String = "id",
        /// The key of the tenant whose file it is.
        tenant: String = "home",
        /// The user that made it; `None` in shared mode.
        user: Option<String> = "user_id",
        /// The conversation that it was made in.
        chat: String = "chat",
        /// The zone of the file.
        zone: String = "zone",
        /// The id of the group, in a group's zone.
        group: Option<String> = "group_id",
        /// The file, or the directory, inside the zone.
        path: String = "path",
        /// Its purpose: download or upload.
        purpose: String = "purpose",
        /// When it was made, in seconds since 1970.
        created_at: i64 = "created_at",
        /// When it ends, in seconds since 1970.
        expires_at: i64 = "expires_at",
    }
}

/// Links of a tenant, those that lead into the application that people chat in too.
pub(super) fn count(
    statements: &impl Statements,
    tenant: &str,
    now: i64,
) -> Result<u64, RegistryError> {
    let count: i64 = statements.value(
        "SELECT (SELECT count(*) FROM links WHERE home = ?1 AND expires_at > ?2)
              + (SELECT count(*) FROM published WHERE home = ?1)",
        (tenant, now),
    )?;
    Ok(count as u64)
}

impl Registry {
    /// Enters a link and forgets those of the same tenant that have expired; false where the tenant
    /// has `limit` already.
    pub fn add_link(&self, link: &LinkRow, limit: u64) -> Result<bool, RegistryError> {
        self.transact(&[&link.tenant], |transaction| {
            transaction.execute(
                "DELETE FROM links WHERE home = ?1 AND expires_at <= ?2",
                (&link.tenant, link.created_at),
            )?;
            if count(transaction, &link.tenant, link.created_at)? >= limit {
                return Ok(false);
            }
            link.insert(transaction, "links", &[], "")?;
            Ok(true)
        })
    }

    /// The link of that id, expired or not.
    pub fn link(&self, id: &str) -> Result<Option<LinkRow>, RegistryError> {
        Ok(self.connection()?.first(
            &format!("SELECT {COLUMNS} FROM links WHERE id = ?1"),
            [id],
            LinkRow::read,
        )?)
    }

    /// The links of a tenant that have not expired, oldest first.
    pub fn links(&self, tenant: &str, now: i64) -> Result<Vec<LinkRow>, RegistryError> {
        Ok(self.connection()?.all(
            &format!(
                "SELECT {COLUMNS} FROM links WHERE home = ?1 AND expires_at > ?2
             ORDER BY created_at, rowid"
            ),
            (tenant, now),
            LinkRow::read,
        )?)
    }

    /// Forgets a link of a tenant; false where it has none of that id.
    pub fn remove_link(&self, tenant: &str, id: &str) -> Result<bool, RegistryError> {
        let removed = self.connection()?.execute(
            "DELETE FROM links WHERE home = ?1 AND id = ?2",
            (tenant, id),
        )?;
        Ok(removed == 1)
    }
}
