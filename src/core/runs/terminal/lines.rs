//! The lines of a caller that run in the background: their start, their list, and how long their logs
//! are kept.

use std::sync::Arc;

use jiff::Timestamp;

use super::LOGS;
use super::shell::ShellRequest;
use super::thread::{ServerEnds, start_thread};
use crate::processes::{
    BackgroundError, Identity, KeptLog, LogsState, OutputStream, Process, ProcessLog,
    ProcessStatus, StartLine, Streams, TenantLogs, file_name, has_end, server_of,
};
use crate::runs::Runs;
use fileshed_sandbox::StandardStreams;
use fileshed_storage::{DiskError, Kind, LogFile, Root, Totals};
use fileshed_types::fair::{CallSlot, Full};
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{BinNotes, Caller, Chat, Error, Mutex, UserId, ZonePath, random};
use fileshed_zones::tenant::TenantRoot;
use fileshed_zones::view::ViewPath;

/// Bytes of all logs of a tenant: so many, or a part of its quota if that is small.
const LOGS_BYTES: u64 = 64 * MEBIBYTE;

/// Number of logs of a tenant.
const LOGS_FILES: u64 = 1000;

/// Least space of all logs.
const LOGS_BYTES_LEAST: u64 = MEBIBYTE;

/// Last words in the log of a line that did not end by itself.
const CUT_OFF: &str = "cut off by a restart of the server\n";

const SECONDS_OF_DAY: u64 = 86_400;

/// Random bytes of an id.
const ID_BYTES: usize = 6;

/// A line for the shell.
#[derive(Debug)]
pub struct CommandRequest {
    /// The line.
    pub command: String,
    /// The directory in which it begins.
    pub cwd: ViewPath,
    /// Variables beyond the usual ones.
    pub environment: Vec<(String, String)>,
}

impl Runs {
    /// Starts a line of the caller in the background. Makes all checks first; later failures are in
    /// the log of the line.
    pub fn start_line(
        self: &Arc<Self>,
        caller: &Caller,
        request: CommandRequest,
    ) -> Result<Arc<Process>, Error> {
        let tenant = TenantRoot {
            place: CallSlot::default(),
            ..self.store.tenant(caller)?
        };
        let (line, streams, ends) = self.enter_line(caller, &tenant, &request)?;
        // It lives longer than the call.
        let lasting = Caller {
            session: None,
            cancellation: caller.cancellation.detached(),
            place: CallSlot::default(),
            bin_notes: BinNotes::default(),
            ..caller.clone()
        };
        let request = ShellRequest {
            cwd: request.cwd,
            command: Some(request.command),
            environment: request.environment,
            streams,
        };
        let root = tenant.try_clone()?;
        let at_end = move |runs: &Runs, line: &Arc<Process>| {
            if let Err(error) = runs.keep_log(&root, line) {
                tracing::warn!(%error, "the size of a process log could not be recorded");
            }
            runs.store.changed();
        };
        let started = start_thread(self, lasting, &line, request, ends, None, at_end);
        if started.is_err() {
            // The process and its log are removed again.
            self.processes.remove(&line);
            if let Some(logs) = tenant.root.existing_subdirectory(LOGS)? {
                logs.remove_file(&file_name(line.id()))?;
            }
        }
        started.map(|()| line)
    }

    /// Enters a line that is about to run, with its log and the ends of its pipes.
    pub(super) fn enter_line(
        &self,
        caller: &Caller,
        tenant: &TenantRoot,
        request: &CommandRequest,
    ) -> Result<(Arc<Process>, StandardStreams, ServerEnds), Error> {
        let logs = self.known_logs(tenant)?;
        let mut state = logs.state();
        let limit = self.store.settings.terminal_max_processes;
        let place = self.processes.lines.try_take(&tenant.key);
        let place = place.map_err(|full| match full {
            Full::User => BackgroundError::TooMany { limit },
            Full::All => BackgroundError::Full,
        })?;
        self.forget_logs(tenant, &mut state)?;
        let start = StartLine {
            command: request.command.clone(),
            cwd: request.cwd.as_str().to_owned(),
            chat: caller.chat.as_str().to_owned(),
            server: self.store.instance.name.clone(),
            ts: self.store.clock.seconds(),
        };
        let directory = match state.directory.upgrade() {
            Some(directory) => directory,
            None => Arc::new(tenant.root.subdirectory(LOGS)?),
        };
        state.directory = Arc::downgrade(&directory);
        let most_bytes = space_of_logs(tenant) / 4;
        let (id, log) = loop {
            let id = hex::encode(random::bytes::<ID_BYTES>()?);
            let directory = Arc::clone(&directory);
            if let Some(log) = ProcessLog::begin(directory, &id, start.clone(), most_bytes)? {
                break (id, log);
            }
        };
        let pipe = || std::io::pipe().map_err(DiskError::server);
        let ((input, ours), (stdout, output), (stderr, error)) = (pipe()?, pipe()?, pipe()?);
        rustix::io::ioctl_fionbio(&ours, true).map_err(DiskError::server)?;
        let identity = identity(tenant, id, &start, caller.user.clone());
        let pipes = Streams::Pipes {
            log: Mutex::new(log),
            input: Mutex::new(Some(ours.into())),
        };
        let chat = caller.chat.clone();
        let line = Arc::new(Process::begin(
            identity,
            chat,
            pipes,
            place,
            &self.store.clock,
        )?);
        self.processes.enter(&line);
        let theirs = StandardStreams {
            input: input.into(),
            output: output.into(),
            error: error.into(),
        };
        let ends = ServerEnds::Pipes([stdout.into(), stderr.into()]);
        Ok((line, theirs, ends))
    }

    /// Returns the lines of this conversation that run or ended lately, in the order in which they were
    /// started.
    pub fn lines(&self, caller: &Caller) -> Result<Vec<Arc<Process>>, Error> {
        let mut lines = self.all_lines(caller)?;
        lines.retain(|line| line.is_of(&caller.chat));
        Ok(lines)
    }

    /// Returns the line of the caller with this id, in whatever conversation it was started.
    pub fn line(&self, caller: &Caller, id: &str) -> Result<Arc<Process>, Error> {
        let lines = self.all_lines(caller)?;
        let found = lines.into_iter().find(|line| line.id() == id);
        let not_found = || BackgroundError::NotFound {
            id: id.chars().take(80).collect(),
        };
        Ok(found.ok_or_else(not_found)?)
    }

    fn all_lines(&self, caller: &Caller) -> Result<Vec<Arc<Process>>, Error> {
        let tenant = self.store.tenant(caller)?;
        self.known_logs(&tenant)?;
        Ok(self.processes.lines(&tenant.key))
    }

    /// Returns what is known of the logs of a tenant. The first look finds those that are kept, and the
    /// lines that were cut off by the end of a server.
    pub fn known_logs(&self, tenant: &TenantRoot) -> Result<Arc<TenantLogs>, Error> {
        let known = self.processes.logs_of(&tenant.key);
        let mut state = known.state();
        if !state.known {
            state.kept.clear();
            if let Some(logs) = tenant.root.existing_subdirectory(LOGS)? {
                self.look_at_logs(tenant, &Arc::new(logs), &mut state)?;
                self.settle_logs(tenant, &mut state)?;
            }
            state.known = true;
        }
        drop(state);
        Ok(known)
    }

    fn look_at_logs(
        &self,
        tenant: &TenantRoot,
        logs: &Arc<Root>,
        state: &mut LogsState,
    ) -> Result<(), Error> {
        let lines = self.processes.lines(&tenant.key);
        let mut live_instances = None;
        let mut cut_off = Vec::new();
        for found in logs.list(&ZonePath::root())? {
            let Some(name) = found.path.name().filter(|_| found.kind == Kind::File) else {
                continue;
            };
            let Some(id) = name.strip_suffix(".jsonl") else {
                // Left by a server that ended while it made a log shorter.
                logs.remove_file(name)?;
                continue;
            };
            let Some(file) = LogFile::open(logs, name)? else {
                continue;
            };
            let known = lines.iter().find(|line| line.id() == id);
            if known.is_some_and(|line| line.is_running()) {
                continue;
            }
            let mut ended = found.stat.st_mtime;
            if known.is_none() && !has_end(&file)? {
                if live_instances.is_none() {
                    live_instances = Some(self.store.instance.live_instances()?);
                }
                let server = server_of(&file)?.unwrap_or_default();
                let mut live_instances = live_instances.iter().flatten();
                if server != self.store.instance.name && live_instances.any(|live| *live == server)
                {
                    continue;
                }
                ended = self.store.clock.now().as_second();
                cut_off.extend(self.mark_cut_off(tenant, logs, id)?);
            }
            state.kept.push_back(KeptLog {
                name: name.to_owned(),
                bytes: file.size(),
                ended,
            });
        }
        state.kept.make_contiguous().sort_by_key(|log| log.ended);
        cut_off.sort_by(|(a, _), (b, _)| f64::total_cmp(a, b));
        for (_, line) in &cut_off {
            self.processes.enter(line);
        }
        Ok(())
    }

    /// Enters in a log that its line is gone. It is listed as if it had ended when this server
    /// began; among several servers, when one of them noticed.
    fn mark_cut_off(
        &self,
        tenant: &TenantRoot,
        logs: &Arc<Root>,
        id: &str,
    ) -> Result<Option<(f64, Arc<Process>)>, Error> {
        let Some((mut log, start)) = ProcessLog::reopen(Arc::clone(logs), id)? else {
            return Ok(None);
        };
        let ts = self.store.clock.seconds();
        log.write(OutputStream::Stderr, CUT_OFF.to_owned(), ts);
        log.end(ProcessStatus::Killed, None, ts);
        let identity = identity(tenant, id.to_owned(), &start, None);
        let noticed = if self.shares_terminals() {
            self.store.clock.now().as_second()
        } else {
            self.store.opened_at
        };
        let chat = Chat::new(&start.chat);
        let line = Process::cut_off(identity, chat, log, noticed, &self.store.clock);
        Ok(Some((start.ts, Arc::new(line))))
    }

    /// Keeps the log of a line that has ended for a while.
    pub(super) fn keep_log(&self, tenant: &TenantRoot, line: &Process) -> Result<(), Error> {
        let logs = self.processes.logs_of(&tenant.key);
        let mut state = logs.state();
        state.kept.push_back(KeptLog {
            name: file_name(line.id()),
            bytes: line.log_size(),
            ended: self.store.clock.now().as_second(),
        });
        self.settle_logs(tenant, &mut state)
    }

    /// Removes the logs that are kept no longer, and enters the space of the others.
    fn settle_logs(&self, tenant: &TenantRoot, state: &mut LogsState) -> Result<(), Error> {
        self.forget_logs(tenant, state)?;
        let (bytes, files) = self.processes.log_space(&tenant.key, state);
        let totals = Totals { bytes, files };
        Ok(self.store.registry.measured(&tenant.key, LOGS, totals)?)
    }

    /// Removes the logs that are kept no longer.
    fn forget_logs(&self, tenant: &TenantRoot, state: &mut LogsState) -> Result<(), Error> {
        let now = self.store.clock.now().as_second();
        let kept_days = self.store.settings.terminal_log_days;
        let oldest = now.saturating_sub(kept_days.saturating_mul(SECONDS_OF_DAY) as i64);
        let space = self.processes.log_space(&tenant.key, state);
        let expired = state.expired(oldest, space, (space_of_logs(tenant), LOGS_FILES));
        if !expired.is_empty()
            && let Some(logs) = tenant.root.existing_subdirectory(LOGS)?
        {
            for log in expired {
                logs.remove_file(&log.name)?;
            }
        }
        Ok(())
    }
}

/// The unchanging facts about a line.
fn identity(tenant: &TenantRoot, id: String, start: &StartLine, user: Option<UserId>) -> Identity {
    Identity {
        id,
        tenant: tenant.key.clone(),
        user,
        command: start.command.clone(),
        cwd: start.cwd.clone(),
        started: Timestamp::from_second(start.ts as i64).unwrap_or_default(),
    }
}

/// Bytes of all logs of a tenant.
fn space_of_logs(tenant: &TenantRoot) -> u64 {
    LOGS_BYTES.min(tenant.limit / 8).max(LOGS_BYTES_LEAST)
}

#[cfg(test)]
mod tests;
