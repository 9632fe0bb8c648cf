//! The time, as an argument: tests move it, nobody else asks the system.
//!
//! There are two: the date, which an administrator may set back, and the time that passes, which
//! only grows. Everything that waits, waits by this clock; a clock that a test moves is looked at
//! again every few milliseconds by who waits, so that moving it ends the waiting. The system's is
//! not, and a waiter sleeps until its deadline.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use jiff::{SignedDuration, Timestamp};

use crate::timings;

/// How often who waits looks at a clock that is moved.
const LOOK: Duration = timings::milliseconds(5);

/// Where "now" comes from, and how to wait.
#[derive(Clone, Debug, Default)]
pub struct Clock {
    /// Nothing for the system's clock.
    moved: Option<Arc<Moved>>,
}

/// How far a clock is ahead of the system's.
#[derive(Debug, Default)]
struct Moved {
    date_milliseconds: AtomicI64,
    passed_milliseconds: AtomicU64,
}

impl Clock {
    /// The system's clock, which nobody moves.
    pub const SYSTEM: Self = Self { moved: None };

    /// A clock that begins with the system's time and may be moved, for a test.
    #[must_use]
    pub fn movable() -> Self {
        Self {
            moved: Some(Arc::default()),
        }
    }

    /// The present date, to the second.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        let now = system_date();
        let moved = now.checked_add(self.date_offset()).unwrap_or(now);
        Timestamp::from_second(moved.as_second()).unwrap_or(moved)
    }

    /// The present date in seconds since 1970, as exactly as the system knows it.
    #[must_use]
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

    /// The present moment of the time that passes.
    #[must_use]
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

    /// How much time passed since a moment.
    #[must_use]
    pub fn elapsed(&self, since: Instant) -> Duration {
        self.instant().saturating_duration_since(since)
    }

    /// How much time is left until a moment; none where it is over.
    #[must_use]
    pub fn left(&self, deadline: Instant) -> Duration {
        deadline.saturating_duration_since(self.instant())
    }

    /// Whether a moment is over.
    #[must_use]
    pub fn is_past(&self, deadline: Instant) -> bool {
        self.instant() >= deadline
    }

    /// For how long the system may be asked to wait before this clock is looked at again: for what
    /// is left until a moment, and where the clock is moved not for long at once.
    #[must_use]
    pub fn until_look(&self, deadline: Instant) -> Duration {
        let left = self.left(deadline);
        if self.moved.is_some() {
            left.min(LOOK)
        } else {
            left
        }
    }

    /// Does nothing for so long; blocks.
    pub fn sleep(&self, time: Duration) {
        let deadline = self.instant() + time;
        while !self.is_past(deadline) {
            #[expect(clippy::disallowed_methods, reason = "the one place that sleeps")]
            std::thread::sleep(self.until_look(deadline));
        }
    }

    /// Waits for a change while something holds, at most until a moment. Whoever gets the guard
    /// asks it what came of it.
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

    /// Waits for a change once, at most until a moment. It may be over earlier: whoever gets the
    /// guard looks again.
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

    /// Waits for a message, at most so long.
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

    /// Lets seconds pass at once, so that a test need not wait. A negative number sets the date
    /// back, as an administrator may do; the time that passes does not go back.
    ///
    /// # Panics
    ///
    /// Where this is the system's clock.
    pub fn advance(&self, seconds: i64) {
        if let Ok(passed) = u64::try_from(seconds) {
            self.pass(timings::seconds(passed));
        } else {
            let date = &self.moved().date_milliseconds;
            date.fetch_add(seconds.saturating_mul(1000), Ordering::Relaxed);
        }
    }

    /// Lets some time pass at once, to the millisecond.
    ///
    /// # Panics
    ///
    /// Where this is the system's clock.
    pub fn pass(&self, time: Duration) {
        let (moved, milliseconds) = (self.moved(), time.as_millis());
        let add = i64::try_from(milliseconds).unwrap_or(i64::MAX);
        moved.date_milliseconds.fetch_add(add, Ordering::Relaxed);
        let add = add.unsigned_abs();
        moved.passed_milliseconds.fetch_add(add, Ordering::Relaxed);
    }

    #[expect(clippy::panic, reason = "a test has no other clock to move")]
    fn moved(&self) -> &Moved {
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
