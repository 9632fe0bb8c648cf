//! The background processes of a caller: which there are, and how long their logs are kept.

use std::sync::Arc;
use std::time::Duration;

use super::LOGS;
use crate::background::{
    BackgroundError, BackgroundProcess, Identity, KeptLog, OutputStream, ProcessLog, ProcessStatus,
    StartLine, TenantProcesses, TenantState, file_name, has_end, server_of,
};
use crate::store::Store;
use crate::tenant::TenantRoot;
use crate::zone::Zone;
use crate::zone_access::NOTHING;
use crate::{Caller, Error, ZoneName, ZonePath};
use fileshed_storage::{Kind, LogFile, Root, Totals};
use fileshed_types::settings::MEBIBYTE;

/// Bytes of all logs of a tenant: so many, or a part of its quota where that is small.
const LOGS_BYTES: u64 = 64 * MEBIBYTE;

/// Number of logs of a tenant.
const LOGS_FILES: u64 = 1000;

/// Least space of all logs.
const LOGS_BYTES_LEAST: u64 = MEBIBYTE;

/// What the log of a process says that did not end by itself.
const CUT_OFF: &str = "cut off by a restart of the server\n";

/// What it says of a stop that was asked for.
const STOPPED: &str = "ended by a stop of the server\n";

const SECONDS_OF_DAY: u64 = 86_400;

impl Store {
    /// The logs of the caller's processes, as a zone that can only be read.
    pub(crate) fn logs_zone<'a>(&'a self, caller: &'a Caller) -> Result<Zone<'a>, Error> {
        let tenant = self.tenant(caller)?;
        self.known_processes(&tenant)?;
        let logs = match tenant.root.existing_subdirectory(LOGS)? {
            Some(logs) => logs,
            None => tenant.root.subdirectory(NOTHING)?,
        };
        Ok(Zone {
            store: self,
            caller,
            name: ZoneName::Uploads,
            tenant,
            base: logs.try_clone()?,
            data: logs,
            ready: true,
            // Nothing is brought into it.
            absent: true,
            group: None,
        })
    }

    /// The processes of this conversation that run or ended lately, in the order in which they were
    /// started.
    pub fn processes(&self, caller: &Caller) -> Result<Vec<Arc<BackgroundProcess>>, Error> {
        let known = self.known_processes(&self.tenant(caller)?)?;
        let mut state = known.state();
        state.forget_ended(self.clock().now().as_second());
        let chat = caller.chat.as_str();
        let here = state.processes.iter();
        Ok(here
            .filter(|process| process.chat() == chat)
            .map(Arc::clone)
            .collect())
    }

    /// The process of the caller with this id, in whatever conversation it was started.
    pub fn process(&self, caller: &Caller, id: &str) -> Result<Arc<BackgroundProcess>, Error> {
        let known = self.known_processes(&self.tenant(caller)?)?;
        let mut state = known.state();
        state.forget_ended(self.clock().now().as_second());
        let found = state.processes.iter().find(|process| process.id() == id);
        let found = found
            .map(Arc::clone)
            .ok_or_else(|| BackgroundError::NotFound {
                id: id.chars().take(80).collect(),
            });
        Ok(found?)
    }

    /// Ends every process that runs, because the server stops.
    pub fn stop_processes(&self) {
        for process in self.background().running() {
            let ts = self.clock().seconds();
            process.wrote(OutputStream::Stderr, STOPPED.to_owned(), ts);
            process.stop(true);
        }
    }

    /// Waits until what processes changed is entered, at most `patience` long.
    pub fn await_processes(&self, patience: Duration) {
        let (clock, look) = (self.clock(), self.settings().timings.processes.ended_look);
        let deadline = clock.instant() + patience;
        while !self.background().running().is_empty() && !clock.is_past(deadline) {
            clock.sleep(look);
        }
    }

    /// What is known of a tenant. The first look finds the logs that are kept, and the processes
    /// that were cut off by the end of a server.
    pub(super) fn known_processes(
        &self,
        tenant: &TenantRoot,
    ) -> Result<Arc<TenantProcesses>, Error> {
        let known = self.background().of(&tenant.key);
        let mut state = known.state();
        if !state.known {
            state.kept.clear();
            if let Some(logs) = tenant.root.existing_subdirectory(LOGS)? {
                self.look_at_logs(&Arc::new(logs), &mut state)?;
                self.settle_logs(tenant, &mut state)?;
            }
            state.known = true;
        }
        drop(state);
        Ok(known)
    }

    fn look_at_logs(&self, logs: &Arc<Root>, state: &mut TenantState) -> Result<(), Error> {
        let mut live_instances = None;
        let mut cut_off = Vec::new();
        for found in logs.list(&ZonePath::root())? {
            let Some(name) = found.path.name().filter(|_| found.kind == Kind::File) else {
                continue;
            };
            let Some(id) = name.strip_suffix(".jsonl") else {
                // Left by a server that ended while it made a log shorter.
                LogFile::remove(logs, name)?;
                continue;
            };
            let Some(file) = LogFile::open(logs, name)? else {
                continue;
            };
            let known = state.processes.iter().find(|process| process.id() == id);
            if known.is_some_and(|process| process.is_running()) {
                continue;
            }
            let mut ended = found.stat.st_mtime;
            if known.is_none() && !has_end(&file)? {
                if live_instances.is_none() {
                    live_instances = Some(self.live_instances()?);
                }
                let server = server_of(&file)?.unwrap_or_default();
                let is_own = server == self.instance();
                let live_instances = live_instances.iter().flatten();
                if !is_own && live_instances.into_iter().any(|live| *live == server) {
                    continue;
                }
                ended = self.clock().now().as_second();
                cut_off.extend(self.mark_cut_off(logs, id)?);
            }
            state.kept.push_back(KeptLog {
                name: name.to_owned(),
                bytes: file.size(),
                ended,
            });
        }
        state.kept.make_contiguous().sort_by_key(|log| log.ended);
        cut_off.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let cut_off = cut_off.into_iter().map(|(_, process)| process);
        state.processes.extend(cut_off);
        state.processes.sort_by_key(|process| process.started());
        state.forget_ended(self.clock().now().as_second());
        Ok(())
    }

    /// Enters in a log that its process is gone. It is listed as if it had ended when this server
    /// began; among several servers, when one of them noticed.
    fn mark_cut_off(
        &self,
        logs: &Arc<Root>,
        id: &str,
    ) -> Result<Option<(f64, Arc<BackgroundProcess>)>, Error> {
        let Some((mut log, start)) = ProcessLog::reopen(Arc::clone(logs), id)? else {
            return Ok(None);
        };
        let ts = self.clock().seconds();
        log.write(OutputStream::Stderr, CUT_OFF.to_owned(), ts);
        log.end(ProcessStatus::Killed, None, ts);
        let identity = Identity {
            id: id.to_owned(),
            // It runs no more.
            user: None,
            chat: start.chat,
            command: start.command,
            cwd: start.cwd,
            started: start.ts as i64,
        };
        let noticed = if self.shares_terminals() {
            self.clock().now().as_second()
        } else {
            self.opened_at()
        };
        let process = BackgroundProcess::cut_off(identity, log, noticed);
        Ok(Some((start.ts, Arc::new(process))))
    }

    /// The process never began: nothing of it stays.
    pub(super) fn forget_process(&self, tenant: &TenantRoot, id: &str) -> Result<(), Error> {
        let known = self.background().of(&tenant.key);
        known.state().processes.retain(|process| process.id() != id);
        if let Some(logs) = tenant.root.existing_subdirectory(LOGS)? {
            LogFile::remove(&logs, &file_name(id))?;
        }
        Ok(())
    }

    /// The process has ended: its log is one of those that are kept for a while.
    pub(super) fn keep_log(
        &self,
        tenant: &TenantRoot,
        process: &BackgroundProcess,
    ) -> Result<(), Error> {
        let known = self.background().of(&tenant.key);
        let mut state = known.state();
        state.kept.push_back(KeptLog {
            name: file_name(process.id()),
            bytes: process.log_size(),
            ended: self.clock().now().as_second(),
        });
        self.settle_logs(tenant, &mut state)
    }

    /// Removes the logs that are kept no longer, and enters the space of the others.
    fn settle_logs(&self, tenant: &TenantRoot, state: &mut TenantState) -> Result<(), Error> {
        self.forget_logs(tenant, state)?;
        let (bytes, files) = state.log_space();
        let totals = Totals { bytes, files };
        Ok(self.registry().measured(&tenant.key, LOGS, totals)?)
    }

    /// Removes the logs that are kept no longer.
    pub(super) fn forget_logs(
        &self,
        tenant: &TenantRoot,
        state: &mut TenantState,
    ) -> Result<(), Error> {
        let now = self.clock().now().as_second();
        let kept_seconds = self
            .settings()
            .terminal_log_days
            .saturating_mul(SECONDS_OF_DAY);
        let oldest = now.saturating_sub(kept_seconds as i64);
        let expired = state.expired(oldest, space_of_logs(tenant), LOGS_FILES);
        if !expired.is_empty()
            && let Some(logs) = tenant.root.existing_subdirectory(LOGS)?
        {
            for log in expired {
                LogFile::remove(&logs, &log.name)?;
            }
        }
        Ok(())
    }
}

/// Bytes of all logs of a tenant.
fn space_of_logs(tenant: &TenantRoot) -> u64 {
    LOGS_BYTES.min(tenant.limit / 8).max(LOGS_BYTES_LEAST)
}

/// Begins the log of a process.
pub(super) fn begin_log(
    tenant: &TenantRoot,
    state: &mut TenantState,
    (id, start): (&str, StartLine),
) -> Result<Option<ProcessLog>, Error> {
    let logs = match state.logs.upgrade() {
        Some(logs) => logs,
        None => Arc::new(tenant.root.subdirectory(LOGS)?),
    };
    state.logs = Arc::downgrade(&logs);
    ProcessLog::begin(logs, id, start, space_of_logs(tenant) / 4)
}
