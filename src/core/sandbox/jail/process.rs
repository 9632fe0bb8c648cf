//! Processes: a copy of this one, the program that it becomes, and the first one of a namespace, its init.
//! When an init ends, the kernel ends all others there, whatever sessions and groups they made.
//!
//! A command cannot be that itself, since the kernel keeps most signals from an init. So it is the
//! second, and the init waits for it and tells the server.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions, WaitStatus};

use super::{FAILED, SOCKET, signals};
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

/// Starts the command, and ends when it has ended, with everything that it left behind. Comes back in the
/// process of the command, which is to become its program.
pub(super) fn lead(answer: &OwnedFd) -> io::Result<()> {
    let Some(command) = fork(0)? else {
        return Ok(());
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

/// Everything that the exec needs.
pub(super) struct Executable {
    arguments: Vec<CString>,
    environment: Vec<CString>,
    /// The number that the filter lets through.
    pub(super) descriptor: i32,
}

/// The highest number that the program's descriptor gets. A command can open no file under it:
/// its limit of open files is lower.
const HIGHEST_DESCRIPTOR: u64 = 900;

impl Executable {
    pub(super) fn new(
        file: &Path,
        name: &str,
        arguments: &[String],
        environment: &[(String, String)],
    ) -> io::Result<Self> {
        let text = |value: String| CString::new(value);
        let arguments = std::iter::once(name).chain(arguments.iter().map(String::as_str));
        let environment = environment.iter();
        let environment = environment.map(|(name, value)| format!("{name}={value}"));
        let file = std::fs::File::open(file)?;
        let descriptor = highest_descriptor()?;
        duplicate(&file, descriptor, libc::O_CLOEXEC)?;
        Ok(Self {
            arguments: arguments
                .map(str::to_owned)
                .map(text)
                .collect::<Result<_, _>>()?,
            environment: environment.map(text).collect::<Result<_, _>>()?,
            descriptor,
        })
    }

    /// Becomes the program, which has its limits from the start. Comes back only in failure.
    pub(super) fn execute(&self, limited: impl Fn() -> io::Result<()>) -> io::Error {
        let pointers = |texts: &[CString]| -> Vec<*const libc::c_char> {
            texts
                .iter()
                .map(|text| text.as_ptr())
                .chain([std::ptr::null()])
                .collect()
        };
        let (arguments, environment) = (pointers(&self.arguments), pointers(&self.environment));
        if let Err(error) = limited() {
            return error;
        }
        // SAFETY: both lists end with a null pointer and point into strings that live in `self`;
        // the path is empty and static, the descriptor is open.
        #[expect(unsafe_code, reason = "no safe crate has execveat")]
        unsafe {
            libc::syscall(
                libc::SYS_execveat,
                self.descriptor,
                c"".as_ptr(),
                arguments.as_ptr(),
                environment.as_ptr(),
                libc::AT_EMPTY_PATH,
            );
        }
        io::Error::last_os_error()
    }
}

/// Leaves a socket open for the program and all that it starts, under the number by which they know it. Does
/// nothing if no process may have so high a number.
pub(super) fn leave_open(socket: &OwnedFd) -> io::Result<()> {
    if highest_descriptor()? > SOCKET {
        duplicate(socket, SOCKET, 0)?;
    }
    Ok(())
}

/// Duplicates a descriptor to a number by which a filter or programs know it.
fn duplicate(from: &impl AsRawFd, number: i32, flags: i32) -> io::Result<()> {
    // SAFETY: duplicates an open descriptor to a number that nothing in this fresh process uses; no
    // memory is involved.
    #[expect(unsafe_code, reason = "no safe crate duplicates to a number")]
    let duplicate = unsafe { libc::dup3(from.as_raw_fd(), number, flags) };
    checked(duplicate.into()).map(drop)
}

/// The number for the program: the highest that this machine allows a process to have.
fn highest_descriptor() -> Result<i32, io::Error> {
    let limit = rustix::process::getrlimit(Resource::Nofile);
    let most = limit.maximum.unwrap_or(u64::MAX);
    let highest = HIGHEST_DESCRIPTOR.min(most.saturating_sub(1));
    if limit.current.is_some_and(|current| current <= highest) {
        let raised = Rlimit {
            current: Some(highest + 1),
            ..limit
        };
        rustix::process::setrlimit(Resource::Nofile, raised)?;
    }
    i32::try_from(highest).map_err(io::Error::other)
}

/// Opens a handle on a new process, which is ended if there is none to be had.
pub(super) fn handle_of(pid: Pid) -> io::Result<OwnedFd> {
    let opened = rustix::process::pidfd_open(pid, PidfdFlags::empty());
    if opened.is_err() {
        rustix::process::kill_process(pid, Signal::KILL)?;
        rustix::process::waitpid(Some(pid), WaitOptions::empty())?;
    }
    Ok(opened?)
}

/// The namespaces that a process has of its own: files, processes, the name of the machine, and a
/// network where it is asked for. Accounts, too, unless it makes that namespace when it takes the
/// account of its job.
pub(super) fn namespaces(in_network: bool, takes_account: bool) -> i32 {
    let mut all = libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWUTS;
    if !takes_account {
        all |= libc::CLONE_NEWUSER;
    }
    if in_network {
        all |= libc::CLONE_NEWNET;
    }
    all
}
