//! Places of a mount namespace that are no directory of the host: devices, and what programs of all
//! kinds look for besides.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags};

use super::account::Account;
use super::root::{Root, below};
use crate::access::Access;
use crate::job::{CountedMemory, Limits};

/// Devices that every command has: a file system without devices has them from the host.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/urandom", "/dev/tty"];

/// What others read.
const MORE_DEVICES: [&str; 2] = ["/dev/full", "/dev/random"];

/// Zeros without end, as a device. Who maps it shared has memory that no limit of a process counts.
pub(super) const ZEROS: &str = "/dev/zero";

/// As many zeros as a file can have that stands for the device.
const MANY: u64 = 1 << 42;

/// Where processes of the namespace are told of.
const PROCESSES: &str = "/proc";

/// Where processes share memory by name.
const SHARED_MEMORY: &str = "/dev/shm";

/// Names for a process's own descriptors.
const DESCRIPTORS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// What one mount namespace has.
pub(super) struct OwnPlaces {
    /// Whether for programs of all kinds.
    any_program: bool,
    has_zeros: bool,
}

impl OwnPlaces {
    pub(super) fn new(access: &Access, counted: CountedMemory) -> Self {
        Self {
            any_program: access.any_program,
            has_zeros: counted == CountedMemory::AddressSpace,
        }
    }

    /// Devices of the host.
    pub(super) fn devices(&self) -> impl Iterator<Item = &'static str> {
        let more: &[_] = if self.any_program { &MORE_DEVICES } else { &[] };
        let zeros = self.has_zeros.then_some(ZEROS);
        let all = DEVICES.iter().chain(more).copied().chain(zeros);
        all.filter(|device| Path::new(device).exists())
    }

    /// Makes files and links, and places for what is mounted.
    pub(super) fn furnish(&self, root: &Root, account: Account) -> io::Result<()> {
        if !self.has_zeros {
            make_zeros(root)?;
        }
        if !self.any_program {
            return Ok(());
        }
        for place in [PROCESSES, SHARED_MEMORY] {
            root.make_place_for(Path::new(place), FileType::Directory)?;
        }
        for (name, target) in DESCRIPTORS {
            rustix::fs::symlinkat(target, &root.0, below(Path::new(name)))?;
        }
        let (user, group) = (account.user.as_raw(), account.group.as_raw());
        let accounts = format!("user:x:{user}:{group}::/storage:/bin/sh\n");
        create(root, "/etc/passwd")?.write_all(accounts.as_bytes())
    }

    /// Mounts what is no copy of anything. Processes may share half of the memory of one by name.
    pub(super) fn mount(&self, root: &Root, limits: &Limits) -> io::Result<()> {
        if !self.any_program {
            return Ok(());
        }
        let size = (limits.memory / 2).to_string();
        let options = [("mode", "1777"), ("size", &*size)];
        let memory = fresh("tmpfs", &options, MountAttrFlags::empty())?;
        root.attach(&memory, Path::new(SHARED_MEMORY))?;
        // Where the host hides parts of its own, the kernel gives no other.
        if let Ok(processes) = fresh(
            "proc",
            &[("subset", "pid")],
            MountAttrFlags::MOUNT_ATTR_RDONLY,
        ) {
            root.attach(&processes, Path::new(PROCESSES))?;
        }
        Ok(())
    }
}

/// A file of zeros that takes no space: what a mapping of it takes is bounded with the root.
fn make_zeros(root: &Root) -> io::Result<()> {
    create(root, ZEROS)?.set_len(MANY)
}

fn create(root: &Root, path: &str) -> io::Result<File> {
    root.make_place_for(Path::new(path), FileType::RegularFile)?;
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(&root.0, below(Path::new(path)), flags, Mode::empty())?;
    Ok(file.into())
}

/// A file system of this namespace's own, in which nothing is executed.
fn fresh(kind: &str, options: &[(&str, &str)], more: MountAttrFlags) -> io::Result<OwnedFd> {
    let made = rustix::mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        rustix::mount::fsconfig_set_string(made.as_fd(), *name, *value)?;
    }
    rustix::mount::fsconfig_create(made.as_fd())?;
    let attributes = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | more
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    Ok(rustix::mount::fsmount(
        made.as_fd(),
        FsMountFlags::FSMOUNT_CLOEXEC,
        attributes,
    )?)
}
