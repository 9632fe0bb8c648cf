//! `GET /admin/api/…`: what there is, as lists. No list has the content or the name of a file.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use fileshed_core::UserId;
use fileshed_core::administration::{LinkSummary, LockSummary, RunningSummary, TenantSummary};
use fileshed_core::settings::MEBIBYTE;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::read;
use crate::http::Server;

/// A user or a group.
#[derive(Serialize)]
struct ShownTenant {
    kind: &'static str,
    /// Nothing where only a directory is there, which does not tell it.
    id: Option<String>,
    name: Option<String>,
    directory: String,
    bytes: u64,
    files: u64,
    quota_mb: u64,
    /// Whether the quota is this one's alone.
    own_quota: bool,
    last_call: Option<String>,
    suspended: bool,
    tokens: u64,
    links: u64,
    sessions: u64,
    locks: u64,
}

impl From<TenantSummary> for ShownTenant {
    fn from(tenant: TenantSummary) -> Self {
        Self {
            kind: tenant.kind.as_str(),
            id: tenant.id,
            name: tenant.name,
            directory: tenant.tenant,
            bytes: tenant.bytes,
            files: tenant.files,
            quota_mb: tenant.limit / MEBIBYTE,
            own_quota: tenant.has_own_limit,
            last_call: tenant.last_call.and_then(moment),
            suspended: tenant.suspended,
            tokens: tenant.tokens,
            links: tenant.links,
            sessions: tenant.sessions,
            locks: tenant.locks,
        }
    }
}

/// Something that runs.
#[derive(Serialize)]
struct ShownRunning {
    id: String,
    kind: &'static str,
    user: Option<String>,
    program: String,
    since: Option<String>,
}

impl From<RunningSummary> for ShownRunning {
    fn from(running: RunningSummary) -> Self {
        Self {
            id: running.id,
            kind: running.kind.as_str(),
            user: running.user.as_ref().map(UserId::as_str).map(str::to_owned),
            program: running.program,
            since: moment(running.since),
        }
    }
}

/// A link.
#[derive(Serialize)]
struct ShownLink {
    id: String,
    user: Option<String>,
    zone: String,
    group: Option<String>,
    purpose: String,
    created_at: Option<String>,
    expires_at: Option<String>,
}

impl From<LinkSummary> for ShownLink {
    fn from(link: LinkSummary) -> Self {
        Self {
            id: link.id,
            user: link.user,
            zone: link.zone,
            group: link.group,
            purpose: link.purpose,
            created_at: moment(link.created_at),
            expires_at: moment(link.expires_at),
        }
    }
}

/// A lock.
#[derive(Serialize)]
struct ShownLock {
    id: String,
    kind: &'static str,
    user: Option<String>,
    zone: String,
    group: Option<String>,
    since: Option<String>,
    expires_at: Option<String>,
}

impl From<LockSummary> for ShownLock {
    fn from(lock: LockSummary) -> Self {
        Self {
            id: lock.id,
            kind: lock.kind.as_str(),
            user: lock.user,
            zone: lock.zone,
            group: lock.group,
            since: moment(lock.since),
            expires_at: moment(lock.expires_at),
        }
    }
}

/// `GET /admin/api/tenants`
pub(super) async fn tenants(State(server): State<Arc<Server>>, request: Request) -> Response {
    read(server, request, |administration| {
        let tenants = administration.tenants()?.into_iter();
        let tenants: Vec<_> = tenants.map(ShownTenant::from).collect();
        Ok(json!({"tenants": tenants}))
    })
    .await
}

/// `GET /admin/api/running`
pub(super) async fn running(State(server): State<Arc<Server>>, request: Request) -> Response {
    read(server, request, |administration| {
        let running = administration.running().into_iter();
        let running: Vec<_> = running.map(ShownRunning::from).collect();
        Ok(json!({"running": running}))
    })
    .await
}

/// `GET /admin/api/links`
pub(super) async fn links(State(server): State<Arc<Server>>, request: Request) -> Response {
    read(server, request, |administration| {
        let links = administration.links()?.into_iter();
        let links: Vec<_> = links.map(ShownLink::from).collect();
        Ok(json!({"links": links}))
    })
    .await
}

/// `GET /admin/api/locks`
pub(super) async fn locks(State(server): State<Arc<Server>>, request: Request) -> Response {
    read(server, request, |administration| {
        let locks = administration.locks()?.into_iter();
        let locks: Vec<_> = locks.map(ShownLock::from).collect();
        Ok(json!({"locks": locks}))
    })
    .await
}

/// A moment in the form of RFC 3339.
pub(super) fn moment(seconds: i64) -> Option<String> {
    let moment = Timestamp::from_second(seconds).ok()?;
    Some(moment.to_string())
}
