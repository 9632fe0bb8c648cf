//! Administration of a server: users and groups with their usage, running processes, links, locks, queues.
//!
//! No response contains the content or the name of a file, because a name can reveal as much as a content.
//! Locks, links and processes are named by ids. Every action is logged once, with the administrator who did
//! it.

mod locks;
mod running;
mod tenants;

use std::fmt;

use crate::admin::Admin;
use fileshed_registry::LinkRow;
use fileshed_types::{Caller, Error, Role, UserId, diagnostics};
use fileshed_zones::zone::expect_write_scope;

pub use locks::{LockKind, LockSummary};
pub use running::{QueueLength, RunningKind, RunningSummary};
pub(crate) use tenants::TenantCounts;
pub use tenants::{TenantKind, TenantSummary};

/// Rows of one list, at most.
const ROWS_MAX: u32 = 5000;

/// A user or a group, as an administrator names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TenantId {
    /// A user.
    User(UserId),
    /// A group.
    Group(fileshed_types::group::GroupId),
}

impl fmt::Display for TenantId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::User(user) => user.as_str(),
            Self::Group(group) => group.as_str(),
        })
    }
}

/// The server, for a caller who administers it.
#[derive(Clone, Copy, Debug)]
pub struct Administration<'a> {
    admin: &'a Admin,
    caller: &'a Caller,
}

impl Admin {
    /// The server, for an administrator; everybody else learns nothing.
    pub fn administration<'a>(&'a self, caller: &'a Caller) -> Result<Administration<'a>, Error> {
        if caller.role != Role::Admin {
            return Err(AdministrationError::NotAllowed.into());
        }
        self.store.expect_active(caller)?;
        Ok(Administration {
            admin: self,
            caller,
        })
    }
}

impl Administration<'_> {
    /// Suspends a user; false where that was so before.
    pub fn suspend(&self, user: &UserId) -> Result<bool, Error> {
        expect_write_scope(self.caller)?;
        self.expect_other(user)?;
        let key = self.admin.existing_key(&TenantId::User(user.clone()))?;
        let is_new = self.admin.suspend(user)?;
        self.log("suspend", &key);
        Ok(is_new)
    }

    /// Ends a suspension; false where there is none.
    pub fn resume(&self, user: &UserId) -> Result<bool, Error> {
        expect_write_scope(self.caller)?;
        let key = self.admin.existing_key(&TenantId::User(user.clone()))?;
        let was_suspended = self.admin.resume(user)?;
        self.log("resume", &key);
        Ok(was_suspended)
    }

    /// Removes a user, or what a group has, for good. `name` is the id, typed again.
    pub fn delete(&self, tenant: &TenantId, name: &str) -> Result<(), Error> {
        expect_write_scope(self.caller)?;
        if name != tenant.to_string() {
            return Err(AdministrationError::NotConfirmed.into());
        }
        if let TenantId::User(user) = tenant {
            self.expect_other(user)?;
        }
        let key = self.admin.existing_key(tenant)?;
        self.admin.delete_tenant(tenant)?;
        self.log("delete", &key);
        Ok(())
    }

    /// Gives a user or a group a quota of its own, or the one of all others again.
    pub fn set_quota(&self, tenant: &TenantId, mebibytes: Option<u64>) -> Result<(), Error> {
        expect_write_scope(self.caller)?;
        self.admin.set_tenant_quota(tenant, mebibytes)?;
        self.log("quota", &self.admin.key_of(tenant)?);
        Ok(())
    }

    /// The links that work, oldest first, at most 5000.
    pub fn links(&self) -> Result<Vec<LinkRow>, Error> {
        let registry = &self.admin.store.registry;
        Ok(registry.links_of_all(self.now(), ROWS_MAX)?)
    }

    /// Ends a link, at once.
    pub fn end_link(&self, id: &str) -> Result<(), Error> {
        expect_write_scope(self.caller)?;
        let registry = &self.admin.store.registry;
        let row = registry.link(id)?.ok_or_else(|| gone(id))?;
        if !registry.remove_link(&row.tenant, id)? {
            return Err(gone(id));
        }
        self.log("end_link", &row.tenant);
        Ok(())
    }

    /// Nobody locks themselves out.
    fn expect_other(&self, user: &UserId) -> Result<(), Error> {
        if self.caller.user.as_ref() == Some(user) {
            return Err(AdministrationError::Oneself.into());
        }
        Ok(())
    }

    /// Says who did what, to whom: directories, as everywhere in the log.
    fn log(&self, action: &'static str, tenant: &str) {
        let by = self.admin.store.namespace(self.caller);
        tracing::info!(action, tenant, by, "administration");
    }

    fn now(&self) -> i64 {
        self.admin.store.clock.now().as_second()
    }
}

/// Returns the error for an id that is not in a list.
fn gone(id: &str) -> Error {
    let id = id.chars().take(80).collect();
    AdministrationError::Gone { id }.into()
}

diagnostics! {
    /// Why somebody does not administer the server, or not in this way.
    #[derive(Debug, thiserror::Error)]
    pub enum AdministrationError {
        /// The caller is no administrator.
        #[error("only administrators of this server may do this")]
        NotAllowed => {
            code: AccessDenied,
            hint: "ask an administrator of this server",
        },
        /// The id of the user or group was not repeated as confirmation.
        #[error("`name` is not the id of the user or group to remove")]
        NotConfirmed => {
            code: InvalidParameter,
            hint: "nothing was removed; send in `name` the same id as in `user` or \
                `group`",
            details: { "parameter": "name" },
        },
        /// An administrator would be locked out.
        #[error("administrators cannot suspend or remove their own account here")]
        Oneself => {
            code: AccessDenied,
            hint: "ask another administrator, or use `fileshed user` on the server's machine",
        },
        /// Neither a user nor a group was named, or both.
        #[error("exactly one of the parameters `user` and `group` is needed")]
        NoTenant => {
            code: InvalidParameter,
            hint: "send `user` or `group` with an id as the list shows it",
            details: { "parameter": "user" },
        },
        /// There is nothing of a user or a group.
        #[error("this server has no data of a {} `{id}`", kind.as_str())]
        UnknownTenant {
            /// A user, or a group.
            kind: TenantKind => [TenantKind::User, TenantKind::Group],
            /// The id received.
            id: String => ["adda".into(), "team".into()],
        } => {
            code: InvalidParameter,
            hint: "`fileshed tenant list` and the page list them",
            details: { "parameter": kind.as_str() },
        },
        /// The quota is not one.
        #[error(
            "a quota of {mebibytes} MiB is not allowed; the range is 1 to {}",
            tenants::QUOTA_MAX_MB
        )]
        Quota {
            /// The quota received, in MiB.
            mebibytes: u64 = 0,
        } => {
            code: InvalidParameter,
            hint: "send `quota_mb` within these bounds, or null for the default quota",
            details: { "parameter": "quota_mb", "max": tenants::QUOTA_MAX_MB },
        },
        /// The process, link or lock to end does not exist.
        #[error("there is nothing with the id `{id}`: it may have ended")]
        Gone {
            /// The id received.
            id: String = "command-7".into(),
        } => {
            code: InvalidParameter,
            hint: "load the list again",
            details: { "parameter": "id", "id": id },
        },
        /// A running program was ended, for its user.
        #[error("an administrator of this server ended the operation")]
        Ended => {
            code: AccessDenied,
            hint: "ask the administrator of this server for the reason",
        },
    }
}
