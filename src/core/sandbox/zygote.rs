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
use super::jail::{ARGUMENT, HANDLES};
use fileshed_types::timings::CommandTimings;
use fileshed_types::{Clock, Settings};

/// Starts processes.
#[derive(Debug)]
pub struct Zygote {
    program: PathBuf,
    clock: Clock,
    timings: CommandTimings,
    process: Mutex<Option<Process>>,
    /// Where commands are counted as a whole, once it was tried.
    groups: OnceLock<Result<Cgroups, NotDelegated>>,
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
    /// In which namespaces it begins.
    pub(super) opcode: u8,
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
            groups: OnceLock::new(),
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
        lent.transpose().map_err(SandboxError::Start)
    }

    /// The binary itself, where it lies.
    pub(super) fn file(&self) -> PathBuf {
        std::fs::canonicalize(&self.program).unwrap_or_else(|_| self.program.clone())
    }

    /// Starts a process. The socket that is returned tells its end: four bytes, its status as a
    /// number in the machine's byte order, or nothing where the zygote itself has ended. A byte that
    /// is sent asks the process to end; closing the socket, or its writing side, ends it.
    pub(super) fn start(&self, handles: &Handles<'_>) -> Result<OwnedFd, SandboxError> {
        let (ours, theirs) = pair()?;
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &*process
            && running.send(handles, &theirs).is_ok()
        {
            return Ok(ours);
        }
        // The first job, or the first since the zygote was killed.
        *process = None;
        let started = Process::start(&self.program)?;
        started.send(handles, &theirs)?;
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
            .map_err(SandboxError::Start)?;
        Ok(Self {
            socket: Some(ours),
            child,
        })
    }

    fn send(&self, handles: &Handles<'_>, answer: &OwnedFd) -> Result<(), SandboxError> {
        let opcode = [handles.opcode];
        let group = handles.group;
        let handles: [_; HANDLES] = [
            handles.spec,
            handles.input,
            handles.output,
            handles.error,
            handles.directory,
            answer.as_fd(),
        ];
        let handles: Vec<_> = handles.into_iter().chain(group).collect();
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES + 1))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&handles));
        let Some(socket) = &self.socket else {
            return Ok(());
        };
        rustix::net::sendmsg(
            socket,
            &[IoSlice::new(&opcode)],
            &mut control,
            SendFlags::NOSIGNAL,
        )
        .map_err(|error| SandboxError::Start(error.into()))?;
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

fn pair() -> Result<(OwnedFd, OwnedFd), SandboxError> {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|error| SandboxError::Start(error.into()))
}
