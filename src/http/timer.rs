//! Asynchronous waits on the server's clock.

use std::future::Future;
use std::time::{Duration, Instant};

use fileshed_core::Clock;

/// Waits until a deadline.
pub(super) async fn sleep_until(clock: &Clock, deadline: Instant) {
    while !clock.is_past(deadline) {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that waits without blocking"
        )]
        tokio::time::sleep(clock.until_look(deadline)).await;
    }
}

/// Waits for a time.
pub(super) async fn sleep(clock: &Clock, time: Duration) {
    sleep_until(clock, clock.instant() + time).await;
}

/// Returns the output of a future, or `None` if it takes longer than `time`.
pub(super) async fn within<T>(
    clock: &Clock,
    time: Duration,
    something: impl Future<Output = T>,
) -> Option<T> {
    let deadline = clock.instant() + time;
    tokio::select! {
        biased;
        done = something => Some(done),
        () = sleep_until(clock, deadline) => None,
    }
}

#[cfg(test)]
mod tests {
    use fileshed_core::timings::hours;

    use super::*;

    #[tokio::test]
    async fn what_does_not_come_in_time_is_not_waited_for() {
        let clock = Clock::movable();
        let never = within(&clock, hours(1), std::future::pending::<()>());
        let passes = async { clock.pass(hours(1)) };
        let (never, ()) = tokio::join!(never, passes);
        assert_eq!(never, None);
        // A result that is ready is returned, even after the deadline.
        assert_eq!(within(&clock, Duration::ZERO, async { 7 }).await, Some(7));
    }
}
