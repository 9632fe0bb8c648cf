//! Whether it is worth asking a server that did not answer lately.
//!
//! After a few failures in a row nobody is made to wait for the next one: calls fail at once. From
//! time to time one call is let through; when it is answered, all are.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Failures in a row after which calls fail at once.
const FAILURES: u32 = 3;

/// How long they do, until one is let through.
pub(super) const PAUSE: Duration = Duration::from_secs(10);

/// Counts calls without an answer, and stops calls for a while after several in a row.
#[derive(Debug, Default)]
pub(super) struct Breaker(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// No call before.
    until: Option<Instant>,
}

impl Breaker {
    /// Whether a call may be made. One that may has to be settled.
    pub(super) fn admits(&self, now: Instant) -> bool {
        let mut state = self.state();
        match state.until {
            Some(until) if now < until => false,
            Some(_) => {
                // One finds out; the others wait for what it finds.
                state.until = Some(now + PAUSE);
                true
            }
            None => true,
        }
    }

    /// Takes note of how a call ended.
    pub(super) fn settle(&self, now: Instant, answered: bool) {
        let mut state = self.state();
        if answered {
            *state = State::default();
            return;
        }
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            state.until = Some(now + PAUSE);
        }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
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
            breaker.settle(begun, false);
        }
        breaker.settle(begun, true);
        for _ in 0..FAILURES {
            assert!(breaker.admits(begun), "an answer in between counts");
            breaker.settle(begun, false);
        }
        assert!(!breaker.admits(begun));
        let later = begun + PAUSE;
        assert!(breaker.admits(later), "one tries");
        assert!(!breaker.admits(later), "and only one");
        breaker.settle(later, false);
        assert!(!breaker.admits(later + PAUSE / 2));
        assert!(breaker.admits(later + PAUSE));
        breaker.settle(later + PAUSE, true);
        assert!(breaker.admits(later + PAUSE));
        assert!(breaker.admits(later + PAUSE));
    }
}
