//! The time, as an argument: tests move it, nobody else asks the system.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};

/// Where "now" comes from.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    offset_seconds: Arc<AtomicI64>,
}

impl Clock {
    /// The present moment, to the second.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that asks the system"
        )]
        let now = Timestamp::now();
        let offset = SignedDuration::from_secs(self.offset_seconds.load(Ordering::Relaxed));
        let moved = now.checked_add(offset).unwrap_or(now);
        Timestamp::from_second(moved.as_second()).unwrap_or(moved)
    }

    /// The present moment in seconds since 1970, as exactly as the system knows it.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that asks the system"
        )]
        let now = Timestamp::now().as_microsecond() as f64 / 1e6;
        now + self.offset_seconds.load(Ordering::Relaxed) as f64
    }

    /// Moves the clock forward, so that a test need not wait for a lock to expire.
    pub fn advance(&self, seconds: i64) {
        self.offset_seconds.fetch_add(seconds, Ordering::Relaxed);
    }
}
