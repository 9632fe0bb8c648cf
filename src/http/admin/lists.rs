//! `GET /admin/api/…`: the state of the server, and lists. No list has the content or the name of a file.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use fileshed_core::UserId;
use fileshed_core::administration::TenantSummary;
use fileshed_core::settings::MEBIBYTE;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::read;
use crate::http::{Server, health, state_name};

/// A list with a row for each item.
fn list<T>(name: &str, items: Vec<T>, row: impl FnMut(T) -> Value) -> Value {
    let rows: Vec<Value> = items.into_iter().map(row).collect();
    json!({ name: rows })
}

/// `GET /admin/api/tenants`. The id is null if only a directory is there, which does not tell it.
pub(super) async fn tenants(State(server): State<Arc<Server>>, request: Request) -> Response {
    read(server, request, |administration| {
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
                "tokens": tenant.tokens,
                "links": tenant.links,
                "sessions": tenant.sessions,
                "locks": tenant.locks,
            })
        };
        Ok(list("tenants", administration.tenants()?, row))
    })
    .await
}

/// `GET /admin/api/running`
pub(super) async fn running(State(server): State<Arc<Server>>, request: Request) -> Response {
    read(server, request, |administration| {
        Ok(list("running", administration.running(), |running| {
            json!({
                "id": running.id,
                "kind": running.kind.as_str(),
                "user": running.user.as_ref().map(UserId::as_str),
                "program": running.program,
                "since": moment(running.since),
            })
        }))
    })
    .await
}

/// `GET /admin/api/links`
pub(super) async fn links(State(server): State<Arc<Server>>, request: Request) -> Response {
    read(server, request, |administration| {
        Ok(list("links", administration.links()?, |link| {
            json!({
                "id": link.id,
                "user": link.user,
                "zone": link.zone,
                "group": link.group,
                "purpose": link.purpose,
                "created_at": moment(link.created_at),
                "expires_at": moment(link.expires_at),
            })
        }))
    })
    .await
}

/// `GET /admin/api/locks`
pub(super) async fn locks(State(server): State<Arc<Server>>, request: Request) -> Response {
    read(server, request, |administration| {
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
    })
    .await
}

/// A moment in the form of RFC 3339.
fn moment(seconds: i64) -> Option<String> {
    let moment = Timestamp::from_second(seconds).ok()?;
    Some(moment.to_string())
}

/// `GET /admin/api/overview`
pub(super) async fn overview(State(server): State<Arc<Server>>, request: Request) -> Response {
    let errors = server.metrics.failures();
    let store = Arc::clone(&server.store);
    read(server, request, move |administration| {
        let mut checks = store.check();
        checks.push(store.check_histories());
        let checks = checks.into_iter().map(|check| {
            json!({"name": check.name, "state": state_name(check.state), "text": check.text})
        });
        let queues = administration.queues().into_iter().map(|queue| {
            json!({
                "name": queue.name,
                "taken": queue.occupancy.held,
                "waiting": queue.occupancy.waiting,
                "places": queue.occupancy.total,
            })
        });
        Ok(json!({
            "version": env!("CARGO_PKG_VERSION"),
            "since": moment(administration.since()),
            "sandbox": health::confinement(&store),
            "checks": checks.collect::<Vec<Value>>(),
            "queues": queues.collect::<Vec<Value>>(),
            "errors": errors,
        }))
    })
    .await
}
