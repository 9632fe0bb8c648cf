//! `GET /admin/api/overview`: how the server is, in numbers.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use fileshed_core::Check;
use fileshed_core::administration::QueueLength;
use fileshed_core::fair::Occupancy;
use serde::Serialize;

use super::{lists, read};
use crate::http::{Server, state_name};

/// How the server is.
#[derive(Serialize)]
struct ServerOverview {
    version: &'static str,
    /// Since when this process serves.
    since: Option<String>,
    /// How commands are held.
    sandbox: SandboxLayers,
    /// What `fileshed doctor` says of the store and the machine.
    checks: Vec<ShownCheck>,
    /// Places, and who waits for one.
    queues: Vec<ShownQueue>,
    /// Failures of calls since the start, by code.
    errors: BTreeMap<&'static str, u64>,
}

#[derive(Serialize)]
struct SandboxLayers {
    isolation: &'static str,
    sandbox: &'static str,
    namespaces: bool,
    memory_limit: &'static str,
}

#[derive(Serialize)]
struct ShownCheck {
    name: String,
    state: &'static str,
    text: String,
}

#[derive(Serialize)]
struct ShownQueue {
    name: &'static str,
    taken: u64,
    waiting: u64,
    places: u64,
}

impl ShownQueue {
    fn of(name: &'static str, occupancy: Occupancy) -> Self {
        Self {
            name,
            taken: occupancy.held,
            waiting: occupancy.waiting,
            places: occupancy.total,
        }
    }
}

impl From<Check> for ShownCheck {
    fn from(check: Check) -> Self {
        Self {
            state: state_name(check.state),
            name: check.name,
            text: check.text,
        }
    }
}

/// `GET /admin/api/overview`
pub(super) async fn overview(State(server): State<Arc<Server>>, request: Request) -> Response {
    let errors = server.metrics.failures();
    let (asking, store) = (Arc::clone(&server), Arc::clone(&server.store));
    read(asking, request, move |administration| {
        let mut checks = store.check();
        checks.push(store.check_histories());
        let queues = administration.queues().into_iter();
        let queues = queues.map(|QueueLength { name, occupancy }| ShownQueue::of(name, occupancy));
        Ok(ServerOverview {
            version: env!("CARGO_PKG_VERSION"),
            since: lists::moment(administration.since()),
            sandbox: SandboxLayers {
                isolation: store.isolation().as_str(),
                sandbox: store.sandbox().as_str(),
                namespaces: store.has_namespaces(),
                memory_limit: if store.bounds_trees() {
                    "command"
                } else {
                    "process"
                },
            },
            checks: checks.into_iter().map(ShownCheck::from).collect(),
            queues: queues.collect(),
            errors,
        })
    })
    .await
}
