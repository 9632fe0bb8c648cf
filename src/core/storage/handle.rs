//! Open directories and files: opened by a name in a directory or by a path below it, made, looked at.

use std::ffi::CStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;

use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use rustix::path::Arg;

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
    path: impl Arg + Copy,
    flags: OFlags,
    more: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    let clear_way = || {
        let follow = !more.contains(ResolveFlags::NO_SYMLINKS);
        let way = path.as_cow_c_str();
        way.is_ok_and(|way| rights::clear_way(directory, way.to_bytes(), follow))
    };
    let found = rights::with_rights(clear_way, || attempt(directory, path, flags, more))?;
    if flags.contains(DIRECTORY) {
        rights::keep_usable(&found);
    }
    Ok(found)
}

fn attempt(
    directory: BorrowedFd<'_>,
    path: impl Arg + Copy,
    flags: OFlags,
    more: ResolveFlags,
) -> Result<OwnedFd, Errno> {
    for _ in 0..ROUNDS {
        match rustix::fs::openat2(directory, path, flags, Mode::empty(), BENEATH | more) {
            Err(Errno::AGAIN) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

/// Opens a name in a directory. A link is not followed; the handle is closed by an exec.
pub(super) fn open_at(parent: impl AsFd, name: impl Arg, flags: OFlags) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, Mode::empty())
}

/// Makes a file under a name that nothing has, to be read and written.
pub(super) fn create_at(parent: impl AsFd, name: impl Arg, mode: Mode) -> Result<File, Errno> {
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    rustix::fs::openat(parent, name, flags, mode).map(File::from)
}

/// Returns the result of a call; `None` if the name that it was about is not there.
pub(super) fn if_there<T>(result: Result<T, Errno>) -> Result<Option<T>, Errno> {
    match result {
        Err(Errno::NOENT) => Ok(None),
        result => result.map(Some),
    }
}

/// Returns the path under which the kernel knows an open file or directory.
pub(super) fn path_of(handle: impl AsFd) -> std::io::Result<PathBuf> {
    std::fs::read_link(format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd()))
}

/// Opens a directory whose name need not be UTF-8.
pub(super) fn open_raw(base: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
    resolve(base, path, DIRECTORY, ResolveFlags::NO_SYMLINKS)
}

pub(super) fn clone_handle(directory: &OwnedFd) -> Result<OwnedFd, DiskError> {
    directory
        .try_clone()
        .map_err(|error| DiskError::of("open", &ZonePath::root(), error))
}

/// Returns the state of `name` in `parent`, links not followed; `None` if nothing is there.
pub(super) fn stat_at(
    parent: impl AsFd,
    name: &str,
    path: &ZonePath,
) -> Result<Option<Stat>, DiskError> {
    let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
    if_there(stat).map_err(|error| DiskError::of("look at", path, error))
}

/// File systems on which nobody but this kernel changes anything, and which keep in memory what they
/// read: ext, XFS, btrfs, tmpfs, overlayfs, ZFS, F2FS, bcachefs (statfs(2)).
const LOCAL: [u64; 8] = [
    0xef53,
    0x5846_5342,
    0x9123_683e,
    0x0102_1994,
    0x794c_7630,
    0x2fc1_2fc1,
    0xf2f5_2010,
    0xca45_1a4e,
];

/// Returns `true` if nobody but this kernel changes what lies there.
pub(super) fn is_local(handle: impl AsFd) -> Result<bool, Errno> {
    let system = rustix::fs::fstatfs(handle)?;
    Ok(LOCAL.contains(&(system.f_type as u64)))
}
