//! The logs of a tenant's lines: those that are kept, and which server may write more.

use std::collections::VecDeque;
use std::sync::{Arc, MutexGuard, Weak};

use super::Processes;
use fileshed_storage::Root;
use fileshed_types::Mutex;

/// Tenants of which more is known than is in use, before those are forgotten.
const TENANTS_KNOWN: usize = 256;

/// The logs of one tenant.
#[derive(Debug, Default)]
pub struct TenantLogs {
    state: Mutex<LogsState>,
    /// Held while it is asked or said on which server the processes are.
    hosting: Mutex<()>,
}

/// A call that may start a process. Dropped, it has started one, or never will.
#[derive(Debug)]
pub struct StartingProcess(Arc<TenantLogs>);

impl Drop for StartingProcess {
    fn drop(&mut self) {
        self.0.state().starting -= 1;
    }
}

/// The known facts about the logs of one tenant.
#[derive(Debug, Default)]
pub(crate) struct LogsState {
    /// `true` if the logs on disk were looked at.
    pub(crate) known: bool,
    /// Number of the set of servers at that time.
    members: Option<i64>,
    /// Calls that may start a process.
    starting: u64,
    /// Their directory, while a process is known.
    pub(crate) directory: Weak<Root>,
    /// Logs of lines that ended, the oldest first.
    pub(crate) kept: VecDeque<KeptLog>,
}

/// The log of a line that ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeptLog {
    pub(crate) name: String,
    pub(crate) bytes: u64,
    /// Unix seconds of its last line.
    pub(crate) ended: i64,
}

impl Processes {
    /// Returns what is known of the logs of a tenant.
    pub(crate) fn logs_of(&self, tenant: &str) -> Arc<TenantLogs> {
        let mut known = self.logs.lock();
        if let Some(found) = known.get(tenant) {
            return Arc::clone(found);
        }
        if known.len() >= TENANTS_KNOWN {
            known.retain(|tenant, logs| {
                Arc::strong_count(logs) > 1 || logs.state().is_starting() || self.has_any_of(tenant)
            });
        }
        Arc::clone(known.entry(tenant.to_owned()).or_default())
    }

    /// Returns bytes and number of all logs of a tenant, together with those that are being written.
    pub(crate) fn log_space(&self, tenant: &str, state: &LogsState) -> (u64, u64) {
        let mut running = self.running();
        running.retain(|process| process.is_line_of(tenant));
        let sizes = running.iter().map(|line| line.log_size());
        let sizes = sizes.chain(state.kept.iter().map(|log| log.bytes));
        sizes.fold((0, 0), |(bytes, files), size| (bytes + size, files + 1))
    }
}

impl TenantLogs {
    pub(crate) fn state(&self) -> MutexGuard<'_, LogsState> {
        self.state.lock()
    }

    /// Held while it is asked or said on which server the processes are.
    pub(crate) fn hosting(&self) -> MutexGuard<'_, ()> {
        self.hosting.lock()
    }

    /// Notes a call that may start a process.
    pub(crate) fn begin_start(self: &Arc<Self>) -> StartingProcess {
        self.state().starting += 1;
        StartingProcess(Arc::clone(self))
    }
}

impl LogsState {
    /// Returns `true` if a process may be started at this moment.
    pub(crate) fn is_starting(&self) -> bool {
        self.starting > 0
    }

    /// Notes which servers there are: if they are not those of the last look, one may have left logs.
    pub(crate) fn seen_among(&mut self, members: i64) {
        if self.members.replace(members) != Some(members) {
            self.known = false;
        }
    }

    /// Takes out the logs that are too old, or the oldest ones while all of them, which take `space`
    /// in bytes and files, are more than `most`.
    pub(crate) fn expired(
        &mut self,
        oldest: i64,
        space: (u64, u64),
        most: (u64, u64),
    ) -> Vec<KeptLog> {
        let mut expired = Vec::new();
        let (mut bytes, mut files) = space;
        while let Some(log) = self.kept.front() {
            if log.ended >= oldest && bytes <= most.0 && files <= most.1 {
                break;
            }
            (bytes, files) = (bytes - log.bytes, files - 1);
            expired.extend(self.kept.pop_front());
        }
        expired
    }
}
