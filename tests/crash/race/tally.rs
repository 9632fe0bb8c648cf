//! Counts of each kind of call: got through, and refused.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Calls by kind: got through, refused.
type Counts = BTreeMap<&'static str, (u64, u64)>;

/// Calls of all threads, and the kinds of them that must meet the swap from both sides.
pub(crate) struct Tally {
    kinds: &'static [&'static str],
    counts: Mutex<Counts>,
}

impl Tally {
    pub(crate) fn of(kinds: &'static [&'static str]) -> Self {
        Self {
            kinds,
            counts: Mutex::default(),
        }
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count<T, E>(&self, kind: &'static str, outcome: Result<T, E>) -> Option<T> {
        let mut counts = self.counts();
        let (through, refused) = counts.entry(kind).or_default();
        let value = outcome.ok();
        *through += u64::from(value.is_some());
        *refused += u64::from(value.is_none());
        value
    }

    /// Returns `true` if every kind of call met both sides.
    pub(crate) fn has_raced(&self) -> bool {
        let counts = self.counts();
        let met = |kind| {
            let (through, refused) = counts.get(kind).copied().unwrap_or_default();
            through > 0 && refused > 0
        };
        self.kinds.iter().all(met)
    }

    /// Prints the table, and asserts that every kind met both sides.
    pub(crate) fn assert_raced(&self, what: &str) {
        println!("{what}:");
        for (kind, (through, refused)) in &*self.counts() {
            println!("  {kind:<10} {through:>8} got through {refused:>8} refused");
        }
        assert!(self.has_raced(), "{what}: {:?} did not race", self.kinds);
    }
}
