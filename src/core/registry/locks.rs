//! Locked edits: one row each, taken by an insert that either succeeds or meets another.

use super::database::{DatabaseError, Row, Statements};

use super::{Registry, RegistryError};

/// One locked edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lock {
    /// Path inside the zone, NFC.
    pub path: String,
    /// Who holds it; empty in shared mode.
    pub user: String,
    /// In which conversation.
    pub chat: String,
    /// Directory of the working copy below the zone's editzone.
    pub working_copy: String,
    /// Unix seconds.
    pub opened_at: i64,
    /// SHA-256 of what was opened; nothing where it is not known.
    pub opened: Option<[u8; 32]>,
}

pub(super) const COLUMNS: &str = "path, user_id, chat, working_copy, opened_at, opened";

/// How many these are.
pub(super) const COUNT: usize = 6;

pub(super) fn read(row: &Row<'_>) -> Result<Lock, DatabaseError> {
    Ok(Lock {
        path: row.get(0)?,
        user: row.get(1)?,
        chat: row.get(2)?,
        working_copy: row.get(3)?,
        opened_at: row.get(4)?,
        opened: row.get(5)?,
    })
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
            read,
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
            .first(&select, (tenant, zone, path, since), read)?)
    }

    /// All locks of a tenant.
    pub fn locks(&self, tenant: &str, zone: &str) -> Result<Vec<Lock>, RegistryError> {
        Ok(self.connection()?.all(
            &format!("SELECT {COLUMNS} FROM locks WHERE home = ?1 AND zone = ?2 ORDER BY path"),
            (tenant, zone),
            read,
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
        let taken = self.connection()?.execute(
            "INSERT INTO locks (home, zone, path, user_id, chat, working_copy, opened_at, opened)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
            (
                tenant,
                zone,
                &lock.path,
                &lock.user,
                &lock.chat,
                &lock.working_copy,
                lock.opened_at,
                lock.opened,
            ),
        )?;
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
