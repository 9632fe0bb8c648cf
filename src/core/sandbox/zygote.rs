//! The server's side of the zygote (fork server): one process, started with the first job, that is
//! copied for every job.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use super::SandboxError;
use super::cgroup::{Cgroups, LentCgroup, NotDelegated, TreeLimits};
use super::jail::{ARGUMENT, MOST_HANDLES};
use super::job::{JobSpec, StartRequest, ZygoteRequest};
use super::kept_rules::KeptRules;
use super::kernel_accounts::{KernelAccounts, LentAccount};
use fileshed_types::timings::CommandTimings;
use fileshed_types::{Clock, Settings};

/// Starts processes.
#[derive(Debug)]
pub struct Zygote {
    program: PathBuf,
    clock: Clock,
    timings: CommandTimings,
    process: Mutex<Option<Process>>,
    rules: Mutex<KeptRules>,
    /// Where commands are counted as a whole, once it was tried.
    groups: OnceLock<Result<Cgroups, NotDelegated>>,
    /// The kernel accounts of owners of jobs, if they have some of their own.
    accounts: Mutex<Option<KernelAccounts>>,
}

/// What comes to a new process.
pub(super) struct Handles<'a> {
    /// The job spec, read from the handle's position on.
    pub(super) spec: BorrowedFd<'a>,
    pub(super) input: BorrowedFd<'a>,
    pub(super) output: BorrowedFd<'a>,
    pub(super) error: BorrowedFd<'a>,
    /// Its working directory.
    pub(super) directory: BorrowedFd<'a>,
    /// The way into its control group, where it has one.
    pub(super) group: Option<BorrowedFd<'a>>,
    /// The file rules that are kept for its owner, where there are any.
    pub(super) rules: Option<BorrowedFd<'a>>,
}

impl Zygote {
    /// The server's own binary becomes it, at `settings.helper`. What it starts is waited for by this
    /// clock.
    #[must_use]
    pub fn new(settings: &Settings, clock: &Clock) -> Self {
        Self {
            program: settings.helper.clone(),
            clock: clock.clone(),
            timings: settings.timings.commands.clone(),
            process: Mutex::default(),
            rules: Mutex::default(),
            groups: OnceLock::new(),
            accounts: Mutex::default(),
        }
    }

    /// By which clock what it starts is waited for.
    pub(super) fn clock(&self) -> &Clock {
        &self.clock
    }

    /// How long that is.
    pub(super) fn timings(&self) -> &CommandTimings {
        &self.timings
    }

    /// Bounds every command together with all that it starts, where the control group of this
    /// process is its own. For a server, before it starts any process: it moves to another group.
    pub fn claim_cgroups(&self) {
        self.groups.get_or_init(Cgroups::claim);
    }

    /// Whether commands are bounded together with all that they start; if not, why not.
    pub fn bounds_trees(&self) -> Result<(), NotDelegated> {
        match self.groups.get() {
            Some(Ok(_)) => Ok(()),
            Some(Err(why)) => Err(why.clone()),
            None => Cgroups::look(),
        }
    }

    /// A control group with these limits, where commands have any.
    pub(super) fn lend(&self, limits: TreeLimits) -> Result<Option<LentCgroup>, SandboxError> {
        let groups = self.groups.get().and_then(|groups| groups.as_ref().ok());
        let lent = groups.map(|groups| groups.lend(limits));
        lent.transpose().map_err(SandboxError::start)
    }

    /// Gives every owner of jobs a kernel account of its own from now on, or all that of the server.
    pub(super) fn separate_accounts(&self, separate: bool) {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        *accounts = separate.then(KernelAccounts::new);
    }

    /// The kernel account for a job, where owners have accounts of their own.
    pub(super) fn account_for(&self, spec: &JobSpec) -> Option<LentAccount> {
        spec.mounts.as_ref()?;
        let accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        accounts.as_ref()?.lend(&spec.owner)
    }

    /// The binary itself, where it lies.
    pub(super) fn file(&self) -> PathBuf {
        std::fs::canonicalize(&self.program).unwrap_or_else(|_| self.program.clone())
    }

    /// The file rules that are kept for the owner of a job.
    pub(super) fn rules_for(&self, spec: &JobSpec) -> Result<Option<OwnedFd>, SandboxError> {
        let mut rules = self.rules.lock().unwrap_or_else(PoisonError::into_inner);
        let rules = rules.of(spec).map_err(std::io::Error::other);
        rules.map_err(SandboxError::start)
    }

    /// Ends the job with most watches of epoll: for a server that cannot watch a new connection,
    /// because the account has none left. Nothing happens where no job has many.
    pub fn end_most_watches(&self) -> Result<(), SandboxError> {
        let request = encoded(&ZygoteRequest::EndMostWatches)?;
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        let socket = process.as_ref().and_then(|process| process.socket.as_ref());
        if let Some(socket) = socket {
            rustix::net::send(socket, &request, SendFlags::NOSIGNAL)
                .map_err(|error| SandboxError::start(error.into()))?;
        }
        Ok(())
    }

    /// Starts a process. The socket that is returned tells its end: four bytes, its status as a
    /// number in the machine's byte order, or nothing where the zygote itself has ended. A byte that
    /// is sent asks the process to end; closing the socket, or its writing side, ends it.
    pub(super) fn start(
        &self,
        mut request: StartRequest,
        handles: &Handles<'_>,
    ) -> Result<OwnedFd, SandboxError> {
        request.has_group = handles.group.is_some();
        request.has_rules = handles.rules.is_some();
        let request = encoded(&ZygoteRequest::Start(request))?;
        let (ours, theirs) = pair()?;
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &*process {
            match running.send(&request, handles, &theirs) {
                Ok(()) => return Ok(ours),
                // It lives, with all that it has started.
                Err(error @ SandboxError::Exhausted(_)) => return Err(error),
                Err(_) => {}
            }
        }
        // The first job, or the first since the zygote was killed.
        *process = None;
        let started = Process::start(&self.program)?;
        started.send(&request, handles, &theirs)?;
        *process = Some(started);
        Ok(ours)
    }
}

/// The zygote while it lives.
#[derive(Debug)]
struct Process {
    /// Taken to end it.
    socket: Option<OwnedFd>,
    child: Child,
}

impl Process {
    fn start(program: &std::path::Path) -> Result<Self, SandboxError> {
        let (ours, theirs) = pair()?;
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
        Ok(Self {
            socket: Some(ours),
            child,
        })
    }

    fn send(
        &self,
        request: &[u8],
        handles: &Handles<'_>,
        answer: &OwnedFd,
    ) -> Result<(), SandboxError> {
        let more = handles.group.into_iter().chain(handles.rules);
        let handles = [
            answer.as_fd(),
            handles.spec,
            handles.input,
            handles.output,
            handles.error,
            handles.directory,
        ];
        let handles: Vec<_> = handles.into_iter().chain(more).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_HANDLES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&handles));
        let Some(socket) = &self.socket else {
            return Ok(());
        };
        rustix::net::sendmsg(
            socket,
            &[IoSlice::new(request)],
            &mut control,
            SendFlags::NOSIGNAL,
        )
        .map_err(|error| SandboxError::start(error.into()))?;
        Ok(())
    }
}

impl Drop for Process {
    /// The end of the socket ends the zygote and its copies.
    fn drop(&mut self) {
        self.socket = None;
        let _collected = self.child.wait();
    }
}

fn encoded(request: &ZygoteRequest) -> Result<Vec<u8>, SandboxError> {
    serde_json::to_vec(request).map_err(|error| SandboxError::start(error.into()))
}

fn pair() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|error| SandboxError::start(error.into()))
}
