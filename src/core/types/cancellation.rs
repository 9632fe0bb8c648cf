//! Cancellation of running work: the client is gone, or the trust in the caller has ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::trust::Trust;

/// A signal to running work that its client is gone, or that the trust has ended on which the work began.
#[derive(Clone, Debug, Default)]
pub struct Cancellation {
    gone: Arc<AtomicBool>,
    trust: Trust,
}

impl Cancellation {
    /// Creates a cancellation that ends with this trust.
    pub fn with(trust: Trust) -> Self {
        Self {
            trust,
            ..Self::default()
        }
    }

    /// Returns a cancellation for work that outlives the call: it ends with the same trust, not with the
    /// client.
    #[must_use]
    pub fn detached(&self) -> Self {
        Self::with(self.trust.clone())
    }

    /// Returns the trust on which the work was begun.
    pub fn trust(&self) -> &Trust {
        &self.trust
    }

    /// Marks the caller as gone.
    pub fn cancel(&self) {
        self.gone.store(true, Ordering::Relaxed);
    }

    /// Returns a guard that cancels when it is dropped, as it is with the request of a client that goes away.
    #[must_use]
    pub fn on_drop(&self) -> CancelOnDrop {
        CancelOnDrop(self.clone())
    }

    /// Returns `true` if the caller is gone, or its trust has ended.
    pub fn is_cancelled(&self) -> bool {
        self.gone.load(Ordering::Relaxed) || self.trust.ended().is_some()
    }
}

/// Cancels when it is dropped.
#[derive(Debug)]
pub struct CancelOnDrop(Cancellation);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}
