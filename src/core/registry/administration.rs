//! What an administrator decides about one tenant, and what is read of all of them.

use std::collections::HashMap;

use super::client_locks::{self, ClientLock};
use super::database::Statements as _;
use super::links::{self, LinkRow};
use super::locks::{self, Lock};
use super::{Registry, RegistryError};

/// Something of a zone, with the tenant and the zone that it is in.
#[derive(Clone, Debug)]
pub struct InZone<T> {
    /// The key of the tenant.
    pub tenant: String,
    /// The name of the zone.
    pub zone: String,
    /// What it is.
    pub found: T,
}

impl Registry {
    /// The quota of one tenant, where it has one of its own.
    pub fn tenant_quota(&self, tenant: &str) -> Result<Option<u64>, RegistryError> {
        let bytes: Option<i64> = self.connection()?.first(
            "SELECT bytes FROM tenant_quotas WHERE home = ?1",
            [tenant],
            |row| row.get(0),
        )?;
        Ok(bytes.map(|bytes| bytes as u64))
    }

    /// Gives a tenant a quota of its own, or the one of all others again.
    pub fn set_tenant_quota(
        &self,
        tenant: &str,
        bytes: Option<u64>,
        now: i64,
    ) -> Result<(), RegistryError> {
        match bytes {
            Some(bytes) => self.connection()?.execute(
                "INSERT INTO tenant_quotas (home, bytes, set_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (home) DO UPDATE SET bytes = ?2, set_at = ?3",
                (tenant, i64::try_from(bytes).unwrap_or(i64::MAX), now),
            )?,
            None => self
                .connection()?
                .execute("DELETE FROM tenant_quotas WHERE home = ?1", [tenant])?,
        };
        Ok(())
    }

    /// Records when tenants called last; what is later counts.
    pub fn record_calls<'a>(
        &self,
        calls: impl IntoIterator<Item = (&'a str, i64)>,
    ) -> Result<(), RegistryError> {
        self.transact(&["last_calls"], |transaction| {
            for call in calls {
                transaction.execute(
                    "INSERT INTO last_calls (home, at) VALUES (?1, ?2)
                     ON CONFLICT (home) DO UPDATE SET at = excluded.at
                     WHERE last_calls.at < excluded.at",
                    call,
                )?;
            }
            Ok(())
        })
    }

    /// When tenants called last, as far as it is recorded.
    pub fn recorded_calls(&self) -> Result<HashMap<String, i64>, RegistryError> {
        Ok(self
            .connection()?
            .all("SELECT home, at FROM last_calls", (), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?)
    }

    /// The links of all tenants that have not expired, oldest first, at most so many.
    pub fn links_of_all(&self, now: i64, most: u32) -> Result<Vec<LinkRow>, RegistryError> {
        Ok(self.connection()?.all(
            &format!(
                "SELECT {} FROM links WHERE expires_at > ?1 ORDER BY created_at, rowid LIMIT ?2",
                links::COLUMNS
            ),
            (now, most),
            LinkRow::read,
        )?)
    }

    /// The locked edits of all tenants, oldest first, at most so many.
    pub fn locks_of_all(&self, most: u32) -> Result<Vec<InZone<Lock>>, RegistryError> {
        Ok(self.connection()?.all(
            &format!(
                "SELECT {}, home, zone FROM locks ORDER BY opened_at, working_copy LIMIT ?1",
                locks::COLUMNS
            ),
            [most],
            |row| {
                Ok(InZone {
                    tenant: row.get(locks::COUNT)?,
                    zone: row.get(locks::COUNT + 1)?,
                    found: Lock::read(row)?,
                })
            },
        )?)
    }

    /// The locks that programs took over WebDAV, of all tenants, at most so many.
    pub fn client_locks_of_all(
        &self,
        now: i64,
        most: u32,
    ) -> Result<Vec<InZone<ClientLock>>, RegistryError> {
        Ok(self.connection()?.all(
            &format!(
                "SELECT {}, home, zone FROM client_locks WHERE expires_at > ?1
             ORDER BY expires_at, token LIMIT ?2",
                client_locks::COLUMNS
            ),
            (now, most),
            |row| {
                Ok(InZone {
                    tenant: row.get(client_locks::COUNT)?,
                    zone: row.get(client_locks::COUNT + 1)?,
                    found: ClientLock::read(row)?,
                })
            },
        )?)
    }

    /// How many locks the zones of each tenant have.
    pub fn lock_counts(&self, now: i64) -> Result<HashMap<String, u64>, RegistryError> {
        self.counts(
            "SELECT home, count(*) FROM (
                 SELECT home FROM locks
                 UNION ALL SELECT home FROM client_locks WHERE expires_at > ?1
             ) AS counted GROUP BY home",
            now,
        )
    }

    /// How many links lead into the zones of each tenant.
    pub fn link_counts(&self, now: i64) -> Result<HashMap<String, u64>, RegistryError> {
        self.counts(
            "SELECT home, count(*) FROM links WHERE expires_at > ?1 GROUP BY home",
            now,
        )
    }

    fn counts(&self, sql: &str, now: i64) -> Result<HashMap<String, u64>, RegistryError> {
        Ok(self.connection()?.all(sql, [now], |row| {
            Ok((row.get(0)?, row.get::<i64>(1)? as u64))
        })?)
    }

    /// Forgets everything about the tenant of a group whose files are gone. Who is in the group is
    /// what its directory says, and stays.
    pub fn forget_group(&self, tenant: &str, group: &str) -> Result<(), RegistryError> {
        self.transact(&[tenant], |transaction| {
            super::users::forget_rows(transaction, tenant)?;
            transaction.execute("DELETE FROM links WHERE group_id = ?1", [group])?;
            transaction.execute("DELETE FROM file_ownership WHERE group_id = ?1", [group])?;
            Ok(())
        })
    }
}
