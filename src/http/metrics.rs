//! `GET /metrics`: what happened since the start, in numbers, for programs that watch servers. It
//! needs no credential and tells nothing of a user.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use fileshed_core::{Code, WorkspaceMode};

use super::Server;

/// The media type of the text form of Prometheus.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Everything that is counted.
#[derive(Debug, Default)]
pub(super) struct Metrics(Mutex<Counters>);

#[derive(Debug, Default)]
struct Counters {
    /// By tool, and by what came of it.
    calls: BTreeMap<(&'static str, &'static str), u64>,
    /// By whose workspace was to be left.
    boundary_violations: BTreeMap<&'static str, u64>,
    refused: u64,
    /// Failures of all calls, by code.
    failures: BTreeMap<&'static str, u64>,
}

impl Metrics {
    fn counters(&self) -> MutexGuard<'_, Counters> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call of a compact tool ended.
    pub(super) fn called(&self, tool: &'static str, failed: bool) {
        let outcome = if failed { "error" } else { "ok" };
        *self.counters().calls.entry((tool, outcome)).or_default() += 1;
    }

    /// A path led out of a workspace, or to a reserved name.
    pub(super) fn violated(&self, mode: WorkspaceMode) {
        let mut counters = self.counters();
        *counters
            .boundary_violations
            .entry(mode.as_str())
            .or_default() += 1;
    }

    /// Somebody called who is nobody.
    pub(super) fn refused(&self) {
        self.counters().refused += 1;
    }

    /// A call failed.
    pub(super) fn failed(&self, code: Code) {
        *self.counters().failures.entry(code.as_str()).or_default() += 1;
    }

    /// Failures of all calls since the start, by code.
    pub(super) fn failures(&self) -> BTreeMap<&'static str, u64> {
        self.counters().failures.clone()
    }

    /// All of them as text.
    fn text(&self) -> String {
        let counters = self.counters();
        let mut text = String::new();
        let begin = |text: &mut String, name: &str, help: &str| {
            let _ = writeln!(text, "# HELP fileshed_fs_{name} {help}");
            let _ = writeln!(text, "# TYPE fileshed_fs_{name} counter");
        };
        begin(&mut text, "calls_total", "Calls of the compact file tools.");
        for ((tool, outcome), count) in &counters.calls {
            let labels = format!("action=\"{tool}\",outcome=\"{outcome}\"");
            let _ = writeln!(text, "fileshed_fs_calls_total{{{labels}}} {count}");
        }
        let help = "Paths that lead out of a workspace or to a reserved name.";
        begin(&mut text, "boundary_violations_total", help);
        for mode in [WorkspaceMode::Shared, WorkspaceMode::Isolated].map(WorkspaceMode::as_str) {
            let count = counters.boundary_violations.get(mode).unwrap_or(&0);
            let name = "fileshed_fs_boundary_violations_total";
            let _ = writeln!(text, "{name}{{mode=\"{mode}\"}} {count}");
        }
        begin(
            &mut text,
            "refused_total",
            "Calls without a user where one is needed.",
        );
        let _ = writeln!(text, "fileshed_fs_refused_total {}", counters.refused);
        text
    }
}

/// `GET /metrics`
pub(super) async fn metrics(State(server): State<Arc<Server>>) -> Response {
    ([(CONTENT_TYPE, TEXT)], server.metrics.text()).into_response()
}
