//! How far the places of the server are taken.

use super::Administration;
use fileshed_types::fair::Occupancy;
use fileshed_types::limiter::Pool;

/// One kind of places.
#[derive(Clone, Copy, Debug)]
pub struct QueueLength {
    /// What takes one.
    pub name: &'static str,
    /// How far they are taken.
    pub occupancy: Occupancy,
}

impl Administration<'_> {
    /// The places for calls, commands, lines of shells, shells, transfers.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueLength> {
        let pools = [
            ("calls", Pool::Calls),
            ("commands", Pool::Commands),
            ("lines", Pool::Lines),
            ("shells", Pool::Shells),
            ("transfers", Pool::Transfers),
        ];
        let limiter = self.store.limiter();
        let lengths = pools.into_iter().filter_map(|(name, pool)| {
            let occupancy = limiter.occupancy(pool)?;
            Some(QueueLength { name, occupancy })
        });
        lengths.collect()
    }

    /// Unix seconds since when this process serves.
    #[must_use]
    pub fn since(&self) -> i64 {
        self.store.opened_at()
    }
}
