//! How many commands run at once: for one user, and in all.

use std::time::Duration;

use crate::write_lock::BusyError;
use crate::{Caller, Clock, Settings};
use fileshed_types::fair::{FairSemaphore, Full, Grant, Occupancy, Shares};

/// Commands that are running.
#[derive(Debug)]
pub(crate) struct CommandSlots {
    running: FairSemaphore,
    shares: Shares,
    patience: Duration,
}

impl CommandSlots {
    pub(crate) fn new(settings: &Settings, clock: &Clock) -> Self {
        let shares = Shares::fixed(settings.exec_max_per_user, settings.exec_max_total);
        Self::with(shares, settings, clock)
    }

    /// Lines of shells, which may last: apart from commands, so that neither keeps the other waiting.
    /// How many one user has is counted where they are listed.
    pub(crate) fn for_lines(settings: &Settings, clock: &Clock) -> Self {
        let total = settings.exec_max_total.max(settings.terminal_max_processes);
        Self::with(Shares::fixed(total, total), settings, clock)
    }

    fn with(shares: Shares, settings: &Settings, clock: &Clock) -> Self {
        Self {
            running: FairSemaphore::new(shares, clock),
            shares,
            patience: settings.timings.calls.command,
        }
    }

    /// How far the places are taken.
    pub(crate) fn occupancy(&self) -> Occupancy {
        self.running.occupancy()
    }

    /// Waits for the right to run one command, for `user`, as whom `caller` calls. Dropped, it is
    /// free.
    pub(crate) fn take(&self, user: &str, caller: &Caller) -> Result<Grant, BusyError> {
        let wait = || self.running.take(user, self.patience, &caller.cancellation);
        let slot = caller.place.while_waiting(wait).unwrap_or(Err(Full::All));
        slot.map_err(|full| match full {
            Full::User => BusyError::User {
                limit: self.shares.per_user,
            },
            Full::All => BusyError::Server {
                limit: self.shares.total,
            },
        })
    }
}
