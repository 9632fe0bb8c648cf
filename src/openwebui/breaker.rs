//! A circuit breaker: whether to ask a server that did not answer lately.
//!
//! After a few failures in a row calls fail at once. From time to time one call is let through;
//! when it is answered, all are.

use std::time::{Duration, Instant};

use fileshed_core::{Clock, Mutex};

/// Failures in a row after which calls fail at once.
const FAILURES: u32 = 3;

/// The circuit breaker of one server.
#[derive(Debug)]
pub(super) struct Breaker {
    state: Mutex<BreakerState>,
    clock: Clock,
    /// Time for which calls fail at once, until one is let through.
    pause: Duration,
}

#[derive(Debug, Default)]
struct BreakerState {
    failures: u32,
    /// No call is made before.
    until: Option<Instant>,
}

impl Breaker {
    pub(super) fn new(clock: &Clock, pause: Duration) -> Self {
        Self {
            state: Mutex::default(),
            clock: clock.clone(),
            pause,
        }
    }

    /// Returns `true` if a call may be made. Its end has to be recorded.
    pub(super) fn allows(&self) -> bool {
        let now = self.clock.instant();
        let mut state = self.state.lock();
        match state.until {
            Some(until) if now < until => false,
            Some(_) => {
                // One call tries; the others wait for its outcome.
                state.until = Some(now + self.pause);
                true
            }
            None => true,
        }
    }

    /// Records how a call ended.
    pub(super) fn record(&self, answered: bool) {
        let now = self.clock.instant();
        let mut state = self.state.lock();
        if answered {
            *state = BreakerState::default();
            return;
        }
        state.failures = state.failures.saturating_add(1);
        if state.failures >= FAILURES {
            state.until = Some(now + self.pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use fileshed_core::timings::minutes;

    use super::*;

    #[test]
    fn it_opens_after_failures_in_a_row_lets_one_try_and_closes() {
        let clock = Clock::movable();
        let breaker = Breaker::new(&clock, minutes(10));
        for _ in 0..FAILURES - 1 {
            breaker.record(false);
        }
        breaker.record(true);
        for _ in 0..FAILURES {
            assert!(breaker.allows(), "an answer in between counts");
            breaker.record(false);
        }
        assert!(!breaker.allows());
        clock.pass(minutes(10));
        assert!(breaker.allows(), "one tries");
        assert!(!breaker.allows(), "and only one");
        breaker.record(false);
        clock.pass(minutes(5));
        assert!(!breaker.allows());
        clock.pass(minutes(5));
        assert!(breaker.allows());
        breaker.record(true);
        assert!(breaker.allows());
        assert!(breaker.allows());
    }
}
