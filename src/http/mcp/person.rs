//! The one person whose process this is, for a connection that says nothing of who calls.

use fileshed_core::Caller;
use fileshed_core::cancellation::Cancellation;
use serde_json::{Map, Value};

use super::closing::Closing;
use super::{Arrival, PermitSlot};
use crate::http::middleware::Outcome;

/// Who made the process, and with it all of its requests.
pub(super) struct Person {
    caller: Caller,
    closing: Closing,
}

impl Person {
    pub(super) fn new(caller: Caller, closing: Closing) -> Self {
        Self { caller, closing }
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
            closing: Some(self.closing.clone()),
        }
    }

    /// How many bytes arguments have.
    pub(super) fn bytes_of(arguments: &Map<String, Value>) -> u64 {
        serde_json::to_vec(arguments).map_or(0, |text| text.len() as u64)
    }
}
