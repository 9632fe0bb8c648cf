//! Calls that wait for a process, or stream its output while it runs, and hold no permit of their user
//! meanwhile.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use fileshed_core::processes::{OutputSpan, Process};
use fileshed_core::{Caller, Clock, Error, Timings};
use futures_util::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::http::{Server, pool, timer};

/// Most bytes of output that are read for a stream at once.
const PIECE_BYTES: u64 = 64 * 1024;
/// A change of a process that a call waits for.
pub(in crate::http) struct Awaited {
    pub(in crate::http) process: Arc<Process>,
    /// Entries that the caller has seen.
    seen: u64,
    patience: Duration,
}

impl Awaited {
    /// The end of a process.
    pub(in crate::http) fn end(process: Arc<Process>, patience: Duration) -> Self {
        Self {
            process,
            // More entries than any process has.
            seen: u64::MAX,
            patience,
        }
    }

    /// Waits without a place among the calls of its user. A call that has begun and changes something is
    /// answered at once if its caller may not wait.
    pub(in crate::http) async fn wait(
        &self,
        server: &Server,
        caller: &Caller,
        changes: bool,
    ) -> Result<(), Error> {
        let user = server.core.store.namespace(caller);
        match server.admission.wait_permit(&user) {
            Ok(_waits) => self.happened(&server.core.store.clock).await,
            Err(_) if changes => {}
            Err(full) => return Err(full.into()),
        }
        Ok(())
    }

    /// Waits until there are more entries than were seen, or the process ends, at most as long as there
    /// is patience.
    async fn happened(&self, clock: &Clock) {
        let called = Arc::new(Notify::new());
        let call = Arc::clone(&called);
        let wake = Box::new(move || call.notify_one());
        if let Some(listening) = self.process.listen_beyond(self.seen, wake) {
            let _over_or_called = timer::within(clock, self.patience, called.notified()).await;
            drop(listening);
        }
    }
}

/// The answer that shows a process while it runs: one JSON object a line, the first what was
/// started, the last how it ended. A client that goes away leaves the process as it is.
pub(super) fn show(process: Arc<Process>, clock: Clock) -> Response {
    let started = line(&json!({
        "type": "start",
        "id": process.id(),
        "command": process.identity.command,
        "cwd": process.identity.cwd,
        "log_path": process.log_path(),
    }));
    let output = stream::unfold(Some(0), move |offset| {
        let (process, clock) = (Arc::clone(&process), clock.clone());
        async move { next_output(&process, &clock, offset?).await }
    });
    let lines = stream::iter([started]).chain(output);
    let body = Body::from_stream(lines.map(Ok::<_, Infallible>));
    ([(CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}

/// Returns the next lines of a process, and the offset of those after them; `None` if the log cannot be
/// read.
async fn next_output(
    process: &Arc<Process>,
    clock: &Clock,
    mut offset: u64,
) -> Option<(Bytes, Option<u64>)> {
    loop {
        let (status, exit_code) = process.status();
        let runs = process.is_running();
        let source = Arc::clone(process);
        let span = OutputSpan {
            offset,
            tail: None,
            most_bytes: PIECE_BYTES,
        };
        let read = pool::blocking(move || source.output(span));
        let output = read.await.ok()?.ok()?;
        let is_all = output.next_offset == offset;
        offset = output.next_offset;
        if !output.entries.is_empty() {
            let entries = output.entries.iter();
            let lines = entries.map(|entry| Some(line(&serde_json::to_value(entry).ok()?)));
            return Some((
                lines.collect::<Option<Vec<_>>>()?.concat().into(),
                Some(offset),
            ));
        }
        if !is_all {
            continue;
        }
        if !runs {
            let ended = json!({"type": "end", "status": status, "exit_code": exit_code});
            return Some((line(&ended), None));
        }
        let more = Awaited {
            process: Arc::clone(process),
            seen: offset,
            patience: Timings::STANDARD.http.news,
        };
        more.happened(clock).await;
    }
}

fn line(value: &Value) -> Bytes {
    format!("{value}\n").into()
}
