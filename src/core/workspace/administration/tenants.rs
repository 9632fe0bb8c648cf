//! Users and groups in numbers.

use std::collections::HashMap;

use super::{Administration, AdministrationError, TenantId};
use crate::store::{GROUPS, Store};
use crate::users::UserSummary;
use crate::{Code, Error, UserId};

/// What a tenant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TenantKind {
    /// Of one user.
    User,
    /// Of a group.
    Group,
}

impl TenantKind {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Group => "group",
        }
    }
}

/// What a user or a group has.
#[derive(Clone, Debug)]
pub struct TenantSummary {
    /// A user, or a group.
    pub kind: TenantKind,
    /// The directory below the data directory.
    pub tenant: String,
    /// The id; nothing where only a user's directory is there, which does not tell it.
    pub id: Option<String>,
    /// What people call it, where that is known here.
    pub name: Option<String>,
    /// Bytes in all zones.
    pub bytes: u64,
    /// Files in all zones.
    pub files: u64,
    /// Bytes that there may be.
    pub limit: u64,
    /// Whether an administrator gave it this limit.
    pub has_own_limit: bool,
    /// Unix seconds of the last call of a user.
    pub last_call: Option<i64>,
    /// Whether nothing is done for the user.
    pub suspended: bool,
    /// Personal tokens that work.
    pub tokens: u64,
    /// Links that work: those that a user made, or that lead into a group.
    pub links: u64,
    /// Browsers in which a user is signed in.
    pub sessions: u64,
    /// Locks in the zones.
    pub locks: u64,
}

/// What is read of all tenants at once.
struct Counts {
    calls: HashMap<String, i64>,
    locks: HashMap<String, u64>,
    links: HashMap<String, u64>,
}

impl Administration<'_> {
    /// Every user and group of whom there is something, the largest first.
    pub fn tenants(&self) -> Result<Vec<TenantSummary>, Error> {
        self.store.tenant_summaries()
    }
}

impl Store {
    /// Every user and group of whom there is something, the largest first.
    pub fn tenant_summaries(&self) -> Result<Vec<TenantSummary>, Error> {
        let counts = self.counts()?;
        let mut all = Vec::new();
        for user in self.users()? {
            all.push(self.user_summary(user, &counts)?);
        }
        for tenant in self.tenants_below(GROUPS)? {
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
        let counts = self.counts()?;
        match tenant {
            TenantId::User(user) => self.user_summary(self.user(user)?, &counts),
            TenantId::Group(_) => self.group_summary(self.existing_key(tenant)?, &counts),
        }
    }

    /// The key of a tenant of which there may be nothing.
    pub(crate) fn key_of(&self, tenant: &TenantId) -> Result<String, Error> {
        match tenant {
            TenantId::User(user) => self.tenant_of_user(user),
            TenantId::Group(group) => Ok(format!("{GROUPS}/{}", group.as_str())),
        }
    }

    /// The key of a tenant of which there is something.
    pub(super) fn existing_key(&self, tenant: &TenantId) -> Result<String, Error> {
        let unknown = |error: Error| match (tenant, error.code()) {
            // Whoever asks is somebody else: the code must not say that this one is wrong.
            (TenantId::User(user), Code::InvalidUser) => {
                let user = user.as_str().to_owned();
                AdministrationError::UnknownUser { user }.into()
            }
            _ => error,
        };
        let key = self.key_of(tenant).map_err(unknown)?;
        match tenant {
            TenantId::User(user) => {
                self.user(user).map_err(unknown)?;
            }
            TenantId::Group(group) => {
                let is_there = self.has_tenant(&key)?
                    || self
                        .registry()
                        .local_group(group.as_str())?
                        .is_some_and(|found| found.id == group.as_str());
                if !is_there {
                    let group = group.as_str().to_owned();
                    return Err(AdministrationError::UnknownGroup { group }.into());
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
                self.remove_group(&key, group.as_str())
            }
        }
    }

    fn counts(&self) -> Result<Counts, Error> {
        let now = self.clock().now().as_second();
        Ok(Counts {
            calls: self.last_calls()?,
            locks: self.registry().lock_counts(now)?,
            links: self.registry().link_counts(now)?,
        })
    }

    fn user_summary(&self, user: UserSummary, counts: &Counts) -> Result<TenantSummary, Error> {
        let own = self.registry().tenant_quota(&user.tenant)?;
        Ok(TenantSummary {
            kind: TenantKind::User,
            bytes: user.bytes(),
            files: user.files(),
            limit: own.unwrap_or_else(|| self.usual_quota(&user.tenant)),
            has_own_limit: own.is_some(),
            last_call: counts.calls.get(&user.tenant).copied(),
            suspended: user.suspended,
            tokens: user.credentials.tokens,
            links: user.credentials.links,
            sessions: user.credentials.sessions,
            locks: counts.locks.get(&user.tenant).copied().unwrap_or_default(),
            id: user.user.as_ref().map(UserId::as_str).map(str::to_owned),
            name: user.name,
            tenant: user.tenant,
        })
    }

    fn group_summary(&self, tenant: String, counts: &Counts) -> Result<TenantSummary, Error> {
        let id = tenant.trim_start_matches(GROUPS).trim_start_matches('/');
        let group = self
            .registry()
            .local_group(id)?
            .filter(|group| group.id == id);
        let usage = self.registry().usage(&tenant)?;
        let own = self.registry().tenant_quota(&tenant)?;
        Ok(TenantSummary {
            kind: TenantKind::Group,
            bytes: usage.iter().map(|usage| usage.totals.bytes).sum(),
            files: usage.iter().map(|usage| usage.totals.files).sum(),
            limit: own.unwrap_or_else(|| self.usual_quota(&tenant)),
            has_own_limit: own.is_some(),
            last_call: None,
            suspended: false,
            tokens: 0,
            links: counts.links.get(&tenant).copied().unwrap_or_default(),
            sessions: 0,
            locks: counts.locks.get(&tenant).copied().unwrap_or_default(),
            id: Some(id.to_owned()),
            name: group.map(|group| group.name),
            tenant,
        })
    }
}
