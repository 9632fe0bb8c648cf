//! A process as answers show it.

use std::sync::Arc;
use std::time::Duration;

use fileshed_core::background::{BackgroundProcess, OutputEntry, OutputSpan, ProcessStatus};
use fileshed_core::settings::MEBIBYTE;
use fileshed_core::timings;
use fileshed_core::view::View;
use fileshed_core::{Error, diagnostics};
use serde::Serialize;

use crate::http::terminal::pending::{Awaited, Begun, Event};

/// Longest wait of one call in seconds: what the application's proxy has patience for.
const WAIT_MAX: f64 = 300.0;

/// Bytes of output where the caller says how many entries it wants.
const TAIL_BYTES: u64 = MEBIBYTE;

/// A process in a list.
#[derive(Serialize)]
pub(in crate::http::terminal) struct ProcessSummary {
    id: String,
    command: String,
    status: ProcessStatus,
    exit_code: Option<i32>,
    log_path: String,
}

impl ProcessSummary {
    pub(super) fn of(process: &BackgroundProcess) -> Self {
        let (status, exit_code) = process.status();
        Self {
            id: process.id().to_owned(),
            command: process.command().to_owned(),
            status,
            exit_code,
            log_path: process.log_path(),
        }
    }
}

/// A process and what it wrote.
#[derive(Serialize)]
pub(in crate::http::terminal) struct ProcessAnswer {
    id: String,
    command: String,
    cwd: String,
    status: ProcessStatus,
    exit_code: Option<i32>,
    output: Vec<OutputEntry>,
    truncated: bool,
    next_offset: u64,
    log_path: String,
}

impl ProcessAnswer {
    /// With the entries from `offset` on, or of these the last `tail`. Who asks for no number of
    /// them is most often a model: it gets as much as an answer of a command has, and the offset of
    /// the rest.
    pub(super) fn of(
        view: View<'_>,
        process: &BackgroundProcess,
        offset: Option<u64>,
        tail: Option<u64>,
    ) -> Result<Self, Error> {
        // Before the output: what ended has written all of it.
        let (status, exit_code) = process.status();
        let output = process.output(OutputSpan {
            offset: offset.unwrap_or(0),
            tail,
            most_bytes: match tail {
                Some(_) => TAIL_BYTES,
                None => view.store.settings().output_of(view.caller.client),
            },
        })?;
        Ok(Self {
            id: process.id().to_owned(),
            command: process.command().to_owned(),
            cwd: process.cwd().to_owned(),
            status,
            exit_code,
            output: output.entries,
            truncated: output.truncated,
            next_offset: output.next_offset,
            log_path: process.log_path(),
        })
    }
}

/// How long a call waits for the end of a process.
#[derive(Clone, Copy)]
pub(super) struct Patience(Duration);

impl Patience {
    /// The seconds of a parameter.
    pub(super) fn of(seconds: Option<f64>) -> Result<Self, WaitError> {
        let seconds = seconds.unwrap_or(0.0);
        if !(0.0..=WAIT_MAX).contains(&seconds) {
            return Err(WaitError::Range { seconds });
        }
        Ok(Self(timings::fractional_seconds(seconds)))
    }

    /// What is waited for; nothing where it has happened, or nobody waits.
    pub(super) fn begin(self, process: &Arc<BackgroundProcess>) -> Begun {
        if self.0.is_zero() || !process.is_running() {
            return Begun::Ready;
        }
        Begun::Waits(Awaited {
            process: Arc::clone(process),
            event: Event::End,
            patience: self.0,
        })
    }
}

/// Fails at a number of entries that means nothing.
pub(super) fn expect_tail(tail: Option<u64>) -> Result<(), WaitError> {
    match tail {
        Some(0) => Err(WaitError::Tail),
        _ => Ok(()),
    }
}

diagnostics! {
    /// How long and for what to wait, as it cannot be meant.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum WaitError {
        /// Nobody waits so long, or less than nothing.
        #[error("parameter `wait` is {seconds}, it can be from 0 to {WAIT_MAX} seconds")]
        Range {
            seconds: f64 = 3600.0,
        } => {
            code: InvalidParameter,
            hint: "wait at most 300 seconds, then ask again with get_process_status(wait=300)",
            details: { "parameter": "wait" },
        },
        /// No entries at all.
        #[error("parameter `tail` is 0, it is the number of entries to show")]
        Tail => {
            code: InvalidParameter,
            hint: "leave `tail` out for everything from `offset` on",
            details: { "parameter": "tail" },
        },
    }
}
