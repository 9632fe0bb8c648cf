//! State of everything that runs on behalf of callers.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use fileshed_sandbox::egress::Egress;
use fileshed_sandbox::{Confinement, Zygote};
use fileshed_types::fair::{FairSemaphore, Full, Grant, Shares};
use fileshed_types::limiter::{Limiter, Pool};
use fileshed_types::{Caller, Settings};
use fileshed_zones::store::Store;
use fileshed_zones::store::instance::DIRECTORY as INSTANCES;
use fileshed_zones::write_lock::BusyError;

use crate::processes::Processes;
use crate::programs::Programs;

/// Everything that runs on behalf of callers.
#[derive(Debug)]
pub struct Runs {
    pub(crate) store: Arc<Store>,
    /// The whitelisted programs of this machine.
    pub programs: Programs,
    pub(crate) slots: CommandSlots,
    pub(crate) shell_slots: CommandSlots,
    /// Lines and shells, which outlive the calls that start them.
    pub processes: Processes,
    /// The process that commands are started from.
    pub zygote: Zygote,
    confinement: OnceLock<Confinement>,
    /// The proxy through which commands reach the network.
    pub egress: Egress,
}

impl Runs {
    /// Finds the programs of this machine. No process is started yet.
    #[must_use]
    pub fn new(store: Arc<Store>) -> Self {
        let (settings, clock, limiter) = (&store.settings, &store.clock, &store.limiter);
        let instance = store
            .registry
            .holds_leases()
            .then(|| store.instance.name.as_str());
        let slots = |pool, shares| CommandSlots::new(pool, shares, settings, limiter);
        let shares = Shares::fixed(settings.exec_max_per_user, settings.exec_max_total);
        // Lines of shells may last: apart from commands, neither keeps the other waiting. One user alone
        // has half of them, which is all that one user may start.
        let own = settings.terminal_max_processes.saturating_mul(2);
        let shares_of_lines = Shares::dynamic(settings.exec_max_total.max(own));
        Self {
            programs: Programs::find(settings),
            slots: slots(Pool::Commands, shares),
            shell_slots: slots(Pool::Lines, shares_of_lines),
            processes: Processes::new(settings, limiter, instance),
            zygote: Zygote::new(settings, clock),
            confinement: OnceLock::new(),
            egress: Egress::new(settings, clock),
            store,
        }
    }

    /// Returns how the kernel of this machine confines commands; it is probed once, at the first call.
    #[must_use]
    pub fn confinement(&self) -> &Confinement {
        self.confinement.get_or_init(|| {
            // A directory in which no other file system is mounted.
            let own = self.store.data.subdirectory(INSTANCES);
            let place = own.as_ref().unwrap_or(&self.store.data).handle();
            Confinement::probe(&self.zygote, place, &self.store.settings)
        })
    }

    /// Ends the command with most watches of epoll, because the account has none left.
    pub fn end_most_watches(&self) {
        match self.zygote.end_most_watches() {
            Ok(()) => tracing::warn!("the command with most epoll watches was ended"),
            Err(error) => tracing::warn!(%error, "no command could be ended"),
        }
    }

    /// Returns `true` if shells see the tree under its absolute paths. If the machine has no mount
    /// namespaces, they see the zone in which they begin, by relative paths.
    #[must_use]
    pub fn has_tree(&self) -> bool {
        self.confinement().has_namespaces()
    }
}

/// Commands that are running.
#[derive(Debug)]
pub(crate) struct CommandSlots {
    running: FairSemaphore,
    shares: Shares,
    patience: Duration,
}

impl CommandSlots {
    fn new(pool: Pool, shares: Shares, settings: &Settings, limiter: &Limiter) -> Self {
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
