//! The one person whose process this is, for a connection that says nothing of who calls.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fileshed_core::cancellation::Cancellation;
use fileshed_core::{Caller, Channel};
use serde_json::{Map, Value};

use super::closing::Closing;
use super::resources::Watched;
use super::slot::Slot;
use super::{Arrival, PermitSlot};
use crate::http::middleware::Outcome;

/// Who made the process, and with it all of its requests.
pub(super) struct LocalPerson {
    caller: Caller,
    closing: Closing,
    /// What the client wants to hear of.
    watched: Mutex<Watched>,
    is_watching: AtomicBool,
}

impl LocalPerson {
    pub(super) fn new(caller: Caller, closing: Closing) -> Self {
        Self {
            caller: Caller {
                channel: Some(Channel::Mcp),
                ..caller
            },
            closing,
            watched: Mutex::default(),
            is_watching: AtomicBool::new(false),
        }
    }

    /// What the client wants to hear of.
    pub(super) fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nobody has looked for changes so far; from now on somebody does.
    pub(super) fn begins_to_watch(&self) -> bool {
        !self.is_watching.swap(true, Ordering::SeqCst)
    }

    /// Waits for the end of the connection.
    pub(super) async fn closed(&self) {
        self.closing.closed().await;
    }

    /// A request of theirs.
    pub(super) fn arrival(&self) -> Arrival {
        let mut caller = self.caller.clone();
        caller.cancellation = Cancellation::default();
        Arrival {
            caller,
            id: uuid::Uuid::new_v4().to_string(),
            bytes: 0,
            permit: PermitSlot::default(),
            outcome: Outcome::default(),
            listener: Slot::default(),
            closing: Some(self.closing.clone()),
        }
    }

    /// How many bytes arguments have.
    pub(super) fn bytes_of(arguments: &Map<String, Value>) -> u64 {
        serde_json::to_vec(arguments).map_or(0, |text| text.len() as u64)
    }
}
