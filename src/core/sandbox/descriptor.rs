//! Descriptors: opened, compared, waited for, and how many of them this process may have.

use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use rustix::event::{PollFd, Timespec};
use rustix::fs::{CWD, Mode, OFlags};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Assumed limit of descriptors of a process that has none.
const UNLIMITED: u64 = 1 << 20;

/// Opens the file or directory at a path. The descriptor is closed by an exec.
pub(crate) fn open(path: impl Arg, flags: OFlags) -> Result<OwnedFd, Errno> {
    open_at(CWD, path, flags)
}

/// Opens the file or directory at a path below a directory. The descriptor is closed by an exec.
pub(crate) fn open_at(
    directory: impl AsFd,
    path: impl Arg,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    rustix::fs::openat(directory, path, flags | OFlags::CLOEXEC, Mode::empty())
}

/// Waits until one of these is ready or the time is over, without a time limit if `patience` is `None`.
/// A signal does not end the wait. Returns how many are ready.
pub fn poll(watched: &mut [PollFd<'_>], patience: Option<Duration>) -> Result<usize, Errno> {
    let patience = patience.map(|patience| Timespec {
        tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(patience.subsec_nanos()),
    });
    retry_on_intr(|| rustix::event::poll(watched, patience.as_ref()))
}

/// Returns the hard limit of descriptors, to which the soft one can be raised.
#[must_use]
pub fn descriptor_limit() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or(UNLIMITED)
}

/// Raises the soft limit, usually 1024 for the sake of programs that use `select`, to the hard one,
/// and returns it. Commands have a limit of their own.
pub fn raise_descriptor_limit() -> u64 {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let raised = Rlimit {
            current: limit.maximum,
            maximum: limit.maximum,
        };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::warn!(%error, "the limit of open files could not be raised");
        }
    }
    getrlimit(Resource::Nofile).current.unwrap_or(UNLIMITED)
}
