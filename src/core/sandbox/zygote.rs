//! The server's side of the zygote (fork server): one process, started with the first job, that is
//! copied for every job.

use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::OnceLock;

use super::SandboxError;
use super::cgroup::{Cgroups, LentCgroup, NotDelegated};
use super::jail::ARGUMENT;
use super::job::{Job, JobSpec};
use super::kernel_accounts::{KernelAccounts, LentAccount};
use super::message::{self, JobHandles, StartRequest, ZygoteRequest, pair};
use fileshed_types::timings::CommandTimings;
use fileshed_types::{Clock, Mutex, Settings};

/// Starts processes.
#[derive(Debug)]
pub struct Zygote {
    program: PathBuf,
    /// The clock by which jobs are waited for.
    pub(super) clock: Clock,
    pub(super) timings: CommandTimings,
    process: Mutex<Option<ZygoteProcess>>,
    /// Control groups in which commands are counted as a whole, once it was tried.
    groups: OnceLock<Result<Cgroups, NotDelegated>>,
    /// The kernel accounts of owners of jobs, if they have some of their own.
    accounts: Mutex<Option<KernelAccounts>>,
}

impl Zygote {
    /// Prepares the zygote: the server's own binary, at `settings.helper`. `clock` measures the time of waits
    /// for its jobs.
    #[must_use]
    pub fn new(settings: &Settings, clock: &Clock) -> Self {
        Self {
            program: settings.helper.clone(),
            clock: clock.clone(),
            timings: settings.timings.commands.clone(),
            process: Mutex::default(),
            groups: OnceLock::new(),
            accounts: Mutex::default(),
        }
    }

    /// Bounds every command together with all that it starts, where the control group of this
    /// process is its own. For a server, before it starts any process: it moves to another group.
    pub fn claim_cgroups(&self) {
        self.groups.get_or_init(Cgroups::claim);
    }

    /// Returns `Ok` if commands are bounded together with all that they start, or else the reason.
    pub fn bounds_trees(&self) -> Result<(), NotDelegated> {
        match self.groups.get() {
            Some(Ok(_)) => Ok(()),
            Some(Err(why)) => Err(why.clone()),
            None => Cgroups::look(),
        }
    }

    /// Lends a control group to a program, if commands have any. A built-in job starts nothing, and
    /// its own limits hold it.
    pub(super) fn group_for(&self, spec: &JobSpec) -> Result<Option<LentCgroup>, SandboxError> {
        if !matches!(spec.job, Job::Program { .. }) || spec.probe {
            return Ok(None);
        }
        let groups = self.groups.get().and_then(|groups| groups.as_ref().ok());
        let lent = groups.map(|groups| groups.lend(spec.limits.memory, spec.limits.processes));
        lent.transpose().map_err(SandboxError::start)
    }

    /// Gives every owner of jobs a kernel account of its own from now on, or all that of the server.
    pub(super) fn separate_accounts(&self, separate: bool) {
        let mut accounts = self.accounts.lock();
        *accounts = separate.then(KernelAccounts::new);
    }

    /// The kernel account for a job, where owners have accounts of their own.
    pub(super) fn account_for(&self, spec: &JobSpec) -> Option<LentAccount> {
        spec.mounts.as_ref()?;
        let accounts = self.accounts.lock();
        accounts.as_ref()?.lend(&spec.owner)
    }

    /// The binary itself, where it lies.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        std::fs::canonicalize(&self.program).unwrap_or_else(|_| self.program.clone())
    }

    /// Ends the job with most watches of epoll, for a server that cannot watch a new connection because the
    /// account has none left. Does nothing if no job has many.
    pub fn end_most_watches(&self) -> Result<(), SandboxError> {
        let process = self.process.lock();
        if let Some(process) = &*process {
            let request = serde_json::to_vec(&ZygoteRequest::EndMostWatches);
            let request = request.map_err(SandboxError::start)?;
            message::send(&process.socket, &request, &[]).map_err(SandboxError::start)?;
        }
        Ok(())
    }

    /// Starts a process. The other end of its answer socket gets every [`message::JobEvent`] of the
    /// job, and is closed where the zygote itself has ended. A byte that is sent there asks the
    /// process to end; closing that end, or its writing side, ends it.
    pub(super) fn start(
        &self,
        request: StartRequest,
        handles: &JobHandles<BorrowedFd<'_>>,
    ) -> Result<(), SandboxError> {
        let mut process = self.process.lock();
        let send = |process: &ZygoteProcess, request: StartRequest| {
            let sent = handles.send(&process.socket, request);
            sent.map_err(SandboxError::start)
        };
        if let Some(running) = &*process {
            let result = send(running, request.clone());
            // It lives, with all that it has started.
            if matches!(result, Ok(()) | Err(SandboxError::Exhausted(_))) {
                return result;
            }
        }
        // The first job, or the first since the zygote was killed.
        *process = None;
        let started = ZygoteProcess::start(&self.program)?;
        send(&started, request)?;
        *process = Some(started);
        Ok(())
    }
}

/// The zygote while it lives.
#[derive(Debug)]
struct ZygoteProcess {
    socket: OwnedFd,
    child: Child,
}

impl ZygoteProcess {
    fn start(program: &std::path::Path) -> Result<Self, SandboxError> {
        let (socket, theirs) = pair().map_err(SandboxError::start)?;
        #[expect(
            clippy::disallowed_methods,
            reason = "the one place that starts processes"
        )]
        let child = std::process::Command::new(program)
            .arg(ARGUMENT)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::from(theirs))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(SandboxError::start)?;
        Ok(Self { socket, child })
    }
}

impl Drop for ZygoteProcess {
    /// The end of the socket ends the zygote and its copies.
    fn drop(&mut self) {
        let _ended = rustix::net::shutdown(&self.socket, rustix::net::Shutdown::Both);
        let _collected = self.child.wait();
    }
}
