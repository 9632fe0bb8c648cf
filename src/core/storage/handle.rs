//! Open directories, what paths lead to below them, and what is at a name in one of them.

use std::ffi::CStr;
use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::{DiskError, rights};
use fileshed_types::zone::ZonePath;

pub(super) const DIRECTORY: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
pub(super) const BENEATH: ResolveFlags = ResolveFlags::BENEATH.union(ResolveFlags::NO_MAGICLINKS);

/// openat2 answers EAGAIN when a rename races with the resolution of `..`, which normalised paths
/// do not hold; a link's target may. A few rounds settle every honest race.
const ROUNDS: usize = 32;

pub(super) fn resolve(
    directory: BorrowedFd<'_>,
    path: impl rustix::path::Arg + Copy,
    flags: OFlags,
    more: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let found = match attempt(directory, path, flags, more) {
        Err(Errno::ACCESS) => {
            let way = path.as_cow_c_str()?;
            let follow = !more.contains(ResolveFlags::NO_SYMLINKS);
            if !rights::clear_way(directory, way.to_bytes(), follow) {
                return Err(Errno::ACCESS);
            }
            attempt(directory, path, flags, more)?
        }
        other => other?,
    };
    if flags.contains(DIRECTORY) {
        rights::keep_usable(&found);
    }
    Ok(found)
}

fn attempt(
    directory: BorrowedFd<'_>,
    path: impl rustix::path::Arg + Copy,
    flags: OFlags,
    more: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let mut last = Errno::AGAIN;
    for _ in 0..ROUNDS {
        match rustix::fs::openat2(directory, path, flags, Mode::empty(), BENEATH | more) {
            Err(Errno::AGAIN) => last = Errno::AGAIN,
            other => return other,
        }
    }
    Err(last)
}

/// A directory whose name need not be UTF-8.
pub(super) fn open_raw(base: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
    resolve(base, path, DIRECTORY, ResolveFlags::NO_SYMLINKS)
}

pub(super) fn clone_handle(directory: &OwnedFd) -> Result<OwnedFd, DiskError> {
    directory
        .try_clone()
        .map_err(|error| DiskError::of("open", &ZonePath::root(), error))
}

/// What `name` in `parent` is, links followed; nothing where there is nothing.
pub(super) fn stat_at_handle(parent: BorrowedFd<'_>, name: &str) -> Result<Option<Stat>, Errno> {
    match rustix::fs::statat(parent, name, AtFlags::empty()) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(error),
    }
}

/// What `name` in `parent` is, not following links; nothing where there is nothing.
pub(super) fn stat_at(
    parent: &OwnedFd,
    name: &str,
    path: &ZonePath,
) -> Result<Option<Stat>, DiskError> {
    match rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(stat)),
        Err(Errno::NOENT) => Ok(None),
        Err(error) => Err(DiskError::of("look at", path, error)),
    }
}
