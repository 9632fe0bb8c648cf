//! Renames, on file systems that cannot do all of them in one call.
//!
//! The kernel itself checks in the same call that a name is free, or lets two names exchange their
//! entries (renameat2(2) with `RENAME_NOREPLACE` or `RENAME_EXCHANGE`). NFS and some file systems in
//! user space answer `EINVAL` to both. There a file gets its new name by a link, which fails if the name
//! is taken, and then loses the old one. A directory is renamed by a plain call, which the kernel allows
//! onto an empty directory only. An effect that takes several calls can be cut off between them. A
//! caller for whom that matters uses the forms `…_at_once`, and writes down its plan if they return
//! `false`.

use std::os::fd::OwnedFd;

use rustix::fs::{AtFlags, RenameFlags, Stat};
use rustix::io::Errno;

use super::FileIdentity;
use super::kind::{Kind, kind_of};
use super::rights::{give_to_move, with_rights};

/// A name in an open directory.
pub(super) type NamedIn<'a> = (&'a OwnedFd, &'a str);

/// Renames, and replaces the entry that had the new name.
pub(super) fn rename(from: NamedIn<'_>, to: NamedIn<'_>) -> Result<(), Errno> {
    call(from, to, RenameFlags::empty())
}

/// Renames to a free name, in one call. Returns `false`, without effect, if the file system cannot.
pub(super) fn to_free_at_once(from: NamedIn<'_>, to: NamedIn<'_>) -> Result<bool, Errno> {
    match call(from, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL) => {}
        done => return done.map(|()| true),
    }
    if kind_of(&stat(from)?) != Kind::Directory {
        return Ok(false);
    }
    match stat(to) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => rename(from, to).map(|()| true),
        Err(error) => Err(error),
    }
}

/// Renames to a free name. If it is cut off, a file has both names.
pub(super) fn to_free(from: NamedIn<'_>, to: NamedIn<'_>) -> Result<(), Errno> {
    if to_free_at_once(from, to)? {
        return Ok(());
    }
    match link(from, to) {
        // A server of NFS may have done it, lost its answer, and been asked again.
        Err(Errno::EXIST) if is_same(from, to) => {}
        linked => linked?,
    }
    let unlinked = rustix::fs::unlinkat(from.0, from.1, AtFlags::empty());
    if !matches!(unlinked, Ok(()) | Err(Errno::NOENT)) {
        let _back = rustix::fs::unlinkat(to.0, to.1, AtFlags::empty());
        return unlinked;
    }
    Ok(())
}

/// Exchanges the entries of two names in one call. Returns `false`, without effect, if the file system
/// cannot.
pub(super) fn exchange_in_one_call(from: NamedIn<'_>, to: NamedIn<'_>) -> Result<bool, Errno> {
    match call(from, to, RenameFlags::EXCHANGE) {
        Err(Errno::INVAL) => Ok(false),
        done => done.map(|()| true),
    }
}

/// Exchanges the entries of two names, so that each always has one of the two. Returns `false`, without
/// effect, if the file system cannot. If it is cut off, `aside` may be left, with the entry of `to`.
pub(super) fn exchange_at_once(
    from: NamedIn<'_>,
    to: NamedIn<'_>,
    aside: NamedIn<'_>,
) -> Result<bool, Errno> {
    if exchange_in_one_call(from, to)? {
        return Ok(true);
    }
    let is_directory = |name| Ok::<bool, Errno>(kind_of(&stat(name)?) == Kind::Directory);
    if is_directory(from)? || is_directory(to)? {
        return Ok(false);
    }
    link(to, aside)?;
    if let Err(error) = rename(from, to) {
        let _gone = rustix::fs::unlinkat(aside.0, aside.1, AtFlags::empty());
        return Err(error);
    }
    rename(aside, from).map(|()| true)
}

/// Lets two names change what they hold. Cut off, `to` may be free, and `aside` has what it held.
pub(super) fn exchange(
    from: NamedIn<'_>,
    to: NamedIn<'_>,
    aside: NamedIn<'_>,
) -> Result<(), Errno> {
    if exchange_at_once(from, to, aside)? {
        return Ok(());
    }
    rename(to, aside)?;
    if let Err(error) = to_free(from, to) {
        to_free(aside, to)?;
        return Err(error);
    }
    rename(aside, from)
}

/// Gives a file a second name.
pub(super) fn link(from: NamedIn<'_>, to: NamedIn<'_>) -> Result<(), Errno> {
    let attempt = || rustix::fs::linkat(from.0, from.1, to.0, to.1, AtFlags::empty());
    with_rights(|| give_to_move([from, to]), attempt)
}

/// Returns `true` if two names have the same file.
pub(super) fn is_same(one: NamedIn<'_>, other: NamedIn<'_>) -> bool {
    match (stat(one), stat(other)) {
        (Ok(one), Ok(other)) => FileIdentity::of(&one) == FileIdentity::of(&other),
        _ => false,
    }
}

fn call(from: NamedIn<'_>, to: NamedIn<'_>, flags: RenameFlags) -> Result<(), Errno> {
    let attempt = || rustix::fs::renameat_with(from.0, from.1, to.0, to.1, flags);
    with_rights(|| give_to_move([from, to]), attempt)
}

fn stat(name: NamedIn<'_>) -> Result<Stat, Errno> {
    rustix::fs::statat(name.0, name.1, AtFlags::SYMLINK_NOFOLLOW)
}
