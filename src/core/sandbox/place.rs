//! The path of an open directory, for a process in other namespaces, which finds the same one there: a
//! handle leads to the mounts of where it was opened.

use std::io;
use std::os::fd::{AsRawFd as _, BorrowedFd};
use std::path::PathBuf;

/// Returns the path. Fails where another directory, or none, has it by now.
pub(super) fn place_of(directory: BorrowedFd<'_>) -> io::Result<PathBuf> {
    let place = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd()))?;
    expect_same(directory, &rustix::fs::stat(&place)?)?;
    Ok(place)
}

/// Fails if another directory was found than the one that is open.
pub(super) fn expect_same(directory: BorrowedFd<'_>, found: &rustix::fs::Stat) -> io::Result<()> {
    let wanted = rustix::fs::fstat(directory)?;
    if (wanted.st_dev, wanted.st_ino) == (found.st_dev, found.st_ino) {
        Ok(())
    } else {
        Err(io::Error::other("another directory has its name"))
    }
}
