//! A circuit breaker: whether to ask a server that did not answer lately.
//!
//! After a few failures in a row calls fail at once. From time to time one call is let through;
//! when it is answered, all are.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Failures in a row after which calls fail at once.
const FAILURES: u32 = 3;

/// How long they do, until one is let through.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// The circuit breaker of one server.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<BreakerState>);

#[derive(Debug, Default)]
struct BreakerState {
    failures: u32,
    /// No call is made before.
    until: Option<Instant>,
}

impl Breaker {
    /// Whether a call may be made. Its end has to be recorded.
    pub(super) fn allows(&self, now: Instant) -> bool {
        let mut state = self.state();
        match state.until {
            Some(until) if now < until => false,
            Some(_) => {
                // One call tries; the others wait for its outcome.
                state.until = Some(now + PAUSE);
                true
            }
            None => true,
        }
    }

    /// Records how a call ended.
    pub(super) fn record(&self, now: Instant, answered: bool) {
        let mut state = self.state();
        if answered {
            *state = BreakerState::default();
            return;
        }
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            state.until = Some(now + PAUSE);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, BreakerState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_lets_one_try_and_closes() {
        let (breaker, begun) = (Breaker::default(), Instant::now());
        for _ in 0..FAILURES - 1 {
            breaker.record(begun, false);
        }
        breaker.record(begun, true);
        for _ in 0..FAILURES {
            assert!(breaker.allows(begun), "an answer in between counts");
            breaker.record(begun, false);
        }
        assert!(!breaker.allows(begun));
        let later = begun + PAUSE;
        assert!(breaker.allows(later), "one tries");
        assert!(!breaker.allows(later), "and only one");
        breaker.record(later, false);
        assert!(!breaker.allows(later + PAUSE / 2));
        assert!(breaker.allows(later + PAUSE));
        breaker.record(later + PAUSE, true);
        assert!(breaker.allows(later + PAUSE));
        assert!(breaker.allows(later + PAUSE));
    }
}
