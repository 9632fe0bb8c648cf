//! Locked edits: one row each, taken by an insert that either succeeds or meets another.

use super::database::Statements;
use super::rows::{Entity as _, row};
use super::{Registry, RegistryError};

row! {
    /// One locked edit.
    pub struct Lock in "locks" {
        /// The key of the tenant.
        tenant: String = "home",
        /// The zone.
        zone: String = "zone",
        /// Path inside the zone, NFC.
        path: String = "path",
        /// The user that holds it; empty in shared mode.
        user: String = "user_id",
        /// The conversation that it was opened in.
        chat: String = "chat",
        /// Directory of the working copy below the zone's editzone.
        working_copy: String = "working_copy",
        /// Unix seconds.
        opened_at: i64 = "opened_at",
        /// SHA-256 of the content that was opened; `None` if it is not known.
        opened: Option<[u8; 32]> = "opened",
    }
}

impl Registry {
    /// Returns the lock on exactly this path.
    pub fn lock(
        &self,
        tenant: &str,
        zone: &str,
        path: &str,
    ) -> Result<Option<Lock>, RegistryError> {
        let condition = "WHERE home = ?1 AND zone = ?2 AND path = ?3";
        Lock::first(self, condition, [tenant, zone, path])
    }

    /// Returns the oldest lock on this path or below it, opened after `since`.
    pub fn lock_around(
        &self,
        tenant: &str,
        zone: &str,
        path: &str,
        since: i64,
    ) -> Result<Option<Lock>, RegistryError> {
        // '0' follows '/' in byte order: the range holds what lies below the directory.
        let condition = "WHERE home = ?1 AND zone = ?2 AND opened_at > ?4
             AND (path = ?3 OR (path > ?3 || '/' AND path < ?3 || '0')) ORDER BY opened_at LIMIT 1";
        Lock::first(self, condition, (tenant, zone, path, since))
    }

    /// Returns all locks of a zone.
    pub fn locks(&self, tenant: &str, zone: &str) -> Result<Vec<Lock>, RegistryError> {
        let condition = "WHERE home = ?1 AND zone = ?2 ORDER BY path";
        Lock::all(self, condition, [tenant, zone])
    }

    /// Returns the locked edits of all tenants, oldest first, at most so many.
    pub fn locks_of_all(&self, most: u32) -> Result<Vec<Lock>, RegistryError> {
        Lock::all(self, "ORDER BY opened_at, working_copy LIMIT ?1", [most])
    }

    /// Returns the tenants and zones with locks.
    pub fn locked_zones(&self) -> Result<Vec<(String, String)>, RegistryError> {
        self.all("SELECT DISTINCT home, zone FROM locks", ())
    }

    /// Takes a lock; returns `false` if the path has one.
    pub fn take_lock(&self, lock: &Lock) -> Result<bool, RegistryError> {
        lock.insert(self, &[], "ON CONFLICT DO NOTHING")
    }

    /// Lets exactly this lock count from `now` on.
    pub fn renew_lock(&self, lock: &Lock, now: i64) -> Result<(), RegistryError> {
        self.run(
            "UPDATE locks SET opened_at = ?5
             WHERE home = ?1 AND zone = ?2 AND path = ?3 AND working_copy = ?4",
            (
                &lock.tenant,
                &lock.zone,
                &lock.path,
                &lock.working_copy,
                now,
            ),
        )
    }

    /// Releases exactly this lock; returns `false` if it is gone already.
    pub fn release_lock(&self, lock: &Lock) -> Result<bool, RegistryError> {
        release(self, lock)
    }
}

/// Releases exactly this lock; returns `false` if it is gone already.
pub(super) fn release(statements: &impl Statements, lock: &Lock) -> Result<bool, RegistryError> {
    statements.changes(
        "DELETE FROM locks WHERE home = ?1 AND zone = ?2 AND path = ?3 AND working_copy = ?4",
        [&lock.tenant, &lock.zone, &lock.path, &lock.working_copy],
    )
}
