//! A copy of this process, and how its end is told.

use std::error::Error;
use std::io;
use std::os::fd::OwnedFd;

use rustix::net::SendFlags;
use rustix::process::{Pid, WaitStatus};

use super::FAILED;
use crate::error::exhausted;

/// A copy of this process, in new namespaces where flags of clone(2) ask for them: its number on
/// the one side, None on the other.
pub(super) fn fork(flags: i32) -> io::Result<Option<Pid>> {
    // SAFETY: without a stack and without shared memory this is fork(2). This process has one
    // thread, so the copy is whole: no lock is held by a thread that it does not have.
    #[expect(unsafe_code, reason = "no safe crate forks")]
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags | libc::SIGCHLD, 0, 0, 0, 0) };
    match pid {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(None),
        _ => Ok(Pid::from_raw(pid as i32)),
    }
}

/// Closes descriptors that nothing in this process owns, or uses any more.
pub(super) fn close(first: u32, last: u32) {
    // SAFETY: takes no pointers; the caller answers for who owns the descriptors.
    #[expect(unsafe_code, reason = "no safe crate closes a range")]
    unsafe {
        libc::close_range(first, last, 0);
    }
}

/// Tells the server how a process ended, unless the server is gone.
pub(super) fn tell(answer: &OwnedFd, status: i32) {
    let _server_is_gone = rustix::net::send(answer, &status.to_ne_bytes(), SendFlags::NOSIGNAL);
}

/// Tells the server the number of the first process of a job.
pub(super) fn tell_start(answer: &OwnedFd, first: Pid) {
    let [a, b, c, d] = first.as_raw_pid().to_ne_bytes();
    let message = [STARTED, a, b, c, d];
    let _server_is_gone = rustix::net::send(answer, &message, SendFlags::NOSIGNAL);
}

/// Begins the message of a start, which is longer than that of an end.
pub(crate) const STARTED: u8 = 1;

/// Tells the server that a job cannot be started, if that is because a counted resource is used up.
pub(super) fn tell_exhausted(answer: &OwnedFd, error: &(dyn Error + 'static)) {
    if let Some(error) = exhausted(error) {
        // All of them are below 128.
        let message = [EXHAUSTED, error.raw_os_error() as u8];
        let _server_is_gone = rustix::net::send(answer, &message, SendFlags::NOSIGNAL);
    }
}

/// Begins the message of a job that could not be started; the kernel's error follows.
pub(crate) const EXHAUSTED: u8 = 2;

/// Exit status, or the negative number of the signal that ended a process.
pub(super) fn number(status: WaitStatus) -> i32 {
    status
        .exit_status()
        .or_else(|| status.terminating_signal().map(|signal| -signal))
        .unwrap_or(i32::from(FAILED))
}
