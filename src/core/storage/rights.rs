//! Permission bits that the server needs, whatever a command made of them.
//!
//! All files belong to the server's account, whoever wrote them. A server that is not root's is
//! itself held by the bits that a command takes away: from a directory on the way to a file, from
//! a whole zone. So what is needed is given back where it is met: every directory that is opened
//! can be listed, entered and written afterwards, every file that is opened can be read. Rights
//! are set on what is already open, never on a name, and no link is followed that the way itself
//! does not follow.

use std::collections::VecDeque;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::kind::{Kind, kind_of};

/// What the server needs of a file, and of a directory.
pub(super) const FILE: u32 = 0o600;
pub(super) const DIRECTORY: u32 = 0o700;

/// What the server needs of a file to read it.
pub(super) const READ: u32 = 0o400;

/// Set-user-id and its like.
pub(super) const SPECIAL: u32 = 0o7000;

/// Links on one way, as the kernel counts them.
const LINKS: usize = 40;

/// Directories above the present one that `..` in a link may lead back to.
const ABOVE: usize = 64;

/// Gives the server back what it needs of an open directory. Whether that changed anything: what
/// belongs to another account stays as it is.
pub(super) fn keep_usable(directory: impl AsFd) -> bool {
    let directory = directory.as_fd();
    rustix::fs::fstat(directory).is_ok_and(|stat| {
        let mode = stat.st_mode & 0o7777;
        mode & DIRECTORY != DIRECTORY
            && rustix::fs::fchmod(directory, Mode::from_raw_mode(mode | DIRECTORY)).is_ok()
    })
}

/// Gives the server back `needed` of what `name` is in `parent`: of a file or a directory, never
/// of what a link leads to. Whether that changed anything.
pub(super) fn give(parent: impl AsFd, name: impl rustix::path::Arg, needed: u32) -> bool {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(handle) = rustix::fs::openat(parent, name, flags, Mode::empty()) else {
        return false;
    };
    let Ok(stat) = rustix::fs::fstat(&handle) else {
        return false;
    };
    matches!(kind_of(&stat), Kind::File | Kind::Directory) && add(&handle, &stat, needed)
}

/// Adds bits to what a handle names that was opened without rights. The kernel's name of the
/// handle stands for exactly that.
fn add(handle: &OwnedFd, stat: &Stat, needed: u32) -> bool {
    let mode = stat.st_mode & 0o7777;
    if mode & needed == needed {
        return false;
    }
    let name = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::chmod(name, Mode::from_raw_mode(mode | needed)).is_ok()
}

/// Gives the server back what it needs of every directory on a way below `base`, as far as the
/// way leads; through links only where `follow` says so, and never above `base`. Whether that
/// changed anything.
pub(super) fn clear_way(base: BorrowedFd<'_>, way: &[u8], follow: bool) -> bool {
    let words = |text: &[u8]| -> Vec<CString> {
        text.split(|byte| *byte == b'/')
            .rev()
            .filter_map(|word| CString::new(word).ok())
            .collect()
    };
    let mut given = keep_usable(base);
    let mut pending = words(way);
    let mut above: VecDeque<OwnedFd> = VecDeque::new();
    let mut links = 0;
    while let Some(word) = pending.pop() {
        match word.to_bytes() {
            b"" | b"." => continue,
            b".." if above.pop_back().is_some() => continue,
            b".." => break,
            _ => {}
        }
        let here = above.back().map_or(base, AsFd::as_fd);
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(handle) = rustix::fs::openat(here, &word, flags, Mode::empty()) else {
            break;
        };
        let Ok(stat) = rustix::fs::fstat(&handle) else {
            break;
        };
        match kind_of(&stat) {
            Kind::Directory => {
                given |= add(&handle, &stat, DIRECTORY);
                if above.len() == ABOVE {
                    above.pop_front();
                }
                above.push_back(handle);
            }
            Kind::Symlink if follow && links < LINKS => {
                links += 1;
                match rustix::fs::readlinkat(&handle, "", Vec::new()) {
                    Ok(target) if !target.to_bytes().starts_with(b"/") => {
                        pending.extend(words(target.to_bytes()));
                    }
                    _ => break,
                }
            }
            _ => break,
        }
    }
    given
}

/// Tries what moves something from one name to another; where rights were taken away, they are given
/// back first: a directory that moves elsewhere must be writable itself.
pub(super) fn with_rights(
    names: [(&OwnedFd, &str); 2],
    attempt: impl Fn() -> Result<(), Errno>,
) -> Result<(), Errno> {
    match attempt() {
        Err(Errno::ACCESS) => {
            for (parent, name) in names {
                keep_usable(parent);
                give_directory(parent, name);
            }
            attempt()
        }
        other => other,
    }
}

fn give_directory(parent: &OwnedFd, name: &str) {
    let stat = rustix::fs::statat(parent, name, AtFlags::SYMLINK_NOFOLLOW);
    if stat.is_ok_and(|stat| kind_of(&stat) == Kind::Directory) {
        give(parent, name, DIRECTORY);
    }
}
