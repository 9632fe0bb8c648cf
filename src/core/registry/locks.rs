//! Locked edits: one row each, taken by an insert that either succeeds or meets another.

use rusqlite::{OptionalExtension, Row};

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

pub(super) fn read(row: &Row<'_>) -> Result<Lock, rusqlite::Error> {
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
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM locks WHERE home = ?1 AND zone = ?2 AND path = ?3"
        ))?;
        Ok(statement.query_row((tenant, zone, path), read).optional()?)
    }

    /// The oldest lock on this path or below it, opened after `since`.
    pub fn lock_around(
        &self,
        tenant: &str,
        zone: &str,
        path: &str,
        since: i64,
    ) -> Result<Option<Lock>, RegistryError> {
        let connection = self.connection();
        // '0' follows '/' in byte order: the range holds what lies below the directory.
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM locks WHERE home = ?1 AND zone = ?2 AND opened_at > ?4
             AND (path = ?3 OR (path > ?3 || '/' AND path < ?3 || '0')) ORDER BY opened_at LIMIT 1"
        ))?;
        Ok(statement
            .query_row((tenant, zone, path, since), read)
            .optional()?)
    }

    /// All locks of a tenant.
    pub fn locks(&self, tenant: &str, zone: &str) -> Result<Vec<Lock>, RegistryError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached(&format!(
            "SELECT {COLUMNS} FROM locks WHERE home = ?1 AND zone = ?2 ORDER BY path"
        ))?;
        let rows = statement.query_map((tenant, zone), read)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Homes and zones with locks.
    pub fn locked_zones(&self) -> Result<Vec<(String, String)>, RegistryError> {
        let connection = self.connection();
        let mut statement = connection.prepare_cached("SELECT DISTINCT home, zone FROM locks")?;
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Takes a lock; false where the path has one.
    pub fn take_lock(&self, tenant: &str, zone: &str, lock: &Lock) -> Result<bool, RegistryError> {
        let taken = self
            .connection()
            .prepare_cached(
                "INSERT INTO locks (home, zone, path, user_id, chat, working_copy, opened_at, opened)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8) ON CONFLICT DO NOTHING",
            )?
            .execute((
                tenant,
                zone,
                &lock.path,
                &lock.user,
                &lock.chat,
                &lock.working_copy,
                lock.opened_at,
                lock.opened,
            ))?;
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
        self.connection()
            .prepare_cached(
                "UPDATE locks SET opened_at = ?5
                 WHERE home = ?1 AND zone = ?2 AND path = ?3 AND working_copy = ?4",
            )?
            .execute((tenant, zone, &lock.path, &lock.working_copy, now))?;
        Ok(())
    }

    /// Releases exactly this lock; false where it is gone already.
    pub fn release_lock(
        &self,
        tenant: &str,
        zone: &str,
        lock: &Lock,
    ) -> Result<bool, RegistryError> {
        let released = self
            .connection()
            .prepare_cached(
                "DELETE FROM locks WHERE home = ?1 AND zone = ?2 AND path = ?3 AND working_copy = ?4",
            )?
            .execute((tenant, zone, &lock.path, &lock.working_copy))?;
        Ok(released == 1)
    }
}
