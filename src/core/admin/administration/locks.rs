//! Locks of all users: who holds them, in which zone, and since when. A lock is released by an id, so
//! nobody has to see which file it is on.

use sha2::{Digest as _, Sha256};

use super::{Administration, ROWS_MAX, gone};
use fileshed_changes::lockedit;
use fileshed_registry::ClientLock;
use fileshed_types::{Error, ZoneName, names};
use fileshed_zones::zone::expect_write_scope;

names! {
    /// The holder of a lock: a locked edit or a program.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum LockKind {
        /// A locked edit.
        Edit = "edit",
        /// A program over WebDAV.
        WebDav = "webdav",
    }
}

/// One lock.
#[derive(Clone, Debug)]
pub struct LockSummary {
    /// Id by which the lock is released.
    pub id: String,
    /// Kind of the lock's holder.
    pub kind: LockKind,
    /// The user who holds it; `None` in shared mode.
    pub user: Option<String>,
    /// The zone.
    pub zone: String,
    /// The group, in a zone of one.
    pub group: Option<String>,
    /// Unix seconds; of a lock over WebDAV, when it was taken or renewed.
    pub since: i64,
    /// Unix seconds.
    pub expires_at: i64,
}

impl Administration<'_> {
    /// The locks of all zones, those of edits first, at most 5000 of each kind.
    pub fn locks(&self) -> Result<Vec<LockSummary>, Error> {
        let registry = &self.admin.store.registry;
        let hours = self.admin.store.settings.lock_max_age_hours;
        let age = i64::try_from(hours.saturating_mul(3600)).unwrap_or(i64::MAX);
        let edits = registry.locks_of_all(ROWS_MAX)?.into_iter();
        let mut all: Vec<LockSummary> = edits
            .map(|lock| LockSummary {
                id: lock.working_copy,
                kind: LockKind::Edit,
                user: named(lock.user),
                group: group(&lock.tenant),
                zone: lock.zone,
                since: lock.opened_at,
                expires_at: lock.opened_at.saturating_add(age),
            })
            .collect();
        let clients = registry.client_locks_of_all(self.now(), ROWS_MAX)?;
        all.extend(clients.into_iter().map(|lock| LockSummary {
            id: id_of(&lock),
            kind: LockKind::WebDav,
            since: lock.expires_at - lock.seconds,
            expires_at: lock.expires_at,
            user: named(lock.user),
            group: group(&lock.tenant),
            zone: lock.zone,
        }));
        Ok(all)
    }

    /// Releases a lock at once. Unsaved changes of a locked edit are lost.
    pub fn release_lock(&self, id: &str) -> Result<(), Error> {
        expect_write_scope(self.caller)?;
        let registry = &self.admin.store.registry;
        let mut edits = registry.locks_of_all(ROWS_MAX)?.into_iter();
        if let Some(lock) = edits.find(|lock| lock.working_copy == id) {
            if let Some(tenant) = self.admin.store.existing_tenant(&lock.tenant)? {
                let zone = ZoneName::parse(&lock.zone)?;
                let zone = self.admin.foreign_zone(self.caller, &tenant, zone)?;
                lockedit::release(&zone, &lock)?;
            } else {
                // Somebody removed the directory.
                registry.release_lock(&lock)?;
            }
            self.log("release_lock", &lock.tenant);
            return Ok(());
        }
        let clients = registry.client_locks_of_all(self.now(), ROWS_MAX)?;
        let lock = clients.into_iter().find(|lock| id_of(lock) == id);
        let lock = lock.ok_or_else(|| gone(id))?;
        registry.release_client_lock(&lock.tenant, &lock.token, &lock.user)?;
        self.log("release_lock", &lock.tenant);
        Ok(())
    }
}

/// The token of such a lock lets through whoever knows it, so it is not shown.
fn id_of(lock: &ClientLock) -> String {
    hex::encode(&Sha256::digest(&lock.token)[..16])
}

fn named(user: String) -> Option<String> {
    Some(user).filter(|user| !user.is_empty())
}

fn group(tenant: &str) -> Option<String> {
    Some(tenant.strip_prefix("groups/")?.to_owned())
}
