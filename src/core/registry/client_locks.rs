//! Locks that programs take over WebDAV: rows that count until their time is over.

use super::database::{DatabaseError, Statements, Value};
use super::rows::row;
use super::{FilePlace, Registry, RegistryError};

/// Locks of one tenant.
const LOCKS_MAX: i64 = 1000;

row! {
    /// One lock.
    pub struct ClientLock {
        /// The secret that allows to change what is locked.
        token: String = "token",
        /// The path in its zone, as names are compared.
        path: String = "path",
        /// The same as it was named.
        spelled: String = "spelled",
        /// The user that took it; empty in shared mode.
        user: String = "user_id",
        /// The program's description of itself: XML, or empty.
        owner: String = "owner",
        /// `true` if others may have one too.
        shared: bool = "shared",
        /// `true` if it is on everything below, too.
        deep: bool = "deep",
        /// Seconds for which it was taken.
        seconds: i64 = "seconds",
        /// Unix seconds.
        expires_at: i64 = "expires_at",
    }
}

/// What came of taking a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenLock {
    /// It is there.
    Taken,
    /// Another one is in the way.
    Conflict(ClientLock),
    /// There are as many as a tenant may have.
    TooMany,
}

/// The locks on a path: its own, deep ones above, and all below.
fn around(
    statements: &impl Statements,
    place: FilePlace<'_>,
    now: i64,
) -> Result<Vec<ClientLock>, DatabaseError> {
    let select = format!(
        "SELECT {COLUMNS} FROM client_locks WHERE home = ?1 AND zone = ?2 AND expires_at > ?4
         AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/'
              OR (deep = 1 AND substr(?3, 1, length(path) + 1) = path || '/'))
         ORDER BY path, token"
    );
    statements.all(
        &select,
        (place.tenant, place.zone, place.path, now),
        ClientLock::read,
    )
}

impl Registry {
    /// The locks on a path: its own, deep ones above, and all below.
    pub fn client_locks(
        &self,
        place: FilePlace<'_>,
        now: i64,
    ) -> Result<Vec<ClientLock>, RegistryError> {
        Ok(around(&self.connection()?, place, now)?)
    }

    /// Takes a lock, unless another one is in the way.
    pub fn take_client_lock(
        &self,
        (tenant, zone): (&str, &str),
        lock: &ClientLock,
        now: i64,
    ) -> Result<TakenLock, RegistryError> {
        self.transact(&[tenant], |transaction| {
            transaction.execute(
                "DELETE FROM client_locks WHERE home = ?1 AND expires_at <= ?2",
                (tenant, now),
            )?;
            let path = lock.path.as_str();
            let others = around(transaction, FilePlace { tenant, zone, path }, now)?;
            let is_in_the_way = |other: &ClientLock| {
                let is_below = other.path.len() > path.len();
                !(other.shared && lock.shared) && (lock.deep || !is_below)
            };
            if let Some(other) = others.into_iter().find(is_in_the_way) {
                return Ok(TakenLock::Conflict(other));
            }
            let count: i64 = transaction.value(
                "SELECT count(*) FROM client_locks WHERE home = ?1",
                [tenant],
            )?;
            if count >= LOCKS_MAX {
                return Ok(TakenLock::TooMany);
            }
            let place = [("home", Value::Text(tenant)), ("zone", Value::Text(zone))];
            lock.insert(transaction, "client_locks", &place, "")?;
            Ok(TakenLock::Taken)
        })
    }

    /// Lets a lock of this user count until a later time; whether it still counts.
    pub fn renew_client_lock(
        &self,
        (tenant, token): (&str, &str),
        user: &str,
        (now, seconds): (i64, i64),
    ) -> Result<bool, RegistryError> {
        let renewed = self.connection()?.execute(
            "UPDATE client_locks SET seconds = ?5, expires_at = ?6
                 WHERE token = ?1 AND home = ?2 AND user_id = ?3 AND expires_at > ?4",
            (
                token,
                tenant,
                user,
                now,
                seconds,
                now.saturating_add(seconds),
            ),
        )?;
        Ok(renewed == 1)
    }

    /// Releases a lock of this user; whether there was one.
    pub fn release_client_lock(
        &self,
        tenant: &str,
        token: &str,
        user: &str,
    ) -> Result<bool, RegistryError> {
        let released = self.connection()?.execute(
            "DELETE FROM client_locks WHERE token = ?1 AND home = ?2 AND user_id = ?3",
            (token, tenant, user),
        )?;
        Ok(released == 1)
    }

    /// Releases every lock on a path and below, where nothing is any more.
    pub fn forget_client_locks(&self, place: FilePlace<'_>) -> Result<(), RegistryError> {
        self.connection()?.execute(
            "DELETE FROM client_locks WHERE home = ?1 AND zone = ?2
                 AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/')",
            (place.tenant, place.zone, place.path),
        )?;
        Ok(())
    }
}
