//! Wall clock and monotonic clock, passed as an argument so that tests can move both.
//!
//! An administrator may set the wall clock back; the monotonic clock only grows. All waiting uses
//! this clock. A waiter on the system's clock sleeps until its deadline. A waiter on a clock that a
//! test moves looks at it every few milliseconds, so that moving the clock ends the wait.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::timings;

/// Interval in which a waiter looks at a movable clock.
const LOOK: Duration = timings::milliseconds(5);

/// Source of the current time, and the means to wait.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// `None` for the system's clock.
    moved: Option<Arc<ClockOffsets>>,
}

/// Offsets of a movable clock from the system's.
#[derive(Debug, Default)]
struct ClockOffsets {
    date_milliseconds: AtomicI64,
    passed_milliseconds: AtomicU64,
}

impl Clock {
    /// The system's clock, which cannot be moved.
    pub const SYSTEM: Self = Self { moved: None };

    /// Returns a clock for tests: it begins with the system's time and can be moved.
    pub fn movable() -> Self {
        Self {
            moved: Some(Arc::default()),
        }
    }

    /// Returns the wall-clock time in whole seconds.
    pub fn now(&self) -> Timestamp {
        let now = system_date();
        let moved = now.checked_add(self.date_offset()).unwrap_or(now);
        Timestamp::from_second(moved.as_second()).unwrap_or(moved)
    }

    /// Returns the wall-clock time in seconds since 1970, with the system's precision.
    pub fn seconds(&self) -> f64 {
        system_date().as_microsecond() as f64 / 1e6 + self.date_offset().as_secs_f64()
    }

    fn date_offset(&self) -> SignedDuration {
        let milliseconds = self
            .moved
            .as_ref()
            .map_or(0, |moved| moved.date_milliseconds.load(Ordering::Relaxed));
        SignedDuration::from_millis(milliseconds)
    }

    /// Returns the current instant of the monotonic clock.
    pub fn instant(&self) -> Instant {
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that asks the system"
        )]
        let now = Instant::now();
        let Some(moved) = &self.moved else {
            return now;
        };
        now + timings::milliseconds(moved.passed_milliseconds.load(Ordering::Relaxed))
    }

    /// Returns the time since an instant.
    pub fn elapsed(&self, since: Instant) -> Duration {
        self.instant().saturating_duration_since(since)
    }

    /// Returns the time until a deadline; zero if it has passed.
    pub fn left(&self, deadline: Instant) -> Duration {
        deadline.saturating_duration_since(self.instant())
    }

    /// Returns `true` if a deadline has passed.
    pub fn is_past(&self, deadline: Instant) -> bool {
        self.instant() >= deadline
    }

    /// Returns how long to block before looking at this clock again: the time until the deadline, but
    /// only a few milliseconds on a movable clock.
    pub fn until_look(&self, deadline: Instant) -> Duration {
        let left = self.left(deadline);
        if self.moved.is_some() {
            left.min(LOOK)
        } else {
            left
        }
    }

    /// Blocks the thread for a time.
    pub fn sleep(&self, time: Duration) {
        let deadline = self.instant() + time;
        while !self.is_past(deadline) {
            #[expect(clippy::disallowed_methods, reason = "the one place that sleeps")]
            std::thread::sleep(self.until_look(deadline));
        }
    }

    /// Waits on a condition variable while a condition holds, at most until a deadline. The caller
    /// asks the guard that it gets back which of the two ended the wait.
    pub fn wait_while<'a, T>(
        &self,
        changed: &Condvar,
        mut guard: MutexGuard<'a, T>,
        deadline: Instant,
        mut holds: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while holds(&mut guard) && !self.is_past(deadline) {
            guard = self.wait(changed, guard, deadline);
        }
        guard
    }

    /// Waits on a condition variable once, at most until a deadline. It may return earlier, so the
    /// caller checks its condition again.
    pub fn wait<'a, T>(
        &self,
        changed: &Condvar,
        guard: MutexGuard<'a, T>,
        deadline: Instant,
    ) -> MutexGuard<'a, T> {
        #[expect(clippy::disallowed_methods, reason = "the one place that waits")]
        let waited = changed.wait_timeout(guard, self.until_look(deadline));
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Waits for a message, at most for a time.
    pub fn receive<T>(
        &self,
        messages: &Receiver<T>,
        time: Duration,
    ) -> Result<T, RecvTimeoutError> {
        let deadline = self.instant() + time;
        loop {
            #[expect(clippy::disallowed_methods, reason = "the one place that waits")]
            let received = messages.recv_timeout(self.until_look(deadline));
            if !matches!(received, Err(RecvTimeoutError::Timeout)) || self.is_past(deadline) {
                return received;
            }
        }
    }

    /// Moves both clocks forward, so that a test need not wait. A negative number sets the wall clock
    /// back, as an administrator may do; the monotonic clock does not go back.
    ///
    /// # Panics
    ///
    /// Panics on the system's clock.
    pub fn advance(&self, seconds: i64) {
        if let Ok(passed) = u64::try_from(seconds) {
            self.pass(timings::seconds(passed));
        } else {
            let date = &self.moved().date_milliseconds;
            date.fetch_add(seconds.saturating_mul(1000), Ordering::Relaxed);
        }
    }

    /// Moves both clocks forward by a duration, to the millisecond.
    ///
    /// # Panics
    ///
    /// Panics on the system's clock.
    pub fn pass(&self, time: Duration) {
        let (moved, milliseconds) = (self.moved(), time.as_millis());
        let add = i64::try_from(milliseconds).unwrap_or(i64::MAX);
        moved.date_milliseconds.fetch_add(add, Ordering::Relaxed);
        let add = add.unsigned_abs();
        moved.passed_milliseconds.fetch_add(add, Ordering::Relaxed);
    }

    #[expect(clippy::panic, reason = "a test has no other clock to move")]
    fn moved(&self) -> &ClockOffsets {
        match &self.moved {
            Some(moved) => moved,
            None => panic!("the system's clock is not moved: ask for `Clock::movable`"),
        }
    }
}

fn system_date() -> Timestamp {
    #[expect(
        clippy::disallowed_methods,
        reason = "the one place that asks the system"
    )]
    Timestamp::now()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::mpsc::channel;

    use super::*;

    const LONG: Duration = timings::hours(10);

    #[test]
    fn what_is_let_pass_moves_both_times() {
        let clock = Clock::movable();
        let (date, moment) = (clock.now(), clock.instant());
        clock.clone().advance(3600);
        assert!(clock.now().as_second() - date.as_second() >= 3600);
        assert!(clock.elapsed(moment) >= timings::hours(1));
    }

    #[test]
    fn a_date_that_is_set_back_takes_no_time_back() {
        let clock = Clock::movable();
        let (date, moment) = (clock.now(), clock.instant());
        clock.advance(-3600);
        assert!(clock.now() < date);
        assert!(clock.instant() >= moment);
    }

    #[test]
    fn whoever_waits_wakes_when_the_time_has_passed() {
        let clock = Clock::movable();
        let (deadline, state) = (clock.instant() + LONG, Mutex::new(false));
        let (_open, messages) = channel::<()>();
        std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| clock.sleep(LONG));
            let waiter = scope.spawn(|| {
                let state = state.lock().expect("a lock");
                *clock.wait_while(&Condvar::new(), state, deadline, |done| !*done)
            });
            let receiver = scope.spawn({
                let clock = &clock;
                move || clock.receive(&messages, LONG)
            });
            let ended = || {
                [
                    sleeper.is_finished(),
                    waiter.is_finished(),
                    receiver.is_finished(),
                ]
            };
            clock.pass(LONG / 2);
            assert_eq!(ended(), [false; 3]);
            while ended() != [true; 3] {
                clock.pass(LONG);
                std::thread::yield_now();
            }
            assert_eq!(waiter.join().ok(), Some(false));
            assert_eq!(receiver.join().ok(), Some(Err(RecvTimeoutError::Timeout)));
        });
    }

    #[test]
    fn what_comes_ends_the_waiting() {
        let clock = Clock::SYSTEM;
        let (sender, messages) = channel();
        let (state, changed) = (Mutex::new(false), Condvar::new());
        std::thread::scope(|scope| {
            let receiver = scope.spawn({
                let clock = &clock;
                move || clock.receive(&messages, LONG)
            });
            let waiter = scope.spawn(|| {
                let (state, deadline) = (state.lock().expect("a lock"), clock.instant() + LONG);
                *clock.wait_while(&changed, state, deadline, |done| !*done)
            });
            sender.send(7).expect("somebody receives");
            *state.lock().expect("a lock") = true;
            changed.notify_all();
            assert_eq!(receiver.join().ok(), Some(Ok(7)));
            assert_eq!(waiter.join().ok(), Some(true));
        });
    }
}
