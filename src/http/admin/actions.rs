//! `POST /admin/api/…`: what an administrator does. Each is logged once, in the core.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use fileshed_core::administration::{AdministrationError, TenantId};
use fileshed_core::directory::GroupId;
use fileshed_core::{Error, UserId};
use serde::Deserialize;

use super::act;
use crate::http::Server;

/// One user.
#[derive(Deserialize)]
struct NamedUser {
    user: String,
}

/// A user or a group.
#[derive(Deserialize)]
struct NamedTenant {
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
struct Quota {
    #[serde(flatten)]
    tenant: NamedTenant,
    /// Null, for the quota that all have.
    quota_mb: Option<u64>,
}

#[derive(Deserialize)]
struct Removal {
    #[serde(flatten)]
    tenant: NamedTenant,
    /// The id once more.
    name: String,
}

/// What is ended or released.
#[derive(Deserialize)]
struct NamedId {
    id: String,
}

/// `POST /admin/api/users/suspend`
pub(super) async fn suspend(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |administration, given: NamedUser| {
        let is_new = administration.suspend(&named(&given.user)?)?;
        Ok(if is_new {
            "The user is suspended"
        } else {
            "The user was suspended before"
        })
    })
    .await
}

/// `POST /admin/api/users/resume`
pub(super) async fn resume(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |administration, given: NamedUser| {
        let was_suspended = administration.resume(&named(&given.user)?)?;
        Ok(if was_suspended {
            "The suspension has ended"
        } else {
            "The user was not suspended"
        })
    })
    .await
}

/// `POST /admin/api/tenants/quota`
pub(super) async fn quota(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |administration, given: Quota| {
        administration.set_quota(&given.tenant.id()?, given.quota_mb)?;
        Ok("The quota is set")
    })
    .await
}

/// `POST /admin/api/tenants/delete`
pub(super) async fn delete(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |administration, given: Removal| {
        administration.delete(&given.tenant.id()?, &given.name)?;
        Ok("Everything is removed")
    })
    .await
}

/// `POST /admin/api/running/end`
pub(super) async fn end_running(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |administration, given: NamedId| {
        administration.end_running(&given.id)?;
        Ok("It is ended")
    })
    .await
}

/// `POST /admin/api/links/end`
pub(super) async fn end_link(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |administration, given: NamedId| {
        administration.end_link(&given.id)?;
        Ok("The link has ended")
    })
    .await
}

/// `POST /admin/api/locks/release`
pub(super) async fn release_lock(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |administration, given: NamedId| {
        administration.release_lock(&given.id)?;
        Ok("The lock is released")
    })
    .await
}
