//! Tenants: their directories, their keys, their histories, the space that they have, and whether their
//! users are active.

use jiff::Timestamp;

use super::{GROUPS, SHARED, Store, USERS};
use crate::tenant::{TenantRoot, ZoneRoots};
use fileshed_history::{History, HistoryFailure};
use fileshed_registry::{BIN, QuotaError, Standing, TenantState, Usage};
use fileshed_storage::{DiskError, Kind, PrivateDirectory, Root, Staging, Totals};
use fileshed_types::fair::CallSlot;
use fileshed_types::group::Group;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::trust::Revocation;
use fileshed_types::{BinNotes, Caller, Error, UserId, ZoneName, ZonePath};

impl Store {
    /// Marks the files as changed. If durability is strict, returns when the change is on disk.
    pub fn changed(&self) {
        self.flusher.changed();
    }

    /// Returns a tenant, whose directory is created if it is missing, with its recorded quota.
    pub(crate) fn made_tenant(
        &self,
        key: &str,
        arrival: &TenantState,
    ) -> Result<TenantRoot, Error> {
        let root = self.data.subdirectory(key)?;
        Ok(self.tenant_at(key, root, arrival.quota))
    }

    /// Returns a tenant, if its directory exists.
    pub fn existing_tenant(&self, key: &str) -> Result<Option<TenantRoot>, Error> {
        let Some(root) = self.data.existing_subdirectory(key)? else {
            return Ok(None);
        };
        let quota = self.registry.tenant_quota(key)?;
        Ok(Some(self.tenant_at(key, root, quota)))
    }

    fn tenant_at(&self, key: &str, root: Root, quota: Option<u64>) -> TenantRoot {
        TenantRoot {
            root,
            key: key.to_owned(),
            limit: quota.unwrap_or_else(|| self.usual_quota(key)),
            zones: zones_of(key),
            place: CallSlot::default(),
            notes: BinNotes::default(),
        }
    }

    /// Returns `true` if there is a directory of a tenant.
    pub fn has_tenant(&self, key: &str) -> Result<bool, DiskError> {
        Ok(self.data.existing_subdirectory(key)?.is_some())
    }

    /// Returns the keys of the tenants that have a directory below one of this name.
    pub fn tenants_below(&self, parent: &str) -> Result<Vec<String>, DiskError> {
        let Some(directory) = self.data.existing_subdirectory(parent)? else {
            return Ok(Vec::new());
        };
        let entries = directory.list(&ZonePath::root())?.into_iter();
        let entries = entries.filter(|entry| entry.kind == Kind::Directory);
        let keys = entries.map(|entry| format!("{parent}/{}", entry.path));
        Ok(keys.collect())
    }

    /// Returns the directory of a conversation's uploads, below the tenant's root.
    pub(crate) fn uploads_of(&self, caller: &Caller) -> String {
        let directory = ZoneName::Uploads.directory().unwrap_or_default();
        format!("{directory}/{}", self.pepper.chat_directory(&caller.chat))
    }

    /// Returns the key of the caller's tenant and the name of the directory of the conversation's uploads.
    pub fn conversation(&self, caller: &Caller) -> Result<(String, String), Error> {
        Ok((
            self.tenant_key(caller)?,
            self.pepper.chat_directory(&caller.chat),
        ))
    }

    /// Returns the caller's name in logs: the same as that of its directory, so that it reveals nothing more.
    #[must_use]
    pub fn namespace(&self, caller: &Caller) -> String {
        self.tenant_key(caller)
            .unwrap_or_else(|_| "refused".to_owned())
    }

    /// Returns the key of the tenant whose zones a caller has. Fails for a user id that cannot be a
    /// directory name.
    pub fn tenant_key(&self, caller: &Caller) -> Result<String, Error> {
        Ok(match &caller.user {
            None => SHARED.to_owned(),
            Some(user) => self.tenant_of_user(user)?,
        })
    }

    /// Returns the key of a user's tenant.
    pub fn tenant_of_user(&self, user: &UserId) -> Result<String, Error> {
        let directory = self.pepper.namespace(user, self.settings.namespace)?;
        Ok(format!("{USERS}/{directory}"))
    }

    /// Returns the bytes that a tenant may hold: an administrator's value for it, or the default.
    pub(crate) fn quota(&self, tenant: &str) -> Result<u64, Error> {
        let own = self.registry.tenant_quota(tenant)?;
        Ok(own.unwrap_or_else(|| self.usual_quota(tenant)))
    }

    /// Returns the bytes that a tenant may hold by default.
    pub fn usual_quota(&self, tenant: &str) -> u64 {
        let mebibytes = if tenant.starts_with(GROUPS) {
            self.settings.quota_per_group_mb
        } else {
            self.settings.quota_per_user_mb
        };
        mebibytes * MEBIBYTE
    }

    /// Mebibytes that the caller may hold.
    pub fn quota_mb(&self, caller: &Caller) -> Result<u64, Error> {
        Ok(self.quota(&self.tenant_key(caller)?)? / MEBIBYTE)
    }

    /// Fails if so many bytes more do not fit.
    pub fn expect_space(&self, tenant: &TenantRoot, needed: u64) -> Result<(), Error> {
        let expect = || {
            let (used, limit) = (self.used(tenant)?, tenant.limit);
            if used.saturating_add(needed) > limit {
                return Err(QuotaError {
                    used,
                    needed,
                    limit,
                }
                .into());
            }
            Ok(())
        };
        let (bytes, files) = (needed, 0);
        self.making_space(tenant, Totals { bytes, files }, expect)
    }

    /// Returns the bytes that a tenant may still take. The bin does not count, because it gives way.
    pub fn space_left(&self, tenant: &TenantRoot) -> Result<u64, Error> {
        Ok(tenant.limit.saturating_sub(self.used_without_bin(tenant)?))
    }

    /// Returns the bytes that a tenant holds outside its bin.
    pub fn used_without_bin(&self, tenant: &TenantRoot) -> Result<u64, Error> {
        let usage = self.usage_without_bin(tenant)?;
        Ok(usage.iter().map(|usage| usage.totals.bytes).sum())
    }

    /// Returns the space of everything of a tenant outside its bin, which gives way if space is needed.
    pub fn usage_without_bin(&self, tenant: &TenantRoot) -> Result<Vec<Usage>, Error> {
        let mut usage = self.registry.usage(&tenant.key)?;
        usage.retain(|usage| usage.zone != BIN);
        Ok(usage)
    }

    /// Returns the bytes that a tenant holds.
    pub fn used(&self, tenant: &TenantRoot) -> Result<u64, Error> {
        let usage = self.registry.usage(&tenant.key)?;
        Ok(usage.iter().map(|usage| usage.totals.bytes).sum())
    }

    /// Runs `work` on a history, whose writer lock the caller holds. The history is created on first
    /// use, and again if it is damaged.
    pub fn work_on_history<T, E: HistoryFailure>(
        &self,
        of: &ZoneRoots<'_>,
        now: Timestamp,
        work: impl FnMut(&History) -> Result<T, E>,
    ) -> Result<T, E> {
        let done = History::work(of.base, of.data, now, work)?;
        if let Some(packer) = &self.packer {
            packer.touched(of.tenant, of.zone);
        }
        Ok(done)
    }

    /// Returns the directory in which changes of one tenant are prepared.
    pub fn staging(&self, tenant: &TenantRoot) -> Result<Staging, DiskError> {
        let directory = tenant.root.subdirectory("staging")?;
        let staging = Staging::new(directory, &self.instance.name);
        let staging = staging.removing_behind(self.remover.removals());
        Ok(staging.relieved_by(self.relief(tenant)))
    }

    /// Returns an empty directory for one command, even on a full disk. On some file systems the
    /// directory takes a block; reading and deleting in it needs no further space.
    pub fn private_directory(&self, tenant: &TenantRoot) -> Result<PrivateDirectory, DiskError> {
        let staging = self.staging(tenant)?;
        match staging.private_directory() {
            Err(DiskError::Full) => self.reserve.private_directory(&staging),
            made => made,
        }
    }

    /// Fails if an administrator has suspended the caller. Every access to the caller's data checks
    /// this, and so do calls without such data, for instance of help.
    pub fn expect_active(&self, caller: &Caller) -> Result<(), Error> {
        let Some(user) = &caller.user else {
            return Ok(());
        };
        // The next opening makes the same query, which the registry has cached.
        let arrival = self
            .registry
            .arrival(user.as_str(), &self.tenant_of_user(user)?)?;
        Ok(expect_not_suspended(arrival.standing.as_ref())?)
    }

    /// Returns the name of the person who calls: the one that comes with the call, or else the last one
    /// that came with a call of the same user. Personal tokens, for one, bring none.
    #[must_use]
    pub fn name_of(&self, caller: &Caller) -> Option<String> {
        if caller.name.is_some() {
            return caller.name.clone();
        }
        let user = caller.user.as_ref()?;
        let tenant = self.tenant_of_user(user).ok()?;
        let arrival = self.registry.arrival(user.as_str(), &tenant).ok()?;
        let standing = arrival.standing.as_ref()?;
        Some(standing.name.clone()).filter(|name| !name.is_empty())
    }

    /// Fails if the caller is suspended; `standing` is the caller's row. Records the caller's name,
    /// because the name of a directory does not tell it.
    pub(crate) fn meet(&self, caller: &Caller, standing: Option<&Standing>) -> Result<(), Error> {
        let Some(user) = &caller.user else {
            return Ok(());
        };
        expect_not_suspended(standing)?;
        let name = caller.name.as_deref().unwrap_or_default();
        if standing.is_some_and(|standing| name.is_empty() || standing.name == name) {
            return Ok(());
        }
        let now = self.clock.now().as_second();
        if let Err(error) = self.registry.meet(user.as_str(), name, now) {
            // The call does not depend on it, and the next call tries again.
            tracing::warn!(%error, "a user could not be recorded");
        }
        Ok(())
    }
}

fn expect_not_suspended(standing: Option<&Standing>) -> Result<(), Revocation> {
    match standing {
        Some(standing) if standing.suspended_at.is_some() => Err(Revocation::Suspended),
        _ => Ok(()),
    }
}

/// Returns the key of a group's tenant.
pub(crate) fn group_key(group: &Group) -> String {
    format!("{GROUPS}/{}", group.id.as_str())
}

/// Returns the zones of a tenant.
fn zones_of(key: &str) -> &'static [ZoneName] {
    if key.starts_with(GROUPS) {
        &ZoneName::SHARED
    } else {
        &ZoneName::PERSONAL
    }
}
