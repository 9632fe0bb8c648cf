//! `GET /health`, `GET /ready` and `GET /metrics`: the state of the server, and its counters since the
//! start. They need no credential and show nothing of a user.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use fileshed_core::{Check, CheckState, Code, Core, Mutex, WorkspaceMode};
use serde_json::{Value, json};

use crate::http::envelope::HandlerError;
use crate::http::{Server, pool};

/// `GET /health`: the process answers, and says how commands are held.
pub(super) async fn health(State(server): State<Arc<Server>>) -> Response {
    let core = Arc::clone(&server.core);
    // Tried once by starting a helper, which blocks.
    let held = pool::blocking(move || {
        let mut held = confinement(&core);
        let separates = core.admin.separates_accounts();
        held["kernel_account"] = if separates { "user" } else { "server" }.into();
        held
    });
    let held = held.await.unwrap_or_else(|_| {
        json!({
            "isolation": "unknown",
            "sandbox": "unknown",
            "namespaces": false,
            "memory_limit": "unknown",
            "kernel_account": "unknown",
        })
    });
    let mut answer = json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")});
    for (name, value) in held.as_object().into_iter().flatten() {
        answer[name] = value.clone();
    }
    Json(answer).into_response()
}

/// Returns the confinement of commands. Blocks.
pub(super) fn confinement(core: &Core) -> Value {
    json!({
        "isolation": core.admin.isolation().as_str(),
        "sandbox": core.admin.sandbox().as_str(),
        "namespaces": core.admin.has_namespaces(),
        "memory_limit": memory_bound(core),
    })
}

/// Returns the unit that the memory limit applies to. Blocks.
pub(super) fn memory_bound(core: &Core) -> &'static str {
    if core.runs.zygote.bounds_trees().is_ok() {
        "command"
    } else {
        "process"
    }
}

/// `GET /ready`: checks that the server can work. The response has names and states only: the messages
/// of `fileshed doctor` are for administrators.
pub(super) async fn ready(State(server): State<Arc<Server>>) -> Result<Response, HandlerError> {
    let core = Arc::clone(&server.core);
    if core.store.is_draining() || core.store.is_taken_for_dead() {
        let word = json!({"status": "draining", "checks": {}});
        return Ok((StatusCode::SERVICE_UNAVAILABLE, Json(word)).into_response());
    }
    let _permit = server.checks.lock().await;
    let checks = pool::blocking(move || core.admin.check()).await?;
    let failed = checks.iter().any(|check| check.state == CheckState::Failed);
    let (status, word) = if failed {
        (StatusCode::SERVICE_UNAVAILABLE, "failed")
    } else {
        (StatusCode::OK, "ok")
    };
    // A failed check of the data is described, because nobody can work until an administrator has fixed it.
    let is_problem = |check: &&Check| check.name == "data" && check.state == CheckState::Failed;
    let mut answer = json!({"status": word, "checks": {}});
    if let Some(problem) = checks.iter().find(is_problem) {
        answer["problems"] = json!({"data": problem.text});
    }
    for check in checks {
        answer["checks"][check.name] = check.state.as_str().into();
    }
    Ok((status, Json(answer)).into_response())
}

/// The media type of the text form of Prometheus.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Counters of the server.
#[derive(Debug, Default)]
pub(super) struct Metrics(Mutex<Counters>);

#[derive(Debug, Default)]
struct Counters {
    /// Counts by tool and outcome.
    calls: BTreeMap<(&'static str, &'static str), u64>,
    /// Counts by the mode of the workspace that a path led out of.
    violations: BTreeMap<&'static str, u64>,
    refused: u64,
    /// Failures of all calls, by code.
    failures: BTreeMap<&'static str, u64>,
}

impl Metrics {
    /// A call of a compact tool ended.
    pub(super) fn called(&self, tool: &'static str, failed: bool) {
        let outcome = if failed { "error" } else { "ok" };
        *self.0.lock().calls.entry((tool, outcome)).or_default() += 1;
    }

    /// A path led out of a workspace, or to a reserved name.
    pub(super) fn violated(&self, mode: WorkspaceMode) {
        let counts = &mut self.0.lock().violations;
        *counts.entry(mode.as_str()).or_default() += 1;
    }

    /// Counts a call without a valid credential.
    pub(super) fn refused(&self) {
        self.0.lock().refused += 1;
    }

    /// A call failed.
    pub(super) fn failed(&self, code: Code) {
        *self.0.lock().failures.entry(code.as_str()).or_default() += 1;
    }

    /// Failures of all calls since the start, by code.
    pub(super) fn failures(&self) -> BTreeMap<&'static str, u64> {
        self.0.lock().failures.clone()
    }

    /// All of them as text.
    fn text(&self) -> String {
        let counters = self.0.lock();
        let calls = counters.calls.iter().map(|((tool, outcome), count)| {
            let labels = format!("{{action=\"{tool}\",outcome=\"{outcome}\"}}");
            (labels, *count)
        });
        let modes = [WorkspaceMode::Shared, WorkspaceMode::Isolated].map(WorkspaceMode::as_str);
        let violations = modes.map(|mode| {
            let count = counters.violations.get(mode);
            (format!("{{mode=\"{mode}\"}}"), count.copied().unwrap_or(0))
        });
        let refused = [(String::new(), counters.refused)];
        let mut text = String::new();
        let help = "Calls of the compact file tools.";
        write_counter(&mut text, "calls_total", help, calls);
        let help = "Paths that lead out of a workspace or to a reserved name.";
        write_counter(&mut text, "boundary_violations_total", help, violations);
        let help = "Calls without a user where one is needed.";
        write_counter(&mut text, "refused_total", help, refused);
        text
    }
}

/// Writes a counter with the labels and the value of each row.
fn write_counter(
    text: &mut String,
    name: &str,
    help: &str,
    rows: impl IntoIterator<Item = (String, u64)>,
) {
    let _ = writeln!(text, "# HELP fileshed_fs_{name} {help}");
    let _ = writeln!(text, "# TYPE fileshed_fs_{name} counter");
    for (labels, count) in rows {
        let _ = writeln!(text, "fileshed_fs_{name}{labels} {count}");
    }
}

/// `GET /metrics`
pub(super) async fn metrics(State(server): State<Arc<Server>>) -> Response {
    ([(CONTENT_TYPE, TEXT)], server.metrics.text()).into_response()
}
