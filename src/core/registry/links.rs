//! The rows behind links.

use super::database::{DatabaseError, Row, Statements};

use super::{Registry, RegistryError};

/// A link as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkRow {
    /// The id of the link.
    pub id: String,
    /// The key of the tenant whose file it is.
    pub tenant: String,
    /// Who made it; nobody in shared mode.
    pub user: Option<String>,
    /// The conversation that it was made in.
    pub chat: String,
    /// The zone of the file.
    pub zone: String,
    /// The id of the group, in a group's zone.
    pub group: Option<String>,
    /// The file, or the directory, inside the zone.
    pub path: String,
    /// What it is for: download or upload.
    pub purpose: String,
    /// When it was made, in seconds since 1970.
    pub created_at: i64,
    /// When it ends, in seconds since 1970.
    pub expires_at: i64,
}

pub(super) const COLUMNS: &str =
    "id, home, user_id, chat, zone, path, purpose, created_at, expires_at, group_id";

impl LinkRow {
    pub(super) fn read(row: &Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            id: row.get(0)?,
            tenant: row.get(1)?,
            user: row.get(2)?,
            chat: row.get(3)?,
            zone: row.get(4)?,
            path: row.get(5)?,
            purpose: row.get(6)?,
            created_at: row.get(7)?,
            expires_at: row.get(8)?,
            group: row.get(9)?,
        })
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
            transaction.execute(
                &format!(
                    "INSERT INTO links ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)"
                ),
                (
                    &link.id,
                    &link.tenant,
                    &link.user,
                    &link.chat,
                    &link.zone,
                    &link.path,
                    &link.purpose,
                    link.created_at,
                    link.expires_at,
                    &link.group,
                ),
            )?;
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
