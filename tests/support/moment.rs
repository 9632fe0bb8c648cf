//! The moment at which a server dies: after so many answers, in the middle of the next call.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::rng::Rng;
use crate::wait::{comes, pause};

/// Longest time from the last of them to the kill, in microseconds.
const LONGEST: u64 = 30_000;

/// Returns `true` if a round checks whole histories, which grow with the rounds: an error from an earlier
/// round is still visible at the next check.
pub fn looks_at_histories(round: u64, rounds: u64) -> bool {
    round < 20 || round.is_multiple_of(20) || round + 1 == rounds
}

/// The end of a round. Callers count the answers that they get and the kill waits for enough of
/// them, so that a slow machine makes a round longer and not emptier.
pub struct Moment {
    answers: AtomicU64,
    enough: u64,
    rest: u64,
}

impl Moment {
    /// After less than `answers` of them.
    pub fn draw(rng: &mut Rng, answers: u64) -> Self {
        Self {
            answers: AtomicU64::new(0),
            enough: rng.below(answers),
            rest: rng.below(LONGEST),
        }
    }

    /// Returns the least number of answers.
    pub fn enough(&self) -> u64 {
        self.enough
    }

    /// A call was answered.
    pub fn answered(&self) {
        self.answers.fetch_add(1, Ordering::Relaxed);
    }

    /// Waits for the moment, but no longer than the patience of the tests: the kill has to come, since
    /// callers end with the server.
    pub fn wait(&self) {
        let is_enough = || self.answers.load(Ordering::Relaxed) >= self.enough;
        let _came = comes(|| is_enough().then_some(()));
        pause(self.rest);
    }
}
