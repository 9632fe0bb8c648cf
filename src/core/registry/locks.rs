//! Locked edits, each a row that an insert either adds or finds taken, and locks that programs take over
//! WebDAV, which count until their time is over.

use super::database::Statements;
use super::path_rows::at_or_below;
use super::rows::{Entity as _, NO_MORE, row};
use super::{FilePlace, Registry, Result};

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
    pub fn lock(&self, tenant: &str, zone: &str, path: &str) -> Result<Option<Lock>> {
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
    ) -> Result<Option<Lock>> {
        // '0' follows '/' in byte order: the range holds what lies below the directory.
        let condition = "WHERE home = ?1 AND zone = ?2 AND opened_at > ?4
             AND (path = ?3 OR (path > ?3 || '/' AND path < ?3 || '0')) ORDER BY opened_at LIMIT 1";
        Lock::first(self, condition, (tenant, zone, path, since))
    }

    /// Returns `true` if anything in a zone is locked, or was: by a locked edit or by a program.
    pub fn has_locks(&self, tenant: &str, zone: &str) -> Result<bool> {
        self.value(
            "SELECT EXISTS (SELECT 1 FROM locks WHERE home = ?1 AND zone = ?2)
             OR EXISTS (SELECT 1 FROM client_locks WHERE home = ?1 AND zone = ?2)",
            [tenant, zone],
        )
    }

    /// Returns all locks of a zone.
    pub fn locks(&self, tenant: &str, zone: &str) -> Result<Vec<Lock>> {
        let condition = "WHERE home = ?1 AND zone = ?2 ORDER BY path";
        Lock::all(self, condition, [tenant, zone])
    }

    /// Returns the locked edits of all tenants, oldest first, at most so many.
    pub fn locks_of_all(&self, most: u32) -> Result<Vec<Lock>> {
        Lock::all(self, "ORDER BY opened_at, working_copy LIMIT ?1", [most])
    }

    /// Returns the tenants and zones with locks.
    pub fn locked_zones(&self) -> Result<Vec<(String, String)>> {
        self.all("SELECT DISTINCT home, zone FROM locks", ())
    }

    /// Takes a lock; returns `false` if the path has one.
    pub fn take_lock(&self, lock: &Lock) -> Result<bool> {
        lock.insert(self, NO_MORE, "ON CONFLICT DO NOTHING")
    }

    /// Lets exactly this lock count from `now` on.
    pub fn renew_lock(&self, lock: &Lock, now: i64) -> Result<()> {
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
    pub fn release_lock(&self, lock: &Lock) -> Result<bool> {
        release(self, lock)
    }
}

/// Releases exactly this lock; returns `false` if it is gone already.
pub(super) fn release(statements: &impl Statements, lock: &Lock) -> Result<bool> {
    statements.changes(
        "DELETE FROM locks WHERE home = ?1 AND zone = ?2 AND path = ?3 AND working_copy = ?4",
        [&lock.tenant, &lock.zone, &lock.path, &lock.working_copy],
    )
}

/// Locks of programs in one tenant.
const CLIENT_LOCKS_MAX: i64 = 1000;

row! {
    /// One lock of a program.
    pub struct ClientLock in "client_locks" {
        /// The key of the tenant.
        tenant: String = "home",
        /// The zone.
        zone: String = "zone",
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

/// The outcome of taking a lock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TakenLock {
    /// It is there.
    Taken,
    /// Another one is in the way.
    Conflict(ClientLock),
    /// There are as many as a tenant may have.
    TooMany,
}

/// Returns the locks on a path: its own, deep ones above, and all below.
fn around(statements: &impl Statements, place: FilePlace<'_>, now: i64) -> Result<Vec<ClientLock>> {
    let condition = "WHERE home = ?1 AND zone = ?2 AND expires_at > ?4
         AND (path = ?3 OR substr(path, 1, length(?3) + 1) = ?3 || '/'
              OR (deep = 1 AND substr(?3, 1, length(path) + 1) = path || '/'))
         ORDER BY path, token";
    let values = (place.tenant, place.zone, place.path, now);
    ClientLock::all(statements, condition, values)
}

impl Registry {
    /// Returns the locks on a path: its own, deep ones above, and all below.
    pub fn client_locks(&self, place: FilePlace<'_>, now: i64) -> Result<Vec<ClientLock>> {
        around(self, place, now)
    }

    /// Returns the locks of all tenants, at most so many.
    pub fn client_locks_of_all(&self, now: i64, most: u32) -> Result<Vec<ClientLock>> {
        let condition = "WHERE expires_at > ?1 ORDER BY expires_at, token LIMIT ?2";
        ClientLock::all(self, condition, (now, most))
    }

    /// Takes a lock, unless another one is in the way.
    pub fn take_client_lock(&self, lock: &ClientLock, now: i64) -> Result<TakenLock> {
        let (tenant, zone, path) = (&*lock.tenant, &*lock.zone, &*lock.path);
        self.transact(&[tenant], |transaction| {
            transaction.run(
                "DELETE FROM client_locks WHERE home = ?1 AND expires_at <= ?2",
                (tenant, now),
            )?;
            let others = around(transaction, FilePlace { tenant, zone, path }, now)?;
            let is_in_the_way = |other: &ClientLock| {
                let is_below = other.path.len() > path.len();
                !(other.shared && lock.shared) && (lock.deep || !is_below)
            };
            if let Some(other) = others.into_iter().find(is_in_the_way) {
                return Ok(TakenLock::Conflict(other));
            }
            let count = "SELECT count(*) FROM client_locks WHERE home = ?1";
            if transaction.value::<i64>(count, [tenant])? >= CLIENT_LOCKS_MAX {
                return Ok(TakenLock::TooMany);
            }
            lock.insert(transaction, NO_MORE, "")?;
            Ok(TakenLock::Taken)
        })
    }

    /// Lets a lock of this user count until a later time; returns `false` if it counts no more.
    pub fn renew_client_lock(
        &self,
        (tenant, token): (&str, &str),
        user: &str,
        (now, seconds): (i64, i64),
    ) -> Result<bool> {
        let until = now.saturating_add(seconds);
        self.changes(
            "UPDATE client_locks SET seconds = ?5, expires_at = ?6
             WHERE token = ?1 AND home = ?2 AND user_id = ?3 AND expires_at > ?4",
            (token, tenant, user, now, seconds, until),
        )
    }

    /// Releases a lock of this user; returns `false` if there is none.
    pub fn release_client_lock(&self, tenant: &str, token: &str, user: &str) -> Result<bool> {
        self.changes(
            "DELETE FROM client_locks WHERE token = ?1 AND home = ?2 AND user_id = ?3",
            [token, tenant, user],
        )
    }

    /// Releases every lock on a path and below, where nothing is any more.
    pub fn forget_client_locks(&self, place: FilePlace<'_>) -> Result<()> {
        let condition = at_or_below("path");
        self.run(
            &format!("DELETE FROM client_locks WHERE {condition}"),
            place,
        )
    }
}
