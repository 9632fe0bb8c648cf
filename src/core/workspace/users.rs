//! Users as an administrator at the command line sees them: what they have, and how they end.

use std::collections::BTreeMap;

use crate::store::{Store, USERS};
use crate::{Error, UserId, diagnostics};
use fileshed_registry::{Credentials, Usage};

/// One user.
#[derive(Clone, Debug)]
pub struct UserSummary {
    /// The id; nothing where only the directory is there, which does not tell it.
    pub user: Option<UserId>,
    /// What a gateway or Open WebUI called the user last.
    pub name: Option<String>,
    /// The directory below the data directory.
    pub tenant: String,
    /// What each zone holds, as far as it was measured.
    pub usage: Vec<Usage>,
    /// Credentials that work.
    pub credentials: Credentials,
    /// Files of groups that the user owns.
    pub owned_files: u64,
    /// Whether nothing is done for the user.
    pub suspended: bool,
}

impl UserSummary {
    /// Bytes in all zones.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.usage.iter().map(|usage| usage.totals.bytes).sum()
    }

    /// Files in all zones.
    #[must_use]
    pub fn files(&self) -> u64 {
        self.usage.iter().map(|usage| usage.totals.files).sum()
    }
}

impl Store {
    /// Every user of whom there is something, by id; directories whose user nobody named come last.
    pub fn users(&self) -> Result<Vec<UserSummary>, Error> {
        let mut tenants: BTreeMap<String, Option<UserId>> = self
            .tenants_below(USERS)?
            .into_iter()
            .map(|tenant| (tenant, None))
            .collect();
        for text in self.registry().known_users()? {
            if let Ok(user) = UserId::parse(&text)
                && let Ok(tenant) = self.tenant_of_user(&user)
            {
                tenants.insert(tenant, Some(user));
            }
        }
        let mut users = Vec::new();
        for (tenant, user) in tenants {
            users.push(self.summary(tenant, user)?);
        }
        users.sort_by_key(|summary| {
            let id = summary.user.as_ref().map(|user| user.as_str().to_owned());
            (id.is_none(), id, summary.tenant.clone())
        });
        Ok(users)
    }

    /// One user of whom there is something.
    pub fn user(&self, user: &UserId) -> Result<UserSummary, Error> {
        let tenant = self.tenant_of_user(user)?;
        let is_known = self.has_tenant(&tenant)?
            || self
                .registry()
                .known_users()?
                .iter()
                .any(|known| known == user.as_str());
        if !is_known {
            let user = user.as_str().to_owned();
            return Err(UnknownUser { user }.into());
        }
        self.summary(tenant, Some(user.clone()))
    }

    /// Refuses every call, token and link of a user from now on, also in servers that run; nothing
    /// is removed. False where that was so before.
    pub fn suspend(&self, user: &UserId) -> Result<bool, Error> {
        let now = self.clock().now().as_second();
        Ok(self.registry().suspend(user.as_str(), now)?)
    }

    /// Ends a suspension; false where there is none.
    pub fn resume(&self, user: &UserId) -> Result<bool, Error> {
        Ok(self.registry().resume(user.as_str())?)
    }

    /// Ends every token and link of a user, at once, also for servers that run. Says what worked
    /// until now.
    pub fn end_user(&self, user: &UserId) -> Result<Credentials, Error> {
        let found = self.user(user)?.credentials;
        let now = self.clock().now().as_second();
        self.registry().end_credentials(user.as_str(), now)?;
        Ok(found)
    }

    /// Ends a user and removes the own zones with their history. What the user has in groups stays
    /// there; whose it is then, an `heir` says. A suspension stays. Says what there was.
    pub fn delete_user(&self, user: &UserId, heir: Option<&UserId>) -> Result<UserSummary, Error> {
        let found = self.user(user)?;
        self.end_user(user)?;
        if let Some(heir) = heir {
            self.registry().give_files(user.as_str(), heir.as_str())?;
        }
        self.remove_tenant(&found.tenant, user)?;
        Ok(found)
    }

    fn summary(&self, tenant: String, user: Option<UserId>) -> Result<UserSummary, Error> {
        let now = self.clock().now().as_second();
        let credentials = user
            .as_ref()
            .map(|user| self.registry().credentials(user.as_str(), now))
            .transpose()?;
        let mut owned_files = 0;
        let mut standing = None;
        if let Some(user) = &user {
            owned_files = self.registry().owned_files(user.as_str())?;
            standing = self.registry().standing(user.as_str())?;
        }
        let standing = standing.unwrap_or_default();
        Ok(UserSummary {
            usage: self.registry().usage(&tenant)?,
            name: Some(standing.name).filter(|name| !name.is_empty()),
            suspended: standing.suspended_at.is_some(),
            owned_files,
            credentials: credentials.unwrap_or_default(),
            user,
            tenant,
        })
    }
}

diagnostics! {
    /// A user of whom there is nothing.
    #[derive(Debug, thiserror::Error)]
    #[error("there is nothing of a user `{user}`; `fileshed user list` lists them")]
    pub struct UnknownUser {
        user: String,
    } => {
        code: InvalidUser,
        hint: "see `fileshed user list`",
    }
}
