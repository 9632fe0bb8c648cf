//! Messages between the server, the zygote and the processes of jobs: datagrams of JSON with
//! descriptors.

use std::error::Error;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use serde::{Deserialize, Serialize};

use super::error::exhausted;
use super::job::{Access, Job, JobSpec, NetworkAccess};

/// Most descriptors of one message.
const MOST_HANDLES: usize = 9;

/// Longest message in bytes.
const LONGEST: usize = 1024;

/// Request of the server to the zygote.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ZygoteRequest {
    /// Start a job.
    Start(StartRequest),
    /// End the job with most watches of epoll, because the account has none left.
    EndMostWatches,
}

/// All that the zygote is told of a job: how its process begins, and how it is ended. It holds no
/// data of a user, because the memory of the zygote is in every copy.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one job, written out as JSON"
)]
pub(crate) struct StartRequest {
    /// `true` if it runs in namespaces of files and processes, which the machine must offer.
    pub(crate) in_namespaces: bool,
    /// `true` if it has such namespaces and a network of its own.
    pub(crate) in_network: bool,
    /// `true` if processes of it may leave its process group.
    pub(crate) makes_groups: bool,
    /// `true` if a way into a control group comes with it, without which it must not run.
    pub(crate) has_group: bool,
    /// `true` if a socket for removals comes with it.
    #[serde(default)]
    pub(crate) has_removals: bool,
    /// The kernel account of its owner, where owners have accounts of their own.
    pub(crate) account: Option<u32>,
    /// The jail that it takes if one waits; `None` if it takes none that was made before it.
    pub(crate) kind: Option<JailKind>,
}

/// Properties that jobs have in common if the same spare jail can do them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JailKind {
    /// `true` if every program of the machine may be executed.
    pub(crate) any_program: bool,
    /// The network.
    pub(crate) network: NetworkAccess,
    /// `true` if it takes the kernel account of its job.
    #[serde(default)]
    pub(crate) takes_account: bool,
}

impl JailKind {
    /// Returns the kind of jail that a job needs.
    pub(crate) fn of(spec: &JobSpec, takes_account: bool) -> Self {
        Self {
            any_program: spec.access.any_program,
            network: spec.access.network,
            takes_account,
        }
    }

    /// Returns the access to the system, without anything that one job names.
    pub(crate) fn access(&self) -> Access {
        Access {
            any_program: self.any_program,
            network: self.network,
            ..Access::default()
        }
    }
}

impl StartRequest {
    /// Describes a job.
    pub(crate) fn new(spec: &JobSpec, has_group: bool, account: Option<u32>) -> Self {
        let in_namespaces = spec.mounts.is_some();
        let is_program = matches!(spec.job, Job::Program { .. });
        let takes_spare = in_namespaces && is_program && !spec.probe;
        Self {
            in_namespaces,
            in_network: in_namespaces && spec.access.network != NetworkAccess::None,
            makes_groups: spec.makes_groups,
            has_group,
            has_removals: spec.removals.is_some(),
            account,
            kind: takes_spare.then(|| JailKind::of(spec, false)),
        }
    }
}

/// Handles that a new process gets.
pub(crate) struct JobHandles<F> {
    /// Socket on which the server waits for the end.
    pub(crate) answer: F,
    /// The job spec, read from the beginning.
    pub(crate) spec: F,
    /// Standard input.
    pub(crate) input: F,
    /// Standard output.
    pub(crate) output: F,
    /// Standard error.
    pub(crate) error: F,
    /// Its working directory.
    pub(crate) directory: F,
    /// The way into its control group, where it has one.
    pub(crate) group: Option<F>,
    /// The socket by which it asks for removals, if it may.
    pub(crate) removals: Option<F>,
    /// The map of its kernel account, if it takes one: from the zygote, to a process that waits.
    pub(crate) map: Option<F>,
}

impl<F: AsFd> JobHandles<F> {
    /// Sends the request for a job with its handles.
    pub(crate) fn send(&self, socket: impl AsFd, request: StartRequest) -> io::Result<()> {
        let always = [
            &self.answer,
            &self.spec,
            &self.input,
            &self.output,
            &self.error,
            &self.directory,
        ];
        let more = self.group.iter().chain(&self.removals).chain(&self.map);
        let handles = always.into_iter().chain(more).map(AsFd::as_fd);
        let handles: Vec<BorrowedFd<'_>> = handles.collect();
        let request = serde_json::to_vec(&ZygoteRequest::Start(request))?;
        send(socket, &request, &handles)
    }
}

impl JobHandles<OwnedFd> {
    /// Returns the handles that came with a request, if they are all there.
    pub(crate) fn new(handles: Vec<OwnedFd>, request: &StartRequest) -> Option<Self> {
        let mut handles = handles.into_iter();
        let mut next = || handles.next();
        Some(Self {
            answer: next()?,
            spec: next()?,
            input: next()?,
            output: next()?,
            error: next()?,
            directory: next()?,
            group: if request.has_group {
                Some(next()?)
            } else {
                None
            },
            removals: if request.has_removals {
                Some(next()?)
            } else {
                None
            },
            map: next(),
        })
    }
}

/// Receives the next request on standard input, with its descriptors; `None` at the end. A job with more of
/// them than this process may have open comes with none: its server was told, unless not even the first
/// of them came.
pub(crate) fn next_request() -> io::Result<Option<(ZygoteRequest, Vec<OwnedFd>)>> {
    let mut received = ReceivedMessage::from(rustix::stdio::stdin())?;
    if received.text.is_empty() {
        return Ok(None);
    }
    if received.is_cut {
        if let Some(answer) = received.handles.first() {
            tell_exhausted(answer, &io::Error::from(Errno::MFILE));
        }
        received.handles.clear();
    }
    let request = serde_json::from_slice(&received.text)?;
    Ok(Some((request, received.handles)))
}

/// Event of a job, as the server is told of it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum JobEvent {
    /// It has a network of its own, in which the socket that comes along listens.
    Listening,
    /// Its first process has this number.
    Started(i32),
    /// It cannot be started because a counted resource is used up: the kernel's error.
    Exhausted(i32),
    /// It ended, with this status or by this signal, as a negative number.
    Ended(i32),
}

impl JobEvent {
    /// Sends the event with descriptors.
    pub(crate) fn send(&self, answer: &OwnedFd, handles: &[BorrowedFd<'_>]) -> io::Result<()> {
        send(answer, &serde_json::to_vec(self)?, handles)
    }

    /// Tells the server, unless the server is gone.
    pub(crate) fn tell(&self, answer: &OwnedFd) {
        let _server_is_gone = self.send(answer, &[]);
    }
}

/// Tells the server that a job cannot be started, if that is because a counted resource is used up.
pub(crate) fn tell_exhausted(answer: &OwnedFd, error: &(dyn Error + 'static)) {
    if let Some(error) = exhausted(error) {
        JobEvent::Exhausted(error.raw_os_error()).tell(answer);
    }
}

/// Makes two sockets that are connected.
pub(crate) fn pair() -> Result<(OwnedFd, OwnedFd), Errno> {
    rustix::net::socketpair(
        AddressFamily::UNIX,
        SocketType::SEQPACKET,
        SocketFlags::CLOEXEC,
        None,
    )
}

/// Sends a message with descriptors.
pub(crate) fn send(socket: impl AsFd, text: &[u8], handles: &[BorrowedFd<'_>]) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_HANDLES))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !handles.is_empty() {
        control.push(SendAncillaryMessage::ScmRights(handles));
    }
    let flags = SendFlags::NOSIGNAL;
    rustix::net::sendmsg(socket, &[IoSlice::new(text)], &mut control, flags)?;
    Ok(())
}

/// A message as it came.
pub(crate) struct ReceivedMessage {
    /// Empty if the other end is closed.
    pub(crate) text: Vec<u8>,
    /// The descriptors that came with it.
    pub(crate) handles: Vec<OwnedFd>,
    /// `true` if there were more than this process may have open.
    is_cut: bool,
}

impl ReceivedMessage {
    /// Receives the next message.
    pub(crate) fn from(socket: impl AsFd) -> Result<Self, Errno> {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_HANDLES))];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let mut text = vec![0; LONGEST];
        let parts = &mut [IoSliceMut::new(&mut text)];
        let received = rustix::net::recvmsg(socket, parts, &mut control, RecvFlags::CMSG_CLOEXEC)?;
        text.truncate(received.bytes);
        let handles = control.drain().filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(handles) => Some(handles),
            _ => None,
        });
        Ok(Self {
            text,
            handles: handles.flatten().collect(),
            is_cut: received.flags.contains(ReturnFlags::CTRUNC),
        })
    }
}
