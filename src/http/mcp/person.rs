//! The user of a connection on standard streams, and the end of that connection.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use fileshed_core::{Caller, Channel, Error};
use serde_json::{Map, Value};
use tokio::sync::watch;

use super::{Arrival, PermitSlot};
use crate::http::admission::Slot;
use crate::http::mcp::listener::{Listener, Watched};
use crate::http::middleware::Outcome;

/// Who made the process, and with it all of its requests.
pub(super) struct LocalPerson {
    caller: Caller,
    closing: Closing,
    /// What the client wants to hear of.
    watched: Mutex<Watched>,
    is_watching: AtomicBool,
    /// Who is about to be told that they will hear of changes.
    listeners: Mutex<Vec<BegunListener>>,
}

/// Who is going to hear of changes of these.
struct BegunListener {
    uris: Vec<String>,
    listener: Result<Listener, Error>,
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
            listeners: Mutex::default(),
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

    /// Keeps who is going to hear of changes of these until the client was told so.
    pub(super) fn keep(&self, uris: Vec<String>, listener: Result<Listener, Error>) {
        self.listeners().push(BegunListener { uris, listener });
    }

    /// One that was kept; of several that hear of the same, any.
    pub(super) fn take(&self, uris: &[String]) -> Option<Result<Listener, Error>> {
        let mut listeners = self.listeners();
        let are_in =
            |some: &[String], others: &[String]| some.iter().all(|uri| others.contains(uri));
        let is_it = |begun: &BegunListener| are_in(&begun.uris, uris) && are_in(uris, &begun.uris);
        let place = listeners.iter().position(is_it)?;
        Some(listeners.remove(place).listener)
    }

    fn listeners(&self) -> MutexGuard<'_, Vec<BegunListener>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the end of the connection.
    pub(super) async fn closed(&self) {
        closed(&self.closing).await;
    }

    /// A request of theirs.
    pub(super) fn arrival(&self) -> Arrival {
        let mut caller = self.caller.clone();
        caller.cancellation = caller.cancellation.detached();
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

/// Becomes true when the connection ends.
pub(super) type Closing = watch::Receiver<bool>;

/// Waits for the end of the connection.
pub(super) async fn closed(closing: &Closing) {
    let mut closing = closing.clone();
    let _gone_too = closing.wait_for(|closed| *closed).await;
}
