//! `POST /admin/api/…`: what an administrator does. Each is logged once, in the core.

use fileshed_core::administration::{Administration, AdministrationError, TenantId};
use fileshed_core::directory::GroupId;
use fileshed_core::{Error, UserId};
use serde::Deserialize;

/// One user.
#[derive(Deserialize)]
pub(super) struct NamedUser {
    user: String,
}

/// A user or a group.
#[derive(Deserialize)]
pub(super) struct NamedTenant {
    user: Option<String>,
    group: Option<String>,
}

impl NamedTenant {
    fn id(&self) -> Result<TenantId, Error> {
        match (&self.user, &self.group) {
            (Some(user), None) => Ok(TenantId::User(named(user)?)),
            (None, Some(group)) => {
                let id = GroupId::parse(group).map_err(|_| AdministrationError::UnknownGroup {
                    group: group.clone(),
                });
                Ok(TenantId::Group(id?))
            }
            _ => Err(AdministrationError::NoTenant.into()),
        }
    }
}

/// A user as somebody else names one.
fn named(user: &str) -> Result<UserId, AdministrationError> {
    UserId::parse(user).map_err(|_| AdministrationError::UnknownUser {
        user: user.chars().take(80).collect(),
    })
}

#[derive(Deserialize)]
pub(super) struct Quota {
    #[serde(flatten)]
    tenant: NamedTenant,
    /// Null, for the quota that all have.
    quota_mb: Option<u64>,
}

#[derive(Deserialize)]
pub(super) struct Removal {
    #[serde(flatten)]
    tenant: NamedTenant,
    /// The id once more.
    name: String,
}

/// What is ended or released.
#[derive(Deserialize)]
pub(super) struct NamedId {
    id: String,
}

/// `POST /admin/api/users/suspend`
pub(super) fn suspend(
    administration: &Administration<'_>,
    given: &NamedUser,
) -> Result<&'static str, Error> {
    let is_new = administration.suspend(&named(&given.user)?)?;
    Ok(if is_new {
        "The user is suspended"
    } else {
        "The user was suspended before"
    })
}

/// `POST /admin/api/users/resume`
pub(super) fn resume(
    administration: &Administration<'_>,
    given: &NamedUser,
) -> Result<&'static str, Error> {
    let was_suspended = administration.resume(&named(&given.user)?)?;
    Ok(if was_suspended {
        "The suspension has ended"
    } else {
        "The user was not suspended"
    })
}

/// `POST /admin/api/tenants/quota`
pub(super) fn quota(
    administration: &Administration<'_>,
    given: &Quota,
) -> Result<&'static str, Error> {
    administration.set_quota(&given.tenant.id()?, given.quota_mb)?;
    Ok("The quota is set")
}

/// `POST /admin/api/tenants/delete`
pub(super) fn delete(
    administration: &Administration<'_>,
    given: &Removal,
) -> Result<&'static str, Error> {
    administration.delete(&given.tenant.id()?, &given.name)?;
    Ok("Everything is removed")
}

/// `POST /admin/api/running/end`
pub(super) fn end_running(
    administration: &Administration<'_>,
    given: &NamedId,
) -> Result<&'static str, Error> {
    administration.end_running(&given.id)?;
    Ok("It is ended")
}

/// `POST /admin/api/links/end`
pub(super) fn end_link(
    administration: &Administration<'_>,
    given: &NamedId,
) -> Result<&'static str, Error> {
    administration.end_link(&given.id)?;
    Ok("The link has ended")
}

/// `POST /admin/api/locks/release`
pub(super) fn release_lock(
    administration: &Administration<'_>,
    given: &NamedId,
) -> Result<&'static str, Error> {
    administration.release_lock(&given.id)?;
    Ok("The lock is released")
}
