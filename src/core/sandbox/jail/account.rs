//! The account of a process, and the kernel account of a job: a number that only jobs of its owner
//! have at the time.
//!
//! The kernel counts by account: watches of epoll, descriptors on their way, processes, signals that
//! wait, pages of pipes. With accounts of their own, no owner takes these from another.
//! On disk files belong to the account of the server all the same: the mounts of a job translate one
//! number into the other (`MOUNT_ATTR_IDMAP`), and in its namespace of accounts a
//! job has the number of the server.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};

use rustix::fs::{FileType, OFlags};
use rustix::process::{DumpableBehavior, Gid, Uid, WaitOptions, set_dumpable_behavior};
use rustix::thread::{CapabilitySets, UnshareFlags};

use super::process::{exit, fork};
use crate::descriptor::{open, open_at};

/// The directory of a process in /proc.
pub(super) fn directory_of(process: &str) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    Ok(open(format!("/proc/{process}"), flags)?)
}

/// Account under which a process runs.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProcessAccount {
    pub(super) user: Uid,
    pub(super) group: Gid,
}

impl ProcessAccount {
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
        // A process that is not dumpable cannot write these files of its own.
        set_dumpable_behavior(DumpableBehavior::Dumpable)?;
        let mapped = self.write_maps(process, outside);
        set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
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
            let file = open_at(process, file, OFlags::WRONLY)?;
            File::from(file).write_all(text.as_bytes())?;
        }
        Ok(())
    }
}

/// The account of one job.
pub(super) struct KernelAccount {
    pub(super) user: Uid,
    map: OwnedFd,
    /// Its process in `/proc` of the host, which is out of sight by the time that it takes the
    /// account.
    process: OwnedFd,
}

impl KernelAccount {
    /// Makes an account with the map that the zygote has for this number.
    pub(super) fn new(number: u32, map: OwnedFd) -> io::Result<Self> {
        Ok(Self {
            user: Uid::from_raw(number),
            map,
            process: directory_of("self")?,
        })
    }

    /// The map by which mounts translate.
    pub(super) fn map(&self) -> BorrowedFd<'_> {
        self.map.as_fd()
    }

    /// Makes this the account of a process that still has every right of root, in a new namespace in
    /// which it is `shown` and no other account is there. The kernel forgets with which other process
    /// it is to end.
    pub(super) fn take(&self, shown: ProcessAccount) -> io::Result<()> {
        let user = self.user;
        self.own_pipes()?;
        // Some machines let only the privileged make namespaces.
        rustix::thread::set_keep_capabilities(true)?;
        rustix::thread::set_thread_res_uid(user, user, user)?;
        let kept = rustix::thread::capabilities(None)?;
        let in_force = CapabilitySets {
            effective: kept.permitted,
            ..kept
        };
        rustix::thread::set_capabilities(None, in_force)?;
        // SAFETY: no descriptors are unshared.
        #[expect(unsafe_code, reason = "unsafe for the sake of other flags")]
        unsafe {
            rustix::thread::unshare_unsafe(UnshareFlags::NEWUSER)?;
        }
        shown.map(&self.process, user)
    }

    /// Gives the account the pipes of its streams: a program that opens its own by name has to own
    /// them.
    fn own_pipes(&self) -> io::Result<()> {
        let streams = [
            rustix::stdio::stdin(),
            rustix::stdio::stdout(),
            rustix::stdio::stderr(),
        ];
        for stream in streams {
            let stat = rustix::fs::fstat(stream)?;
            if FileType::from_raw_mode(stat.st_mode) == FileType::Fifo {
                rustix::fs::fchown(stream, Some(self.user), None)?;
            }
        }
        Ok(())
    }
}

/// The maps of all accounts that the zygote has given to jobs: as many as there were owners with jobs
/// at the same time.
#[derive(Default)]
pub(super) struct AccountMaps(Vec<(u32, OwnedFd)>);

impl AccountMaps {
    /// The map from `own` to the account of this number.
    pub(super) fn of(&mut self, number: u32, own: ProcessAccount) -> io::Result<OwnedFd> {
        if let Some((_, map)) = self.0.iter().find(|(known, _)| *known == number) {
            return map.try_clone();
        }
        let map = make_map(number, own)?;
        self.0.push((number, map.try_clone()?));
        Ok(map)
    }
}

/// A map is a namespace of accounts, and needs a process in it to be made.
fn make_map(number: u32, own: ProcessAccount) -> io::Result<OwnedFd> {
    let (mut reader, writer) = io::pipe()?;
    let Some(holder) = fork(libc::CLONE_NEWUSER)? else {
        drop(writer);
        let _is_made = reader.read(&mut [0]);
        exit(0)
    };
    let made = directory_of(&holder.as_raw_pid().to_string()).and_then(|holder| {
        own.write_maps(&holder, Uid::from_raw(number))?;
        Ok(open_at(&holder, "ns/user", OFlags::RDONLY)?)
    });
    drop(writer);
    rustix::process::waitpid(Some(holder), WaitOptions::empty())?;
    made
}
