//! What comes to the zygote, and to a process that waits for a job: a [`ZygoteRequest`], and handles.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;
use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags};

use super::fork::tell_exhausted;
use crate::job::{StartRequest, ZygoteRequest};

/// The handles that come with every job, in this order: the socket for the answer, the job spec,
/// standard input, output and error, and the working directory. After them come the way into a
/// control group, file rules and the map of an account, as the request says.
pub(crate) const HANDLES: usize = 6;

/// Most handles of one job.
pub(crate) const MOST_HANDLES: usize = HANDLES + 3;

/// What came.
pub(super) enum Incoming {
    /// A job.
    Start {
        request: StartRequest,
        handles: JobHandles,
    },
    /// [`ZygoteRequest::EndMostWatches`]
    EndMostWatches,
    /// A job whose handles are more than this process may have open. Its server was told, unless not
    /// even the first of them came.
    Cut,
}

/// What a new process gets.
pub(super) struct JobHandles {
    /// Those that come with every job.
    pub(super) fixed: [OwnedFd; HANDLES],
    pub(super) group: Option<OwnedFd>,
    pub(super) rules: Option<OwnedFd>,
    pub(super) map: Option<OwnedFd>,
}

impl JobHandles {
    fn new(request: &StartRequest, mut handles: Vec<OwnedFd>) -> io::Result<Self> {
        let mut pop = |is_there: bool| is_there.then(|| handles.pop()).flatten();
        let (map, rules) = (pop(request.has_map), pop(request.has_rules));
        let group = pop(request.has_group);
        let fixed = handles.try_into().map_err(|_| io::ErrorKind::InvalidData)?;
        Ok(Self {
            fixed,
            group,
            rules,
            map,
        })
    }

    /// All of them, in the order in which they came.
    pub(super) fn all(&self) -> Vec<BorrowedFd<'_>> {
        let more = self.group.iter().chain(&self.rules).chain(&self.map);
        self.fixed.iter().chain(more).map(AsFd::as_fd).collect()
    }

    /// The working directory.
    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.fixed[5].as_fd()
    }

    /// Where the server waits for the end.
    pub(super) fn answer(&self) -> &OwnedFd {
        &self.fixed[0]
    }

    /// The same.
    pub(super) fn into_answer(self) -> OwnedFd {
        let [answer, ..] = self.fixed;
        answer
    }
}

/// The next message on standard input; `None` at its end.
pub(super) fn receive() -> io::Result<Option<Incoming>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_HANDLES))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut text = vec![0; LONGEST_MESSAGE];
    let received = rustix::net::recvmsg(
        rustix::stdio::stdin(),
        &mut [io::IoSliceMut::new(&mut text)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    if received.bytes == 0 {
        return Ok(None);
    }
    text.truncate(received.bytes);
    let handles = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(handles) => Some(handles),
        _ => None,
    });
    let handles: Vec<OwnedFd> = handles.flatten().collect();
    if received.flags.contains(ReturnFlags::CTRUNC) {
        if let Some(answer) = handles.first() {
            tell_exhausted(answer, &io::Error::from(Errno::MFILE));
        }
        return Ok(Some(Incoming::Cut));
    }
    Ok(Some(match serde_json::from_slice(&text)? {
        ZygoteRequest::EndMostWatches => Incoming::EndMostWatches,
        ZygoteRequest::Start(request) => Incoming::Start {
            handles: JobHandles::new(&request, handles)?,
            request,
        },
    }))
}

/// More than any request takes.
const LONGEST_MESSAGE: usize = 1024;
