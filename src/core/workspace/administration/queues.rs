//! How far the places of the server are taken.

use super::Administration;
use fileshed_types::fair::Occupancy;

/// One kind of places.
#[derive(Clone, Copy, Debug)]
pub struct QueueLength {
    /// What takes one.
    pub name: &'static str,
    /// How far they are taken.
    pub occupancy: Occupancy,
}

impl Administration<'_> {
    /// The places that the core gives: for commands, lines of shells, shells, transfers.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueLength> {
        let store = self.store;
        [
            ("commands", store.slots().occupancy()),
            ("lines", store.shell_slots().occupancy()),
            ("shells", store.shells().occupancy()),
            ("transfers", store.transfer_limiter().occupancy()),
        ]
        .map(|(name, occupancy)| QueueLength { name, occupancy })
        .into()
    }

    /// Unix seconds since when this process serves.
    #[must_use]
    pub fn since(&self) -> i64 {
        self.store.opened_at()
    }
}
