//! Calls that wait for a process, or show it while it runs, and hold no place of their user
//! meanwhile.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse as _, Response};
use fileshed_core::processes::{OutputSpan, Process};
use fileshed_core::{Clock, Timings};
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc};

use crate::http::{pool, timer};

/// Bytes of output that are read for a stream at once.
const PIECE_BYTES: u64 = 64 * 1024;
/// How long a stream waits for news before it looks for itself.
const NEWS: Duration = Timings::STANDARD.http.news;

/// News of a process that a call waits for.
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

    /// Waits until there are more entries than were seen, or the process ends, at most as long as there
    /// is patience.
    pub(in crate::http) async fn happened(&self, clock: &Clock) {
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
/// started, the last how it ended.
pub(super) fn show(process: Arc<Process>, clock: Clock) -> Response {
    let (sender, lines) = mpsc::channel(1);
    tokio::spawn(async move {
        // Whoever goes away leaves the process as it is.
        let _gone = show_to(&process, &sender, &clock).await;
    });
    let body = Body::from_stream(stream::unfold(lines, |mut lines| async {
        let line: Bytes = lines.recv().await?;
        Some((Ok::<_, Infallible>(line), lines))
    }));
    ([(CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}

/// Nothing where nobody reads any more, or the log cannot be read.
async fn show_to(process: &Arc<Process>, lines: &mpsc::Sender<Bytes>, clock: &Clock) -> Option<()> {
    let started = json!({
        "type": "start",
        "id": process.id(),
        "command": process.command(),
        "cwd": process.cwd(),
        "log_path": process.log_path(),
    });
    lines.send(line(&started)).await.ok()?;
    let mut offset = 0;
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
        let mut text = Vec::new();
        for entry in &output.entries {
            text.extend_from_slice(&line(&serde_json::to_value(entry).ok()?));
        }
        if !text.is_empty() {
            lines.send(text.into()).await.ok()?;
        }
        if !is_all {
            continue;
        }
        if !runs {
            let ended = json!({"type": "end", "status": status, "exit_code": exit_code});
            return lines.send(line(&ended)).await.ok();
        }
        let more = Awaited {
            process: Arc::clone(process),
            seen: offset,
            patience: NEWS,
        };
        tokio::select! {
            () = more.happened(clock) => {}
            () = lines.closed() => return None,
        }
    }
}

fn line(value: &Value) -> Bytes {
    format!("{value}\n").into()
}
