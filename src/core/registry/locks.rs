//! Locked edits: one row each, taken by an insert that either succeeds or meets another.

use super::database::{DatabaseError, Statements, Value};
use super::rows::row;
use super::{Registry, RegistryError};

row! {
    /// One locked edit.
    pub struct Lock {
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
        /// SHA-256 of what was opened; nothing where it is not known.
        opened: Option<[u8; 32]> = "opened",
    }
}

impl Registry {
    /// The lock on exactly this path.
    pub fn lock(
        &self,
        tenant: &str,
        zone: &str,
        path: &str,
    ) -> Result<Option<Lock>, RegistryError> {
        Ok(self.connection()?.first(
            &format!("SELECT {COLUMNS} FROM locks WHERE home = ?1 AND zone = ?2 AND path = ?3"),
            (tenant, zone, path),
            Lock::read,
        )?)
    }

    /// The oldest lock on this path or below it, opened after `since`.
    pub fn lock_around(
        &self,
        tenant: &str,
        zone: &str,
        path: &str,
        since: i64,
    ) -> Result<Option<Lock>, RegistryError> {
        // '0' follows '/' in byte order: the range holds what lies below the directory.
        let select = format!(
            "SELECT {COLUMNS} FROM locks WHERE home = ?1 AND zone = ?2 AND opened_at > ?4
             AND (path = ?3 OR (path > ?3 || '/' AND path < ?3 || '0')) ORDER BY opened_at LIMIT 1"
        );
        Ok(self
            .connection()?
            .first(&select, (tenant, zone, path, since), Lock::read)?)
    }

    /// All locks of a tenant.
    pub fn locks(&self, tenant: &str, zone: &str) -> Result<Vec<Lock>, RegistryError> {
        Ok(self.connection()?.all(
            &format!("SELECT {COLUMNS} FROM locks WHERE home = ?1 AND zone = ?2 ORDER BY path"),
            (tenant, zone),
            Lock::read,
        )?)
    }

    /// Homes and zones with locks.
    pub fn locked_zones(&self) -> Result<Vec<(String, String)>, RegistryError> {
        Ok(self
            .connection()?
            .all("SELECT DISTINCT home, zone FROM locks", (), |row| {
                Ok((row.get(0)?, row.get(1)?))
            })?)
    }

    /// Takes a lock; false where the path has one.
    pub fn take_lock(&self, tenant: &str, zone: &str, lock: &Lock) -> Result<bool, RegistryError> {
        let place = [("home", Value::Text(tenant)), ("zone", Value::Text(zone))];
        let conflict = "ON CONFLICT DO NOTHING";
        let taken = lock.insert(&self.connection()?, "locks", &place, conflict)?;
        Ok(taken == 1)
    }

    /// Lets exactly this lock count from `now` on.
    pub fn renew_lock(
        &self,
        tenant: &str,
        zone: &str,
        lock: &Lock,
        now: i64,
    ) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "UPDATE locks SET opened_at = ?5
                 WHERE home = ?1 AND zone = ?2 AND path = ?3 AND working_copy = ?4",
            (tenant, zone, &lock.path, &lock.working_copy, now),
        )?;
        Ok(())
    }

    /// Releases exactly this lock; false where it is gone already.
    pub fn release_lock(
        &self,
        tenant: &str,
        zone: &str,
        lock: &Lock,
    ) -> Result<bool, RegistryError> {
        Ok(release(&self.connection()?, (tenant, zone), lock)? == 1)
    }
}

/// Releases exactly this lock; how many rows that were.
pub(super) fn release(
    statements: &impl Statements,
    (tenant, zone): (&str, &str),
    lock: &Lock,
) -> Result<u64, DatabaseError> {
    statements.execute(
        "DELETE FROM locks WHERE home = ?1 AND zone = ?2 AND path = ?3 AND working_copy = ?4",
        (tenant, zone, &lock.path, &lock.working_copy),
    )
}
