//! How often each kind of call got through, and how often it was refused.

use std::collections::BTreeMap;

/// Calls by kind: got through, refused.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<&'static str, (u64, u64)>);

impl Tally {
    pub(crate) fn count<T, E>(&mut self, kind: &'static str, outcome: Result<T, E>) -> Option<T> {
        let (through, refused) = self.0.entry(kind).or_default();
        let value = outcome.ok();
        *through += u64::from(value.is_some());
        *refused += u64::from(value.is_none());
        value
    }

    pub(crate) fn add(&mut self, other: Self) {
        for (kind, (through, refused)) in other.0 {
            let sum = self.0.entry(kind).or_default();
            sum.0 += through;
            sum.1 += refused;
        }
    }

    /// Prints the table, and asserts that kinds met the swap from both sides.
    pub(crate) fn assert_raced(&self, swaps: u64, what: &str, kinds: &[&str]) {
        println!("{what}: {swaps} swaps");
        for (kind, (through, refused)) in &self.0 {
            println!("  {kind:<10} {through:>8} got through {refused:>8} refused");
        }
        for kind in kinds {
            let (through, refused) = self.0.get(kind).copied().unwrap_or_default();
            assert!(through > 0 && refused > 0, "{what}: {kind} did not race");
        }
    }
}
