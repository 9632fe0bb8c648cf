//! The account of a process.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;

use rustix::fs::{CWD, Mode, OFlags};
use rustix::process::{DumpableBehavior, Gid, Uid};

/// Whether other processes of the account may read this one. A command is not of the zygote, of its
/// init and of its supervisor: they may be in its namespaces, and under the same file rules.
pub(super) fn set_dumpable(is_dumpable: bool) -> io::Result<()> {
    let behavior = if is_dumpable {
        DumpableBehavior::Dumpable
    } else {
        DumpableBehavior::NotDumpable
    };
    Ok(rustix::process::set_dumpable_behavior(behavior)?)
}

/// The directory of a process in /proc.
pub(super) fn directory_of(process: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let place = format!("/proc/{process}");
    Ok(rustix::fs::openat(CWD, place, flags, Mode::empty())?)
}

/// Under which account a process runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Account {
    pub(super) user: Uid,
    pub(super) group: Gid,
}

impl Account {
    /// The one of this process.
    pub(super) fn own() -> Self {
        Self {
            user: rustix::process::getuid(),
            group: rustix::process::getgid(),
        }
    }

    /// Makes this account the only one of the new namespace of this process, whose directory in /proc
    /// is `process`. Outside it is `outside`.
    pub(super) fn map(self, process: &OwnedFd, outside: Uid) -> io::Result<()> {
        // Whoever cannot be read cannot write these either.
        set_dumpable(true)?;
        let mapped = self.write_maps(process, outside);
        set_dumpable(false)?;
        mapped
    }

    /// The same for another process.
    pub(super) fn write_maps(self, process: &OwnedFd, outside: Uid) -> io::Result<()> {
        let map = |id: u32, outside: u32| format!("{id} {outside} 1");
        let group = self.group.as_raw();
        // A group map without rights needs that groups cannot be changed (user_namespaces(7)).
        for (file, text) in [
            ("setgroups", "deny".to_owned()),
            ("uid_map", map(self.user.as_raw(), outside.as_raw())),
            ("gid_map", map(group, group)),
        ] {
            let flags = OFlags::WRONLY | OFlags::CLOEXEC;
            let file = rustix::fs::openat(process, file, flags, Mode::empty())?;
            File::from(file).write_all(text.as_bytes())?;
        }
        Ok(())
    }
}
