//! Users as an administrator at the command line sees them: what they have, and how they end.

use std::collections::BTreeMap;

use crate::admin::Admin;
use crate::administration::{TenantCounts, TenantKind, TenantSummary};
use fileshed_changes::removal;
use fileshed_registry::Credentials;
use fileshed_types::{Error, UserId, diagnostics};
use fileshed_zones::store::USERS;

impl Admin {
    /// Every user of whom there is something, by id; directories whose user nobody named come last.
    pub fn users(&self) -> Result<Vec<TenantSummary>, Error> {
        let mut tenants: BTreeMap<String, Option<UserId>> = self
            .store
            .tenants_below(USERS)?
            .into_iter()
            .map(|tenant| (tenant, None))
            .collect();
        for text in self.store.registry.known_users()? {
            if let Ok(user) = UserId::parse(&text)
                && let Ok(tenant) = self.store.tenant_of_user(&user)
            {
                tenants.insert(tenant, Some(user));
            }
        }
        let counts = self.counts()?;
        let mut users = Vec::new();
        for (tenant, user) in tenants {
            users.push(self.user_summary(tenant, user.as_ref(), &counts)?);
        }
        users.sort_by_key(|user| (user.id.is_none(), user.id.clone(), user.tenant.clone()));
        Ok(users)
    }

    /// One user of whom there is something.
    pub fn user(&self, user: &UserId) -> Result<TenantSummary, Error> {
        let tenant = self.store.tenant_of_user(user)?;
        let is_known = self.store.has_tenant(&tenant)?
            || self
                .store
                .registry
                .known_users()?
                .iter()
                .any(|known| known == user.as_str());
        if !is_known {
            let user = user.as_str().to_owned();
            return Err(UnknownUser { user }.into());
        }
        self.user_summary(tenant, Some(user), &self.counts()?)
    }

    /// Refuses every call, token and link of a user from now on, also in servers that run; nothing
    /// is removed. False where that was so before.
    pub fn suspend(&self, user: &UserId) -> Result<bool, Error> {
        let now = self.store.clock.now().as_second();
        Ok(self.store.registry.suspend(user.as_str(), now)?)
    }

    /// Ends a suspension; false where there is none.
    pub fn resume(&self, user: &UserId) -> Result<bool, Error> {
        Ok(self.store.registry.resume(user.as_str())?)
    }

    /// Ends every token and link of a user, at once, also for servers that run. Says what worked
    /// until now.
    pub fn end_user(&self, user: &UserId) -> Result<Credentials, Error> {
        let found = self.user(user)?.credentials;
        let now = self.store.clock.now().as_second();
        self.store.registry.end_credentials(user.as_str(), now)?;
        Ok(found)
    }

    /// Ends a user's credentials and removes the user's own zones with their history. Files in groups stay,
    /// and belong to the `heir`, if there is one. A suspension stays. Returns the summary from before.
    pub fn delete_user(
        &self,
        user: &UserId,
        heir: Option<&UserId>,
    ) -> Result<TenantSummary, Error> {
        let found = self.user(user)?;
        self.end_user(user)?;
        if let Some(heir) = heir {
            self.store
                .registry
                .give_files(user.as_str(), heir.as_str())?;
        }
        let home = &found.tenant;
        removal::remove_directory(&self.store, home, || {
            self.store.registry.forget_home(home, user.as_str())
        })?;
        Ok(found)
    }

    fn user_summary(
        &self,
        tenant: String,
        user: Option<&UserId>,
        counts: &TenantCounts,
    ) -> Result<TenantSummary, Error> {
        let mut summary = self.unnamed_summary(TenantKind::User, tenant, counts)?;
        if let Some(user) = user.map(UserId::as_str) {
            let registry = &self.store.registry;
            let standing = registry.standing(user)?.unwrap_or_default();
            summary.id = Some(user.to_owned());
            summary.name = Some(standing.name).filter(|name| !name.is_empty());
            summary.suspended = standing.suspended_at.is_some();
            summary.owned_files = registry.owned_files(user)?;
            summary.credentials = registry.credentials(user, self.store.clock.now().as_second())?;
        }
        Ok(summary)
    }
}

diagnostics! {
    /// A user of whom there is nothing.
    #[derive(Debug, thiserror::Error)]
    #[error("this server has no data of a user `{user}`; `fileshed user list` lists them")]
    pub struct UnknownUser {
        user: String,
    } => {
        code: InvalidUser,
        hint: "see `fileshed user list`",
    }
}
