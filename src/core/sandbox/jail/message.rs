//! What comes to the zygote, and to a process that waits for a job: a few bytes, and handles.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags};

/// The handles that come with an opcode, in this order: the job spec, standard input, output and
/// error, the working directory, and the socket for the answer. After them comes the way into a
/// control group, where the process has one.
pub(crate) const HANDLES: usize = 6;

/// Descriptors that go to a process that waits: those of a job, a way into a control group, file rules.
pub(super) const MOST_HANDLES: usize = HANDLES + 2;

/// The next message on standard input, and its handles; None at its end.
pub(super) fn receive() -> io::Result<Option<(Vec<u8>, Vec<OwnedFd>)>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_HANDLES))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut message = vec![0; LONGEST_MESSAGE];
    let received = rustix::net::recvmsg(
        rustix::stdio::stdin(),
        &mut [io::IoSliceMut::new(&mut message)],
        &mut control,
        RecvFlags::CMSG_CLOEXEC,
    )?;
    if received.bytes == 0 {
        return Ok(None);
    }
    message.truncate(received.bytes);
    let handles = control.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(handles) => Some(handles),
        _ => None,
    });
    let handles = handles.flatten().collect();
    Ok(Some((message, handles)))
}

/// An opcode, and at most a path.
const LONGEST_MESSAGE: usize = 1 + libc::PATH_MAX as usize;
