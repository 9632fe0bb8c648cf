//! Background processes of all tenants of this server: those that run, those that ended lately, and
//! the logs that are kept.
//!
//! This is what is known of them; how one is started and looked after is in `terminal`.

mod error;
mod log;
mod process;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::Settings;
use fileshed_storage::Root;
use fileshed_types::fair::{FairSemaphore, Full, Grant, Shares};
use fileshed_types::limiter::{Limiter, Pool};

pub use error::BackgroundError;
pub use log::{Output, OutputEntry, OutputSpan, OutputStream, ProcessStatus};
pub(crate) use log::{ProcessLog, StartLine, file_name, has_end, server_of};
pub use process::{BackgroundProcess, Waiting, Wake};
pub(crate) use process::{Identity, InputPatience, Request, wait_for};

/// Seconds for which one that ended is still listed.
pub(crate) const LISTED_SECONDS: i64 = 300;

/// Processes of a tenant that ended and are listed: the last ones.
const LISTED: usize = 200;

/// Tenants of which more is known than is in use, before those are forgotten.
const TENANTS_KNOWN: usize = 256;

/// Processes of all users at once: each keeps a thread.
const RUNNING_MOST: u64 = 512;

/// All of them, by tenant.
#[derive(Debug)]
pub(crate) struct BackgroundProcesses {
    running: FairSemaphore,
    tenants: Mutex<HashMap<String, Arc<TenantProcesses>>>,
}

/// Those of one tenant.
#[derive(Debug, Default)]
pub(crate) struct TenantProcesses {
    state: Mutex<TenantState>,
    /// One at a time asks on which server they are, or says it.
    hosting: Mutex<()>,
}

/// A call that may start a process. Dropped, it has started one, or never will.
#[derive(Debug)]
pub struct StartingProcess(Arc<TenantProcesses>);

impl Drop for StartingProcess {
    fn drop(&mut self) {
        self.0.state().starting -= 1;
    }
}

/// What is known of one tenant.
#[derive(Debug, Default)]
pub(crate) struct TenantState {
    /// Whether its logs were looked at.
    pub(crate) known: bool,
    /// Which servers there were then.
    members: Option<i64>,
    /// Calls that may start a process.
    starting: u64,
    /// Their directory, while a process is known.
    pub(crate) logs: Weak<Root>,
    /// In the order in which they were started.
    pub(crate) processes: Vec<Arc<BackgroundProcess>>,
    /// Logs of those that ended, the oldest first.
    pub(crate) kept: VecDeque<KeptLog>,
}

/// The log of a process that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptLog {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Unix seconds of its last line.
    pub(crate) ended: i64,
}

impl BackgroundProcesses {
    pub(crate) fn new(settings: &Settings, limiter: &Limiter) -> Self {
        let own = settings.terminal_max_processes;
        let shares = Shares::fixed(own, RUNNING_MOST.max(own.saturating_mul(2)));
        Self {
            running: limiter.open(Pool::Processes, shares),
            tenants: Mutex::default(),
        }
    }

    /// Takes the place of one more process of a tenant.
    pub(crate) fn place(&self, tenant: &str) -> Result<Grant, Full> {
        self.running.try_take(tenant)
    }

    /// Those of a tenant.
    pub(crate) fn of(&self, tenant: &str) -> Arc<TenantProcesses> {
        let mut tenants = self.tenants();
        if let Some(found) = tenants.get(tenant) {
            return Arc::clone(found);
        }
        if tenants.len() >= TENANTS_KNOWN {
            tenants.retain(|_, tenant| Arc::strong_count(tenant) > 1 || !tenant.is_idle());
        }
        Arc::clone(tenants.entry(tenant.to_owned()).or_default())
    }

    /// Every one that runs.
    pub(crate) fn running(&self) -> Vec<Arc<BackgroundProcess>> {
        let tenants: Vec<_> = self.tenants().values().map(Arc::clone).collect();
        let states = tenants.iter().map(|tenant| tenant.state());
        let mut running: Vec<_> = states.flat_map(|state| state.processes.clone()).collect();
        running.retain(|process| process.is_running());
        running
    }

    fn tenants(&self) -> MutexGuard<'_, HashMap<String, Arc<TenantProcesses>>> {
        self.tenants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TenantProcesses {
    pub(crate) fn state(&self) -> MutexGuard<'_, TenantState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Held while it is asked or said on which server they are.
    pub(crate) fn hosting(&self) -> MutexGuard<'_, ()> {
        self.hosting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a call that may start one.
    pub(crate) fn begin_start(self: &Arc<Self>) -> StartingProcess {
        self.state().starting += 1;
        StartingProcess(Arc::clone(self))
    }

    fn is_idle(&self) -> bool {
        !self.state().is_in_use()
    }
}

impl TenantState {
    /// Whether a process runs, is listed, or may be started at this moment.
    pub(crate) fn is_in_use(&self) -> bool {
        self.starting > 0 || !self.processes.is_empty()
    }

    /// Says which servers there are: where they are not those of the last look, one may have left logs.
    pub(crate) fn seen_among(&mut self, members: i64) {
        if self.members.replace(members) != Some(members) {
            self.known = false;
        }
    }

    /// Forgets those that ended a while ago, and where they are very many, the first of them.
    pub(crate) fn forget_ended(&mut self, now: i64) {
        let ended = self
            .processes
            .iter()
            .filter(|process| !process.is_running());
        let mut too_many = ended.count().saturating_sub(LISTED);
        self.processes.retain(|process| {
            let Some(ended) = process.ended() else {
                return true;
            };
            let is_one_of_them = too_many > 0;
            too_many = too_many.saturating_sub(1);
            !is_one_of_them && now - ended < LISTED_SECONDS
        });
    }

    /// Takes out the logs that are too old, or the oldest ones while they are more than `most_bytes`
    /// or `most_files` together with those that are being written.
    pub(crate) fn expired(
        &mut self,
        oldest: i64,
        most_bytes: u64,
        most_files: u64,
    ) -> Vec<KeptLog> {
        let mut expired = Vec::new();
        let (mut bytes, mut files) = self.log_space();
        while let Some(log) = self.kept.front() {
            if log.ended >= oldest && bytes <= most_bytes && files <= most_files {
                break;
            }
            (bytes, files) = (bytes - log.bytes, files - 1);
            expired.extend(self.kept.pop_front());
        }
        expired
    }

    /// Bytes and number of all logs.
    pub(crate) fn log_space(&self) -> (u64, u64) {
        let running = self.processes.iter().filter(|process| process.is_running());
        let sizes = running.map(|process| process.log_size());
        let sizes = sizes.chain(self.kept.iter().map(|log| log.bytes));
        sizes.fold((0, 0), |(bytes, files), size| (bytes + size, files + 1))
    }
}
