//! The listener of a filter: which calls wait for an answer, and the answers.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::io::Errno;

use crate::jail::process::checked;
use crate::message::ReceivedMessage;

/// The descriptor on which calls wait.
pub(super) struct Listener(OwnedFd);

/// A call that waits.
pub(super) struct TrappedCall(libc::seccomp_notif);

/// Decision about a call.
pub(super) enum Verdict {
    /// The kernel carries it out.
    Continue,
    /// It was carried out, or has nothing to do.
    Done,
    /// It fails with this error.
    Refused(Errno),
}

impl From<Result<(), Errno>> for Verdict {
    fn from(result: Result<(), Errno>) -> Self {
        match result {
            Ok(()) => Self::Done,
            Err(error) => Self::Refused(error),
        }
    }
}

impl TrappedCall {
    /// The number of the call.
    pub(super) fn number(&self) -> i64 {
        i64::from(self.0.data.nr)
    }

    /// The thread that calls.
    pub(super) fn thread(&self) -> u32 {
        self.0.pid
    }

    /// An argument.
    pub(super) fn argument(&self, index: usize) -> u64 {
        self.0.data.args[index]
    }

    /// The lower half of an argument.
    pub(super) fn word(&self, index: usize) -> u32 {
        self.0.data.args[index] as u32
    }
}

impl Listener {
    /// The listener from the command's process; None where it has none.
    pub(super) fn receive(channel: &OwnedFd) -> io::Result<Option<Self>> {
        let mut received = ReceivedMessage::from(channel)?;
        Ok(received.handles.pop().map(Self))
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Takes the next call and answers it.
    pub(super) fn answer(&self, judge: impl FnOnce(&TrappedCall) -> Verdict) -> io::Result<()> {
        // SAFETY: an all-zero notification is valid, and the kernel wants it so.
        #[expect(unsafe_code, reason = "the kernel's own structure, to be filled by it")]
        let mut call: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        match self.control(libc::SECCOMP_IOCTL_NOTIF_RECV, &mut call) {
            Ok(_) => {}
            // The calling process is gone, or a signal came.
            Err(Errno::NOENT | Errno::INTR) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let call = TrappedCall(call);
        let (error, flags) = match judge(&call) {
            Verdict::Continue => (0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32),
            Verdict::Done => (0, 0),
            Verdict::Refused(error) => (-error.raw_os_error(), 0),
        };
        let mut answer = libc::seccomp_notif_resp {
            id: call.0.id,
            val: 0,
            error,
            flags,
        };
        let _caller_is_gone = self.control(libc::SECCOMP_IOCTL_NOTIF_SEND, &mut answer);
        Ok(())
    }

    /// Returns what was found by the number of the thread that calls, if the call still waits. If it
    /// does not, the number may be another's by now.
    pub(super) fn own<T>(&self, call: &TrappedCall, found: T) -> Result<T, Errno> {
        let mut id = call.0.id;
        let waits = self.control(libc::SECCOMP_IOCTL_NOTIF_ID_VALID, &mut id);
        waits.map(|_| found).map_err(|_| Errno::PERM)
    }

    /// Puts a descriptor of this process in the place of one of the caller's.
    pub(super) fn replace(
        &self,
        call: &TrappedCall,
        theirs: u32,
        ours: BorrowedFd<'_>,
        flags: u32,
    ) -> Result<(), Errno> {
        let mut request = libc::seccomp_notif_addfd {
            id: call.0.id,
            flags: libc::SECCOMP_ADDFD_FLAG_SETFD as u32,
            srcfd: ours.as_raw_fd() as u32,
            newfd: theirs,
            newfd_flags: flags,
        };
        self.control(libc::SECCOMP_IOCTL_NOTIF_ADDFD, &mut request)
            .map(|_| ())
    }

    fn control<T>(&self, request: libc::Ioctl, data: &mut T) -> Result<i32, Errno> {
        // SAFETY: each request comes with the structure that it is defined for, which lives
        // through the call.
        #[expect(unsafe_code, reason = "no safe crate answers notifications")]
        let result = unsafe { libc::ioctl(self.0.as_raw_fd(), request, std::ptr::from_mut(data)) };
        let result = checked(result.into());
        result.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))
    }
}
