//! Permission bits that the server needs, restored if a command removed them.
//!
//! All files belong to the server's account, whoever wrote them. A server that does not run as root is
//! itself bound by the bits that a command removes: from a directory above a file, or from a whole zone.
//! So the server restores the bits that it needs when it meets such an entry. Every directory that it
//! opens can be listed, entered and written afterwards, and every file that it opens can be read. Bits
//! are set on open handles, never on names, and no link is followed that path resolution does not
//! follow.

use std::collections::VecDeque;
use std::ffi::CString;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, Stat};
use rustix::io::Errno;
use rustix::path::Arg;

use super::kind::{Kind, kind_of};

/// Permission bits that the server needs on a file, and on a directory.
pub(super) const FILE: u32 = 0o600;
pub(super) const DIRECTORY: u32 = 0o700;

/// Permission bits that the server needs to read a file.
pub(super) const READ: u32 = 0o400;

/// Set-user-id and its like.
pub(super) const SPECIAL: u32 = 0o7000;

/// Links on one way, as the kernel counts them.
const LINKS: usize = 40;

/// Directories above the present one that `..` in a link may lead back to.
const ABOVE: usize = 64;

/// Restores the bits that the server needs on an open directory. Returns `true` if that changed any; an
/// entry of another account stays as it is.
pub(super) fn keep_usable(directory: impl AsFd) -> bool {
    let directory = directory.as_fd();
    rustix::fs::fstat(directory).is_ok_and(|stat| {
        let mode = stat.st_mode & 0o7777;
        mode & DIRECTORY != DIRECTORY
            && rustix::fs::fchmod(directory, Mode::from_raw_mode(mode | DIRECTORY)).is_ok()
    })
}

/// Restores the bits `needed` on a file or a directory, never on the target of a link. Returns `true` if
/// that changed any.
pub(super) fn give(parent: impl AsFd, name: impl Arg, needed: u32) -> bool {
    look_at(parent, name).is_ok_and(|(handle, stat)| {
        matches!(kind_of(&stat), Kind::File | Kind::Directory) && add(&handle, &stat, needed)
    })
}

/// Restores the bits that moving these names needs: on their directories, and on those names that are
/// directories.
pub(super) fn give_to_move(names: [(&OwnedFd, &str); 2]) -> bool {
    for (parent, name) in names {
        keep_usable(parent);
        let is_directory = |(_, stat): &(_, Stat)| kind_of(stat) == Kind::Directory;
        if let Some((handle, stat)) = look_at(parent, name).ok().filter(is_directory) {
            add(&handle, &stat, DIRECTORY);
        }
    }
    true
}

/// Sets the permission bits of an entry. A link is not followed.
pub(super) fn set_mode(parent: impl AsFd, name: &str, mode: u32) -> Result<(), Errno> {
    let (handle, _) = look_at(parent, name)?;
    set_mode_of(&handle, mode)
}

/// Opens the entry of a name, without any right on it.
fn look_at(parent: impl AsFd, name: impl Arg) -> Result<(OwnedFd, Stat), Errno> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = rustix::fs::openat(parent, name, flags, Mode::empty())?;
    let stat = rustix::fs::fstat(&handle)?;
    Ok((handle, stat))
}

/// Adds bits that are missing. Returns `true` if that changed anything.
fn add(handle: &OwnedFd, stat: &Stat, needed: u32) -> bool {
    let mode = stat.st_mode & 0o7777;
    mode & needed != needed && set_mode_of(handle, mode | needed).is_ok()
}

/// Sets the bits of what was opened without rights. The kernel's name of the handle stands for
/// exactly that.
fn set_mode_of(handle: &OwnedFd, mode: u32) -> Result<(), Errno> {
    let name = format!("/proc/self/fd/{}", handle.as_raw_fd());
    rustix::fs::chmod(name, Mode::from_raw_mode(mode))
}

/// Restores the bits that the server needs on every directory of a path below `base`, as far as the path
/// exists. Follows links only if `follow` is set, and never above `base`. Returns `true` if that changed
/// any.
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
        let Ok((handle, stat)) = look_at(here, &word) else {
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

/// Tries something again if rights were taken away, and `give` gave them back.
pub(super) fn with_rights<T>(
    give: impl FnOnce() -> bool,
    attempt: impl Fn() -> Result<T, Errno>,
) -> Result<T, Errno> {
    match attempt() {
        Err(Errno::ACCESS) if give() => attempt(),
        other => other,
    }
}
