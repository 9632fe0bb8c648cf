//! Processes: a copy of this one, and the first of a namespace, its init. When an init ends, the
//! kernel ends all others there, whatever sessions and groups they made.
//!
//! A command cannot be that itself, since the kernel keeps most signals from an init. So it is the
//! second, and the init waits for it and tells the server.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, WaitOptions, WaitStatus};

use super::{FAILED, signals};
use crate::message::JobEvent;

/// Returns the result of a system call, or the kernel's error if it is negative.
pub(super) fn checked(result: i64) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result as i32)
    }
}

/// A copy of this process, in new namespaces where flags of clone(2) ask for them: its number on
/// the one side, None on the other.
pub(super) fn fork(flags: i32) -> io::Result<Option<Pid>> {
    // SAFETY: without a stack and without shared memory this is fork(2). This process has one
    // thread, so the copy is whole: no lock is held by a thread that it does not have.
    #[expect(unsafe_code, reason = "no safe crate forks")]
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags | libc::SIGCHLD, 0, 0, 0, 0) };
    Ok(Pid::from_raw(checked(pid)?))
}

/// Closes descriptors that nothing in this process owns, or uses any more.
pub(super) fn close(first: u32, last: u32) {
    // SAFETY: takes no pointers; the caller answers for who owns the descriptors.
    #[expect(unsafe_code, reason = "no safe crate closes a range")]
    unsafe {
        libc::close_range(first, last, 0);
    }
}

/// Exit status, or the negative number of the signal that ended a process.
pub(super) fn number(status: WaitStatus) -> i32 {
    status
        .exit_status()
        .or_else(|| status.terminating_signal().map(|signal| -signal))
        .unwrap_or(i32::from(FAILED))
}

/// Ends this process, a copy of the zygote.
pub(super) fn exit(status: i32) -> ! {
    #[expect(clippy::exit, reason = "what began as a copy of the zygote ends here")]
    std::process::exit(status)
}

/// Starts the command, and ends when it has ended, with everything that it left behind. Comes back
/// where it could not start: `begin` becomes its program, or says why it cannot.
pub(super) fn lead(answer: &OwnedFd, begin: &mut dyn FnMut() -> io::Error) -> io::Error {
    let command = match borrow(begin) {
        Ok(command) => command,
        Err(error) => return error,
    };
    // The command's streams: whoever reads them waits for their end.
    close(0, 2);
    signals::pass_on();
    let mut ended = None;
    loop {
        match rustix::process::wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == command => {
                ended = Some(number(status));
                signals::send_to_all_others(libc::SIGKILL);
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => break,
        }
    }
    // Nobody is left: what the server does next meets no command.
    if let Some(status) = ended {
        JobEvent::Ended(status).tell(answer);
    }
    exit(0)
}

/// Task of the command's process in memory that is not its own.
struct Borrowed<'a> {
    begin: &'a mut dyn FnMut() -> io::Error,
    failed: Option<io::Error>,
}

extern "C" fn begin(borrowed: *mut libc::c_void) -> libc::c_int {
    // SAFETY: what `borrow` lends, which waits meanwhile.
    #[expect(unsafe_code, reason = "what clone(2) hands on")]
    let borrowed = unsafe { &mut *borrowed.cast::<Borrowed<'_>>() };
    borrowed.failed = Some((borrowed.begin)());
    libc::c_int::from(FAILED)
}

/// A process that has this one's memory until it has become its program; this one waits for that,
/// as with vfork(2). A copy of the memory would be thrown away at once.
fn borrow(become_program: &mut dyn FnMut() -> io::Error) -> io::Result<Pid> {
    let mut stack = Vec::<MaybeUninit<u128>>::with_capacity(STACK);
    let mut borrowed = Borrowed {
        begin: become_program,
        failed: None,
    };
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is the process's own and ends where it begins to use it; it and what is
    // borrowed live until this process goes on, when the other has other memory or none.
    #[expect(unsafe_code, reason = "no safe crate lends memory to a process")]
    let command = unsafe {
        let top = stack.as_mut_ptr().add(STACK);
        let borrowed = std::ptr::from_mut(&mut borrowed);
        libc::clone(begin, top.cast(), flags, borrowed.cast())
    };
    let command = Pid::from_raw(checked(command.into())?);
    match borrowed.failed {
        Some(error) => Err(error),
        None => command.ok_or_else(|| io::ErrorKind::NotFound.into()),
    }
}

/// Stack that the command's process may use until it has memory of its own, in pieces of 16
/// bytes.
const STACK: usize = 64 * 1024 / 16;
