//! Removing whole trees, whatever commands made of them.

use std::os::fd::OwnedFd;
use std::sync::atomic::Ordering;

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::COUNTER;
use crate::handle::stat_at;
use crate::kind::kind_of;
use crate::{DiskError, Kind, rights};
use fileshed_types::zone::ZonePath;

/// A command may take rights on its own directories away; where that was the error, they are
/// given back.
fn grant(error: Errno, parent: &OwnedFd, name: impl rustix::path::Arg) -> Result<(), Errno> {
    if error == Errno::ACCESS && rights::give(parent, name, 0o700) {
        Ok(())
    } else {
        Err(error)
    }
}

/// Removes `name` and everything below it. Directories inside are first moved up beside it, so
/// that any depth takes a handful of handles and links are never followed.
pub(crate) fn remove_tree(parent: &OwnedFd, name: &str) -> Result<(), DiskError> {
    let path = ZonePath::root();
    let fail = |error: Errno| DiskError::of("delete", &path, error);
    let Some(stat) = stat_at(parent, name, &path)? else {
        return Ok(());
    };
    if kind_of(&stat) != Kind::Directory {
        return rustix::fs::unlinkat(parent, name, AtFlags::empty()).map_err(fail);
    }
    let (mut directories, mut most) = (vec![name.to_owned()], usize::MAX);
    remove_directories(parent, name, &mut directories, &mut most)
}

/// Removes directories that were of `name`, with everything below them, until so many entries are
/// gone. Those that are left then stay listed.
pub(super) fn remove_directories(
    parent: &OwnedFd,
    name: &str,
    directories: &mut Vec<String>,
    most: &mut usize,
) -> Result<(), DiskError> {
    let path = ZonePath::root();
    let fail = |error: Errno| DiskError::of("delete", &path, error);
    while let Some(directory) = directories.pop() {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let open = || rustix::fs::openat(parent, &*directory, flags, Mode::empty());
        let handle = open()
            .or_else(|error| {
                grant(error, parent, &directory)?;
                open()
            })
            .map_err(fail)?;
        rustix::fs::fchmod(&handle, Mode::RWXU).map_err(fail)?;
        let listing = rustix::fs::Dir::read_from(&handle).map_err(fail)?;
        for item in listing.flatten() {
            let child = item.file_name();
            if matches!(child.to_bytes(), b"." | b"..") {
                continue;
            }
            if *most == 0 {
                directories.push(directory);
                return Ok(());
            }
            *most -= 1;
            match rustix::fs::unlinkat(&handle, child, AtFlags::empty()) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(Errno::ISDIR | Errno::PERM) => {
                    let lifted = format!("{name}.{}", COUNTER.fetch_add(1, Ordering::Relaxed));
                    let lift = || rustix::fs::renameat(&handle, child, parent, &*lifted);
                    lift()
                        .or_else(|error| {
                            grant(error, &handle, child)?;
                            lift()
                        })
                        .map_err(fail)?;
                    directories.push(lifted);
                }
                Err(error) => return Err(fail(error)),
            }
        }
        match rustix::fs::unlinkat(parent, &*directory, AtFlags::REMOVEDIR) {
            // It goes with what a later process sweeps.
            Err(Errno::NOTEMPTY | Errno::EXIST) if has_unclosed_only(&handle) => {}
            removed => removed.map_err(fail)?,
        }
    }
    Ok(())
}

/// Whether a directory of NFS has nothing but names of files that were removed while they were open: the
/// client keeps those until they are closed.
fn has_unclosed_only(directory: &OwnedFd) -> bool {
    let Ok(listing) = rustix::fs::Dir::read_from(directory) else {
        return false;
    };
    listing.flatten().all(|item| {
        let name = item.file_name().to_bytes();
        matches!(name, b"." | b"..") || name.starts_with(b".nfs")
    })
}
