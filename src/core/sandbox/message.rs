//! Messages between the server, the zygote and the processes of jobs: datagrams with descriptors.
//! Requests are JSON; events, which the zygote writes, are a few bytes.

use std::error::Error;
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::io::Errno;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags,
    SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketFlags, SocketType,
};
use serde::{Deserialize, Serialize};

use super::error::exhausted;
use super::job::{Access, CountedMemory, Job, JobSpec, NetworkAccess};

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
    /// A way into a control group comes with it.
    has_group: bool,
    /// File rules come with it.
    has_rules: bool,
    /// The map of its kernel account comes with it, to a process that waited.
    #[serde(default)]
    has_map: bool,
    /// The kernel account of its owner, where owners have accounts of their own.
    #[serde(default)]
    pub(crate) account: Option<u32>,
    /// The jail that it needs, where one may be made before the job is there.
    pub(crate) kind: Option<JailKind>,
}

/// Properties that jobs share if the same spare jail can do them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JailKind {
    /// `true` if every program of the machine may be executed.
    pub(crate) any_program: bool,
    /// The network of the jail.
    pub(crate) network: NetworkAccess,
    /// Memory that is bounded.
    pub(crate) counted: CountedMemory,
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
            counted: spec.limits.counted,
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
    /// Describes a job, without its handles.
    pub(crate) fn new(spec: &JobSpec) -> Self {
        let in_namespaces = spec.mounts.is_some();
        let is_program = matches!(spec.job, Job::Program { .. });
        Self {
            in_namespaces,
            in_network: in_namespaces && spec.access.network != NetworkAccess::None,
            makes_groups: spec.makes_groups,
            has_group: false,
            has_rules: false,
            has_map: false,
            account: None,
            kind: (in_namespaces && is_program && !spec.probe).then(|| JailKind::of(spec, false)),
        }
    }

    /// Sends the request with the handles of its job.
    pub(crate) fn send(self, socket: impl AsFd, handles: &JobHandles<impl AsFd>) -> io::Result<()> {
        let request = ZygoteRequest::Start(Self {
            has_group: handles.group.is_some(),
            has_rules: handles.rules.is_some(),
            has_map: handles.map.is_some(),
            ..self
        });
        send(socket, &serde_json::to_vec(&request)?, &handles.all())
    }
}

/// A job spec as it is written for the process that reads it.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct WrittenJob<S> {
    /// The path of its working directory for a process that has other mounts than the one that opened
    /// it; empty if that process needs none.
    pub(crate) place: PathBuf,
    /// The job.
    pub(crate) spec: S,
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
    /// The file rules that are kept for its owner, where there are any.
    pub(crate) rules: Option<F>,
    /// The map of its kernel account, where it has one of its own.
    pub(crate) map: Option<F>,
}

impl<F: AsFd> JobHandles<F> {
    /// Returns all of them, in the order in which they are sent.
    fn all(&self) -> Vec<BorrowedFd<'_>> {
        let always = [
            &self.answer,
            &self.spec,
            &self.input,
            &self.output,
            &self.error,
            &self.directory,
        ];
        let more = self.group.iter().chain(&self.rules).chain(&self.map);
        always.into_iter().chain(more).map(AsFd::as_fd).collect()
    }
}

impl JobHandles<OwnedFd> {
    fn new(request: &StartRequest, handles: Vec<OwnedFd>) -> io::Result<Self> {
        let mut handles = handles.into_iter();
        let mut next = || handles.next().ok_or(io::ErrorKind::InvalidData);
        Ok(Self {
            answer: next()?,
            spec: next()?,
            input: next()?,
            output: next()?,
            error: next()?,
            directory: next()?,
            group: request.has_group.then(&mut next).transpose()?,
            rules: request.has_rules.then(&mut next).transpose()?,
            map: request.has_map.then(&mut next).transpose()?,
        })
    }
}

/// Message to the zygote, or to a process that waits for a job.
pub(crate) enum IncomingMessage {
    /// A job.
    Start(StartRequest, JobHandles<OwnedFd>),
    /// [`ZygoteRequest::EndMostWatches`]
    EndMostWatches,
    /// A job whose handles are more than this process may have open. Its server was told, unless not
    /// even the first of them came.
    Cut,
}

impl IncomingMessage {
    /// Receives the next message on standard input; `None` at its end.
    pub(crate) fn receive() -> io::Result<Option<Self>> {
        let received = ReceivedMessage::from(rustix::stdio::stdin())?;
        if received.text.is_empty() {
            return Ok(None);
        }
        if received.is_cut {
            if let Some(answer) = received.handles.first() {
                tell_exhausted(answer, &io::Error::from(Errno::MFILE));
            }
            return Ok(Some(Self::Cut));
        }
        Ok(Some(match serde_json::from_slice(&received.text)? {
            ZygoteRequest::EndMostWatches => Self::EndMostWatches,
            ZygoteRequest::Start(request) => {
                let handles = JobHandles::new(&request, received.handles)?;
                Self::Start(request, handles)
            }
        }))
    }
}

/// Event of a job, as the server is told of it.
#[derive(Debug)]
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

/// First bytes of events but the end, which is four bytes alone.
const LISTENING: u8 = 0;
const STARTED: u8 = 1;
const EXHAUSTED: u8 = 2;

impl JobEvent {
    /// Sends the event with descriptors.
    pub(crate) fn send(&self, answer: &OwnedFd, handles: &[BorrowedFd<'_>]) -> io::Result<()> {
        match self {
            Self::Listening => send(answer, &[LISTENING], handles),
            Self::Started(first) => {
                let [a, b, c, d] = first.to_ne_bytes();
                send(answer, &[STARTED, a, b, c, d], handles)
            }
            // All of the kernel's errors that are told are below 128.
            Self::Exhausted(error) => send(answer, &[EXHAUSTED, *error as u8], handles),
            Self::Ended(status) => send(answer, &status.to_ne_bytes(), handles),
        }
    }

    /// Tells the server, unless the server is gone.
    pub(crate) fn tell(&self, answer: &OwnedFd) {
        let _server_is_gone = self.send(answer, &[]);
    }

    /// Reads an event; `None` if the text is none.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        match *text {
            [LISTENING] => Some(Self::Listening),
            [STARTED, a, b, c, d] => Some(Self::Started(i32::from_ne_bytes([a, b, c, d]))),
            [EXHAUSTED, error] => Some(Self::Exhausted(error.into())),
            [a, b, c, d] => Some(Self::Ended(i32::from_ne_bytes([a, b, c, d]))),
            _ => None,
        }
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
