//! How many commands run at once: for one user, and in all.

use std::time::Duration;

use fileshed_types::fair::{FairSemaphore, Full, Grant, Shares};
use fileshed_types::limiter::{Limiter, Pool};
use fileshed_types::{Caller, Settings};
use fileshed_zones::write_lock::BusyError;

/// Commands that are running.
#[derive(Debug)]
pub(crate) struct CommandSlots {
    running: FairSemaphore,
    shares: Shares,
    patience: Duration,
}

impl CommandSlots {
    pub(crate) fn new(settings: &Settings, limiter: &Limiter) -> Self {
        let shares = Shares::fixed(settings.exec_max_per_user, settings.exec_max_total);
        Self::with((Pool::Commands, shares), settings, limiter)
    }

    /// Lines of shells, which may last: apart from commands, so that neither keeps the other waiting.
    /// One user alone has half of them, which is all that one user may start.
    pub(crate) fn for_lines(settings: &Settings, limiter: &Limiter) -> Self {
        let own = settings.terminal_max_processes.saturating_mul(2);
        let shares = Shares::dynamic(settings.exec_max_total.max(own));
        Self::with((Pool::Lines, shares), settings, limiter)
    }

    fn with((pool, shares): (Pool, Shares), settings: &Settings, limiter: &Limiter) -> Self {
        Self {
            running: limiter.open(pool, shares),
            shares,
            patience: settings.timings.calls.command,
        }
    }

    /// Waits for the right to run one command, for `user`, as whom `caller` calls. Dropped, it is
    /// free.
    pub(crate) fn take(&self, user: &str, caller: &Caller) -> Result<Grant, BusyError> {
        let wait = || self.running.take(user, self.patience, &caller.cancellation);
        let slot = caller.place.while_waiting(wait).unwrap_or(Err(Full::All));
        slot.map_err(|full| match full {
            Full::User => BusyError::User {
                limit: self.shares.of_one(),
            },
            Full::All => BusyError::Server {
                limit: self.shares.total,
            },
        })
    }
}
