//! The server's side of the helper: one process for all commands, started with the first.

use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};

use super::ExecError;
use super::jail::{ARGUMENT, HANDLES};

/// Starts commands.
#[derive(Debug)]
pub(crate) struct Helper {
    program: PathBuf,
    process: Mutex<Option<Process>>,
}

/// What a new command gets beside its order.
pub(super) struct Handles<'a> {
    /// The order, from where it stands.
    pub(super) order: BorrowedFd<'a>,
    pub(super) stdout: BorrowedFd<'a>,
    pub(super) stderr: BorrowedFd<'a>,
    /// Where it begins.
    pub(super) directory: BorrowedFd<'a>,
    /// In which namespaces it begins: the word of the helper.
    pub(super) namespaces: u8,
}

impl Helper {
    /// `program` is the server's own binary.
    pub(crate) fn new(program: PathBuf) -> Self {
        Self {
            program,
            process: Mutex::default(),
        }
    }

    /// The binary itself, where it lies.
    pub(super) fn file(&self) -> PathBuf {
        std::fs::canonicalize(&self.program).unwrap_or_else(|_| self.program.clone())
    }

    /// Starts a command. What comes back tells its end: four bytes, its status as a number in the
    /// machine's order, or nothing where the helper itself has ended. Closing it, or its writing
    /// side, ends the command.
    pub(super) fn start(&self, handles: &Handles<'_>) -> Result<OwnedFd, ExecError> {
        let (ours, theirs) = pair()?;
        let mut process = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = &*process
            && running.send(handles, &theirs).is_ok()
        {
            return Ok(ours);
        }
        // The first command, or the first since the helper was killed.
        *process = None;
        let started = Process::start(&self.program)?;
        started.send(handles, &theirs)?;
        *process = Some(started);
        Ok(ours)
    }
}

/// The helper while it lives.
#[derive(Debug)]
struct Process {
    /// Taken to end it.
    socket: Option<OwnedFd>,
    child: Child,
}

impl Process {
    fn start(program: &std::path::Path) -> Result<Self, ExecError> {
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
            .map_err(ExecError::Start)?;
        Ok(Self {
            socket: Some(ours),
            child,
        })
    }

    fn send(&self, handles: &Handles<'_>, answer: &OwnedFd) -> Result<(), ExecError> {
        let word = [handles.namespaces];
        let handles: [_; HANDLES] = [
            handles.order,
            handles.stdout,
            handles.stderr,
            handles.directory,
            answer.as_fd(),
        ];
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(HANDLES))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(&handles));
        let Some(socket) = &self.socket else {
            return Ok(());
        };
        rustix::net::sendmsg(
            socket,
            &[IoSlice::new(&word)],
            &mut control,
            SendFlags::NOSIGNAL,
        )
        .map_err(|error| ExecError::Start(error.into()))?;
        Ok(())
    }
}

impl Drop for Process {
    /// The end of the socket ends it and its commands.
    fn drop(&mut self) {
        self.socket = None;
        let _collected = self.child.wait();
    }
}

fn pair() -> Result<(OwnedFd, OwnedFd), ExecError> {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
    .map_err(|error| ExecError::Start(error.into()))
}
