//! `GET /admin/api/…`: the state of the server, and lists. No list has the content or the name of a file.

use fileshed_core::administration::{Administration, TenantSummary};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::{Error, UserId};
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::http::{Server, health, state_name};

/// A list with a row for each item.
fn list<T>(name: &str, items: Vec<T>, row: impl FnMut(T) -> Value) -> Value {
    let rows: Vec<Value> = items.into_iter().map(row).collect();
    json!({ name: rows })
}

/// `GET /admin/api/tenants`. The id is null if only a directory is there, which does not tell it.
pub(super) fn tenants(administration: &Administration<'_>) -> Result<Value, Error> {
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
pub(super) fn running(administration: &Administration<'_>) -> Value {
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
pub(super) fn links(administration: &Administration<'_>) -> Result<Value, Error> {
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
}

/// `GET /admin/api/locks`
pub(super) fn locks(administration: &Administration<'_>) -> Result<Value, Error> {
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
pub(super) fn overview(server: &Server, administration: &Administration<'_>) -> Value {
    let store = &server.store;
    let mut checks = store.check();
    checks.push(store.check_histories());
    let checks = checks.into_iter().map(
        |check| json!({"name": check.name, "state": state_name(check.state), "text": check.text}),
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
        "sandbox": health::confinement(store),
        "checks": checks.collect::<Vec<Value>>(),
        "queues": queues.collect::<Vec<Value>>(),
        "errors": server.metrics.failures(),
    })
}
