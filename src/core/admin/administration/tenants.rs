//! Users and groups in numbers.

use std::collections::HashMap;

use super::{Administration, AdministrationError, TenantId};
use crate::admin::Admin;
use fileshed_changes::removal;
use fileshed_registry::{Credentials, Usage};
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{Code, Error, names};
use fileshed_zones::store::GROUPS;

names! {
    /// The kind of a tenant.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum TenantKind {
        /// A user.
        User = "user",
        /// A group.
        Group = "group",
    }
}

/// A user or a group, with its usage and credentials.
#[derive(Clone, Debug)]
pub struct TenantSummary {
    /// A user, or a group.
    pub kind: TenantKind,
    /// The directory below the data directory.
    pub tenant: String,
    /// The id; `None` if only a user's directory is there, which does not tell it.
    pub id: Option<String>,
    /// The name that a gateway or Open WebUI used last for a user, or that of a group, if it is known.
    pub name: Option<String>,
    /// Usage of each zone that was measured.
    pub usage: Vec<Usage>,
    /// Bytes in all zones.
    pub bytes: u64,
    /// Files in all zones.
    pub files: u64,
    /// Bytes that there may be.
    pub limit: u64,
    /// `true` if an administrator gave it this limit.
    pub has_own_limit: bool,
    /// Unix seconds of the last call of a user.
    pub last_call: Option<i64>,
    /// `true` if nothing is done for the user.
    pub suspended: bool,
    /// Credentials of a user that work, or links that lead into a group.
    pub credentials: Credentials,
    /// Locks in the zones.
    pub locks: u64,
    /// Files of groups that a user owns.
    pub owned_files: u64,
}

/// The largest quota: an exbibyte.
pub(super) const QUOTA_MAX_MB: u64 = 1 << 40;

/// Last calls, locks and links of all tenants, read together.
pub(crate) struct TenantCounts {
    calls: HashMap<String, i64>,
    locks: HashMap<String, u64>,
    links: HashMap<String, u64>,
}

impl Administration<'_> {
    /// Every user and group of whom there is something, the largest first.
    pub fn tenants(&self) -> Result<Vec<TenantSummary>, Error> {
        self.admin.tenant_summaries()
    }
}

impl Admin {
    /// Gives a user or a group a quota of its own, or the one of all others again. It counts from the
    /// next call on, also in servers that run; files that are there stay.
    pub fn set_tenant_quota(&self, tenant: &TenantId, mebibytes: Option<u64>) -> Result<(), Error> {
        if let Some(mebibytes) = mebibytes
            && !(1..=QUOTA_MAX_MB).contains(&mebibytes)
        {
            return Err(AdministrationError::Quota { mebibytes }.into());
        }
        let key = self.existing_key(tenant)?;
        let bytes = mebibytes.map(|mebibytes| mebibytes * MEBIBYTE);
        let now = self.store.clock.now().as_second();
        Ok(self.store.registry.set_tenant_quota(&key, bytes, now)?)
    }

    /// Every user and group of whom there is something, the largest first.
    pub fn tenant_summaries(&self) -> Result<Vec<TenantSummary>, Error> {
        let counts = self.counts()?;
        let mut all = self.users()?;
        for tenant in self.store.tenants_below(GROUPS)? {
            all.push(self.group_summary(tenant, &counts)?);
        }
        all.sort_by(|one, other| {
            let order = other.bytes.cmp(&one.bytes);
            order.then_with(|| one.tenant.cmp(&other.tenant))
        });
        Ok(all)
    }

    /// One user or group of whom there is something.
    pub fn tenant_summary(&self, tenant: &TenantId) -> Result<TenantSummary, Error> {
        match tenant {
            TenantId::User(user) => self.user(user),
            TenantId::Group(_) => self.group_summary(self.existing_key(tenant)?, &self.counts()?),
        }
    }

    /// The key of a tenant of which there may be nothing.
    pub(crate) fn key_of(&self, tenant: &TenantId) -> Result<String, Error> {
        match tenant {
            TenantId::User(user) => self.store.tenant_of_user(user),
            TenantId::Group(group) => Ok(format!("{GROUPS}/{}", group.as_str())),
        }
    }

    /// The key of a tenant of which there is something.
    pub(super) fn existing_key(&self, tenant: &TenantId) -> Result<String, Error> {
        let unknown = |error: Error| match (tenant, error.code()) {
            // `InvalidUser` would be about the caller, but the fault is in the user id that the request
            // names.
            (TenantId::User(user), Code::InvalidUser) => {
                let (kind, id) = (TenantKind::User, user.as_str().to_owned());
                AdministrationError::UnknownTenant { kind, id }.into()
            }
            _ => error,
        };
        let key = self.key_of(tenant).map_err(unknown)?;
        match tenant {
            TenantId::User(user) => {
                self.user(user).map_err(unknown)?;
            }
            TenantId::Group(group) => {
                let local = self.store.registry.local_group(group.as_str())?;
                let is_there = self.store.has_tenant(&key)?
                    || local.is_some_and(|found| found.id == group.as_str());
                if !is_there {
                    let (kind, id) = (TenantKind::Group, group.as_str().to_owned());
                    return Err(AdministrationError::UnknownTenant { kind, id }.into());
                }
            }
        }
        Ok(key)
    }

    /// Removes a user with everything that is only the user's, or the files of a group with their
    /// history; who is in the group is what its directory says, and stays.
    pub fn delete_tenant(&self, tenant: &TenantId) -> Result<(), Error> {
        match tenant {
            TenantId::User(user) => self.delete_user(user, None).map(drop),
            TenantId::Group(group) => {
                let key = self.existing_key(tenant)?;
                removal::remove_directory(&self.store, &key, || {
                    self.store.registry.forget_group(&key, group.as_str())
                })
            }
        }
    }

    /// Returns what is read of all tenants at once.
    pub(crate) fn counts(&self) -> Result<TenantCounts, Error> {
        let now = self.store.clock.now().as_second();
        Ok(TenantCounts {
            calls: self.store.last_calls()?,
            locks: self.store.registry.lock_counts(now)?,
            links: self.store.registry.link_counts(now)?,
        })
    }

    /// Returns what is known of every tenant without its id.
    pub(crate) fn unnamed_summary(
        &self,
        kind: TenantKind,
        tenant: String,
        counts: &TenantCounts,
    ) -> Result<TenantSummary, Error> {
        let usage = self.store.registry.usage(&tenant)?;
        let own = self.store.registry.tenant_quota(&tenant)?;
        Ok(TenantSummary {
            kind,
            id: None,
            name: None,
            bytes: usage.iter().map(|usage| usage.totals.bytes).sum(),
            files: usage.iter().map(|usage| usage.totals.files).sum(),
            usage,
            limit: own.unwrap_or_else(|| self.store.usual_quota(&tenant)),
            has_own_limit: own.is_some(),
            last_call: counts.calls.get(&tenant).copied(),
            suspended: false,
            credentials: Credentials::default(),
            locks: counts.locks.get(&tenant).copied().unwrap_or_default(),
            owned_files: 0,
            tenant,
        })
    }

    fn group_summary(&self, tenant: String, counts: &TenantCounts) -> Result<TenantSummary, Error> {
        let mut summary = self.unnamed_summary(TenantKind::Group, tenant, counts)?;
        let tenant = &summary.tenant;
        summary.credentials.links = counts.links.get(tenant).copied().unwrap_or_default();
        let id = tenant.trim_start_matches(GROUPS).trim_start_matches('/');
        let group = self.store.registry.local_group(id)?;
        let group = group.filter(|group| group.id == id);
        summary.name = group.map(|group| group.name);
        summary.id = Some(id.to_owned());
        Ok(summary)
    }
}
