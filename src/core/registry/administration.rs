//! Decisions of an administrator about one tenant, and numbers of all of them.

use std::collections::HashMap;

use super::database::Statements as _;
use super::{Registry, RegistryError};

impl Registry {
    /// Returns the quota of one tenant, if it has one of its own.
    pub fn tenant_quota(&self, tenant: &str) -> Result<Option<u64>, RegistryError> {
        let quota = "SELECT bytes FROM tenant_quotas WHERE home = ?1";
        self.first(quota, [tenant])
    }

    /// Gives a tenant a quota of its own, or the one of all others again.
    pub fn set_tenant_quota(
        &self,
        tenant: &str,
        bytes: Option<u64>,
        now: i64,
    ) -> Result<(), RegistryError> {
        match bytes {
            Some(bytes) => self.run(
                "INSERT INTO tenant_quotas (home, bytes, set_at) VALUES (?1, ?2, ?3)
                 ON CONFLICT (home) DO UPDATE SET bytes = ?2, set_at = ?3",
                (tenant, i64::try_from(bytes).unwrap_or(i64::MAX), now),
            ),
            None => self.run("DELETE FROM tenant_quotas WHERE home = ?1", [tenant]),
        }
    }

    /// Records when tenants called last; the later time counts.
    pub fn record_calls<'a>(
        &self,
        calls: impl IntoIterator<Item = (&'a str, i64)>,
    ) -> Result<(), RegistryError> {
        self.transact(&["last_calls"], |transaction| {
            calls.into_iter().try_for_each(|call| {
                transaction.run(
                    "INSERT INTO last_calls (home, at) VALUES (?1, ?2)
                     ON CONFLICT (home) DO UPDATE SET at = excluded.at
                     WHERE last_calls.at < excluded.at",
                    call,
                )
            })
        })
    }

    /// Returns when tenants called last, as far as it is recorded.
    pub fn recorded_calls(&self) -> Result<HashMap<String, i64>, RegistryError> {
        self.all("SELECT home, at FROM last_calls", ())
    }

    /// Returns the number of locks in the zones of each tenant.
    pub fn lock_counts(&self, now: i64) -> Result<HashMap<String, u64>, RegistryError> {
        self.all(
            "SELECT home, count(*) FROM (
                 SELECT home FROM locks
                 UNION ALL SELECT home FROM client_locks WHERE expires_at > ?1
             ) AS counted GROUP BY home",
            [now],
        )
    }

    /// Returns the number of links into the zones of each tenant.
    pub fn link_counts(&self, now: i64) -> Result<HashMap<String, u64>, RegistryError> {
        self.all(
            "SELECT home, count(*) FROM links WHERE expires_at > ?1 GROUP BY home",
            [now],
        )
    }

    /// Forgets everything about the tenant of a group whose files are gone. The members of the group
    /// are decided by its directory, and stay.
    pub fn forget_group(&self, tenant: &str, group: &str) -> Result<(), RegistryError> {
        self.transact(&[tenant], |transaction| {
            super::users::forget_rows(transaction, tenant)?;
            transaction.run("DELETE FROM links WHERE group_id = ?1", [group])?;
            transaction.run("DELETE FROM file_ownership WHERE group_id = ?1", [group])
        })
    }
}
