//! `/admin`: the endpoints with which administrators inspect and manage the server.
//!
//! An administrator is a user with that role in Open WebUI or at the provider of OpenID Connect, or a
//! personal token of that scope. Everybody else is only told that they are not one. The
//! page calls these endpoints as it calls its own, under the same rules.

use std::sync::Arc;

use axum::http::header::AUTHORIZATION;
use axum::response::{IntoResponse as _, Redirect};
use axum::routing::{MethodRouter, get, post};
use axum::{Json, Router};
use fileshed_core::administration::{
    Administration, AdministrationError, TenantId, TenantKind, TenantSummary,
};
use fileshed_core::directory::GroupId;
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Channel, Error, UserId, diagnostics};
use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::http::call::{Call, Surface};
use crate::http::response_body::unstored;
use crate::http::{Server, body, envelope, health};
use crate::ops::Reply;

/// The page, beginning with what is an administrator's; a proxy may have put the server below a path.
const PAGE: &str = "./#/admin";

/// The endpoints of administrators.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/admin", get(|| async { Redirect::to(PAGE) }))
        .route(
            "/admin/api/overview",
            read(|server, admin| Ok(overview(server, admin))),
        )
        .route("/admin/api/tenants", read(tenants))
        .route("/admin/api/running", read(|_, admin| Ok(running(admin))))
        .route("/admin/api/links", read(links))
        .route("/admin/api/locks", read(locks))
        .route("/admin/api/users/suspend", act(suspend))
        .route("/admin/api/users/resume", act(resume))
        .route(
            "/admin/api/tenants/quota",
            act(|admin, given: &Quota| {
                admin.set_quota(&given.tenant.id()?, given.quota_mb)?;
                Ok("The quota is set")
            }),
        )
        .route(
            "/admin/api/tenants/delete",
            act(|admin, given: &RemoveRequest| {
                admin.delete(&given.tenant.id()?, &given.name)?;
                Ok("Everything is removed")
            }),
        )
        .route(
            "/admin/api/running/end",
            act(|admin, NamedId { id }| admin.end_running(id).map(|()| "It is ended")),
        )
        .route(
            "/admin/api/links/end",
            act(|admin, NamedId { id }| admin.end_link(id).map(|()| "The link has ended")),
        )
        .route(
            "/admin/api/locks/release",
            act(|admin, NamedId { id }| admin.release_lock(id).map(|()| "The lock is released")),
        )
}

/// The surface of administrators.
const SURFACE: Surface = Surface::of_page(Channel::Page);

/// Answers an administrator with what `work` reads.
fn read(
    work: fn(&Server, &Administration<'_>) -> Result<Value, Error>,
) -> MethodRouter<Arc<Server>> {
    get(SURFACE.handler(move |mut call: Call| async move {
        let server = Arc::clone(&call.server);
        let found = administer(&mut call, move |administration| {
            work(&server, administration)
        });
        Ok(unstored(Json(found.await?).into_response()))
    }))
}

/// Does what an administrator asks for; `work` says what was done.
fn act<A: DeserializeOwned + Send + 'static>(
    work: fn(&Administration<'_>, &A) -> Result<&'static str, Error>,
) -> MethodRouter<Arc<Server>> {
    post(SURFACE.handler(move |mut call: Call| async move {
        // Refuses others before any of the body is read.
        administer(&mut call, |_| Ok(())).await?;
        let body = std::mem::take(&mut call.body);
        let arguments = body::small(&call.server.core, body).await;
        let arguments = arguments.ok_or(UnreadableArguments)?;
        let done = administer(&mut call, move |administration| {
            work(administration, &arguments)
        });
        let reply = Reply::new(json!({}), done.await?);
        Ok(unstored(envelope::answer(Ok(reply))))
    }))
}

/// Runs `work` with the rights of an administrator; fails if the caller is none, and unless a program with
/// a credential asks, or the page.
async fn administer<T: Send + 'static>(
    call: &mut Call,
    work: impl FnOnce(&Administration<'_>) -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    if !call.parts.headers.contains_key(AUTHORIZATION) {
        call.server.authenticator.expect_page(&call.parts)?;
    }
    let user = call.server.core.store.namespace(&call.caller);
    let permit = call.server.admission.lookup(&user).await?;
    let done = call.run(permit, |view, _| {
        work(&view.core.admin.administration(view.caller)?)
    });
    done.await?.0
}

diagnostics! {
    /// The body of a call of an administrator is not what is expected.
    #[derive(Debug, thiserror::Error)]
    #[error("the request body is not a JSON object with the fields that this address needs")]
    struct UnreadableArguments => {
        code: InvalidParameter,
        hint: "send {\"user\": \"<id>\"} or {\"group\": \"<id>\"}, with \"quota_mb\" for a quota and \
               \"name\" for a deletion; {\"id\": \"…\"} for a command, link or lock to end",
    }
}

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
                let id = GroupId::parse(group).map_err(|_| AdministrationError::UnknownTenant {
                    kind: TenantKind::Group,
                    id: group.clone(),
                });
                Ok(TenantId::Group(id?))
            }
            _ => Err(AdministrationError::NoTenant.into()),
        }
    }
}

/// A user as somebody else names one.
fn named(user: &str) -> Result<UserId, AdministrationError> {
    UserId::parse(user).map_err(|_| AdministrationError::UnknownTenant {
        kind: TenantKind::User,
        id: user.chars().take(80).collect(),
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
struct RemoveRequest {
    #[serde(flatten)]
    tenant: NamedTenant,
    /// The id once more.
    name: String,
}

/// The process that is ended or the lock that is released.
#[derive(Deserialize)]
struct NamedId {
    id: String,
}

/// `POST /admin/api/users/suspend`
fn suspend(administration: &Administration<'_>, given: &NamedUser) -> Result<&'static str, Error> {
    let is_new = administration.suspend(&named(&given.user)?)?;
    Ok(if is_new {
        "The user is suspended"
    } else {
        "The user was suspended before"
    })
}

/// `POST /admin/api/users/resume`
fn resume(administration: &Administration<'_>, given: &NamedUser) -> Result<&'static str, Error> {
    let was_suspended = administration.resume(&named(&given.user)?)?;
    Ok(if was_suspended {
        "The suspension has ended"
    } else {
        "The user was not suspended"
    })
}

/// A list with a row for each item.
fn list<T>(name: &str, items: Vec<T>, row: impl FnMut(T) -> Value) -> Value {
    let rows: Vec<Value> = items.into_iter().map(row).collect();
    json!({ name: rows })
}

/// `GET /admin/api/tenants`. The id is null if only a directory is there, which does not tell it.
fn tenants(_: &Server, administration: &Administration<'_>) -> Result<Value, Error> {
    let row = |tenant: TenantSummary| {
        json!({
            "kind": tenant.kind.as_str(),
            "id": tenant.id,
            "name": tenant.name,
            "directory": tenant.tenant,
            "bytes": tenant.bytes,
            "files": tenant.files,
            "quota_mb": tenant.limit / MEBIBYTE,
            "own_quota": tenant.has_own_limit,
            "last_call": tenant.last_call.and_then(moment),
            "suspended": tenant.suspended,
            "tokens": tenant.credentials.tokens,
            "links": tenant.credentials.links,
            "sessions": tenant.credentials.sessions,
            "locks": tenant.locks,
        })
    };
    Ok(list("tenants", administration.tenants()?, row))
}

/// `GET /admin/api/running`
fn running(administration: &Administration<'_>) -> Value {
    list("running", administration.running(), |running| {
        json!({
            "id": running.id,
            "kind": running.kind.as_str(),
            "user": running.user.as_ref().map(UserId::as_str),
            "program": running.program,
            "since": moment(running.since),
        })
    })
}

/// `GET /admin/api/links`
fn links(_: &Server, administration: &Administration<'_>) -> Result<Value, Error> {
    Ok(list("links", administration.links()?, |link| {
        json!({
            "id": link.id,
            "user": link.user,
            "zone": link.zone,
            "group": link.group,
            "purpose": link.purpose,
            "password": link.password.is_some(),
            "created_at": moment(link.created_at),
            "expires_at": moment(link.expires_at),
        })
    }))
}

/// `GET /admin/api/locks`
fn locks(_: &Server, administration: &Administration<'_>) -> Result<Value, Error> {
    Ok(list("locks", administration.locks()?, |lock| {
        json!({
            "id": lock.id,
            "kind": lock.kind.as_str(),
            "user": lock.user,
            "zone": lock.zone,
            "group": lock.group,
            "since": moment(lock.since),
            "expires_at": moment(lock.expires_at),
        })
    }))
}

/// A moment in the form of RFC 3339.
fn moment(seconds: i64) -> Option<String> {
    let moment = Timestamp::from_second(seconds).ok()?;
    Some(moment.to_string())
}

/// `GET /admin/api/overview`
fn overview(server: &Server, administration: &Administration<'_>) -> Value {
    let core = &server.core;
    let mut checks = core.admin.check();
    checks.push(core.admin.check_histories());
    let checks = checks.into_iter().map(
        |check| json!({"name": check.name, "state": check.state.as_str(), "text": check.text}),
    );
    let queues = administration.queues().into_iter().map(|queue| {
        json!({
            "name": queue.name,
            "taken": queue.occupancy.held,
            "waiting": queue.occupancy.waiting,
            "places": queue.occupancy.total,
        })
    });
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "since": moment(administration.since()),
        "sandbox": health::confinement(core),
        "checks": checks.collect::<Vec<Value>>(),
        "queues": queues.collect::<Vec<Value>>(),
        "errors": server.metrics.failures(),
    })
}
