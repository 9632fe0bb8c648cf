//! Descriptors: opened, compared, waited for, and how many of them this process may have.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
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

/// Returns the path of an open directory. A process in other namespaces finds the same directory
/// there, while a descriptor leads to the mounts of the process that opened it. Fails if another
/// directory, or none, has the path by now.
pub(crate) fn path_of(directory: BorrowedFd<'_>) -> io::Result<PathBuf> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd()))?;
    expect_same(directory, &rustix::fs::stat(&path)?)?;
    Ok(path)
}

/// Fails if another directory was found than the one that is open.
pub(crate) fn expect_same(directory: BorrowedFd<'_>, found: &rustix::fs::Stat) -> io::Result<()> {
    let wanted = rustix::fs::fstat(directory)?;
    if (wanted.st_dev, wanted.st_ino) == (found.st_dev, found.st_ino) {
        Ok(())
    } else {
        Err(io::Error::other("another directory has its name"))
    }
}

/// Directories as they were found: a file in one of them that is replaced is another file.
#[derive(Debug)]
pub(crate) struct FoundDirectories(Vec<(PathBuf, DirectoryStamp)>);

/// Identity and modification time of a directory, if it exists: equal as long as no name in it was
/// made or removed.
type DirectoryStamp = Option<(u64, u64, i64, u64)>;

impl FoundDirectories {
    /// Looks at directories.
    pub(crate) fn find<'a>(directories: impl IntoIterator<Item = &'a Path>) -> Self {
        let found = |path: &Path| (path.to_owned(), stamp_of(path));
        Self(directories.into_iter().map(found).collect())
    }

    /// Returns `true` if no name was made or removed in any of them.
    pub(crate) fn are_current(&self) -> bool {
        self.0.iter().all(|(path, stamp)| stamp_of(path) == *stamp)
    }
}

fn stamp_of(directory: &Path) -> DirectoryStamp {
    let stat = rustix::fs::stat(directory).ok()?;
    Some((stat.st_dev, stat.st_ino, stat.st_mtime, stat.st_mtime_nsec))
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
