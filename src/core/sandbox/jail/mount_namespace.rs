//! Namespaces: the files and processes that a command sees.
//!
//! File rules forbid opening what lies elsewhere, and know nothing of looking at it, of modes or of
//! times. Here it is not there at all: the root is an empty file system of the command's own, in
//! which the system's programs and libraries appear read-only, and the directories that it works
//! with as places where nothing can be executed. There is no /proc, so other processes are not
//! visible either.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, OFlags};
use rustix::mount::MountAttrFlags;

use super::JailError;
use super::account::{KernelAccount, ProcessAccount, directory_of};
use super::network::{name_machine, raise_loopback};
use super::root::{
    MountRoot, NODEV, NOEXEC, NOSUID, RDONLY, below, copy, fresh, keep_mounts, restrict,
};
use super::supervisor::MACHINE_NAME;
use crate::descriptor::open_at;
use crate::job::{Access, JobSpec, Limits, MountNamespace};
use crate::message::JailKind;

/// Directories of the system that appear whole; on most systems all but the first are links.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// Makes the root of new namespaces over the host's, which this process goes on to see: with the
/// system in it, and nothing of any job. This process has its namespace of accounts already, unless it
/// takes the account of its job.
pub(super) fn system_root(kind: &JailKind, account: ProcessAccount) -> io::Result<MountRoot> {
    let access = &kind.access();
    if kind.takes_account {
        keep_mounts()?;
    } else {
        account.map(&directory_of("self")?, account.user)?;
    }
    name_machine(MACHINE_NAME)?;
    let root = MountRoot::new()?;
    for directory in SYSTEM {
        root.show_system(Path::new(directory))?;
    }
    for path in single(access.common().chain(access.programs())) {
        root.show(path)?;
    }
    for path in devices(access) {
        root.make_place_for(path, FileType::CharacterDevice)?;
        let device = copy(path)?;
        // Its mode and owner cannot change, not even for the account that owns it on the host.
        restrict(&device, RDONLY | NOSUID | NOEXEC, None)?;
        root.attach(&device, path)?;
    }
    furnish(&root, access, account)?;
    Ok(root)
}

/// Adds the files that one job names to the root, and mount points for its directories. The root is complete
/// after that.
fn complete(root: &MountRoot, access: &Access, mounts: &MountNamespace) -> io::Result<()> {
    let targets = mounts.targets();
    let is_own = |path: &Path| targets.iter().any(|target| path.starts_with(target));
    let named = access.execute.iter().chain(&access.read);
    for path in single(named.map(PathBuf::as_path)).filter(|path| !is_own(path)) {
        root.show(path)?;
    }
    let listed = access.list.iter().map(PathBuf::as_path);
    for target in targets.iter().copied().chain(listed) {
        root.make_place_for(target, FileType::Directory)?;
    }
    // One may lie where another is put.
    let programs = mounts.programs.iter();
    let copies = programs.clone().map(|program| copy(&program.source));
    let copies = copies.collect::<io::Result<Vec<_>>>()?;
    for (program, tree) in programs.zip(copies) {
        root.make_place_for(&program.target, FileType::RegularFile)?;
        restrict(&tree, RDONLY | NOSUID | NODEV, None)?;
        root.attach(&tree, &program.target)?;
    }
    root.close()
}

/// Files of a job's own, ready while this process still sees the host's.
pub(super) struct OwnFiles<'a> {
    mounts: &'a MountNamespace,
    root: MountRoot,
    /// Copies of the directories of the job, each with the place where the job finds it.
    bind_mounts: Vec<(OwnedFd, &'a Path)>,
}

/// Makes the files of the spec ready, where it has any of its own, for the kernel account if there is
/// one. A file system that does not translate accounts leaves the job that of the server. `root` is the
/// one of a process that waited, or the kernel's error if it gave no namespaces, which only a probe may
/// find.
pub(super) fn prepare_files<'a>(
    spec: &'a JobSpec,
    (account, kernel_account): (ProcessAccount, &mut Option<KernelAccount>),
    root: Option<io::Result<MountRoot>>,
) -> Result<Option<OwnFiles<'a>>, JailError> {
    let Some(mounts) = &spec.mounts else {
        return Ok(None);
    };
    let kind = JailKind::of(spec, kernel_account.is_some());
    let root = root.unwrap_or_else(|| system_root(&kind, account));
    let prepared = root.and_then(|root| {
        complete(&root, &spec.access, mounts)?;
        let map = kernel_account.as_ref().map(KernelAccount::map);
        let bind_mounts = match (copies(mounts, &spec.access, map), kernel_account) {
            (Err(_), Some(own)) => {
                own.user = account.user;
                copies(mounts, &spec.access, None)?
            }
            (copies, _) => copies?,
        };
        Ok(OwnFiles {
            mounts,
            root,
            bind_mounts,
        })
    });
    unless_probe(spec, prepared)
}

/// Returns what was made. Only a probe may find that there are no namespaces.
fn unless_probe<T>(spec: &JobSpec, made: io::Result<T>) -> Result<Option<T>, JailError> {
    match made {
        Ok(made) => Ok(Some(made)),
        Err(_) if spec.probe => Ok(None),
        Err(error) => Err(JailError::MountNamespace(error)),
    }
}

fn copies<'a>(
    mounts: &'a MountNamespace,
    access: &Access,
    map: Option<BorrowedFd<'_>>,
) -> io::Result<Vec<(OwnedFd, &'a Path)>> {
    let copies = mounts.bind_mounts.iter().map(|mount| {
        let mut flags = NOSUID | NODEV;
        if !mount.writable {
            flags |= RDONLY;
        }
        if !(mount.writable && access.any_program) {
            flags |= NOEXEC;
        }
        let tree = copy(&mount.source)?;
        restrict(&tree, flags, map)?;
        Ok((tree, mount.target.as_path()))
    });
    copies.collect()
}

impl OwnFiles<'_> {
    /// Makes these files and those of the system the only ones of a process in new namespaces. Returns
    /// `false` if a probe finds that this is not possible.
    pub(super) fn enter(&self, spec: &JobSpec) -> Result<bool, JailError> {
        Ok(unless_probe(spec, self.show(spec))?.is_some())
    }

    fn show(&self, spec: &JobSpec) -> io::Result<()> {
        let root = &self.root;
        mount_own(root, &spec.access, &spec.limits)?;
        for (tree, target) in &self.bind_mounts {
            root.attach(tree, target)?;
        }
        rustix::process::fchdir(&root.0)?;
        // Taking the host's root away would wait for every processor; without capabilities and
        // without a handle outside, nothing leads back to it.
        rustix::process::chroot(".")?;
        rustix::process::chdir(&self.mounts.directory)?;
        // A machine that allows the other namespaces allows one of the network too.
        if spec.probe {
            raise_loopback()?;
        }
        Ok(())
    }
}

/// Returns the paths that do not lie in the directories that appear whole, and are no devices.
fn single<'a>(paths: impl Iterator<Item = &'a Path>) -> impl Iterator<Item = &'a Path> {
    paths
        .filter(|path| !SYSTEM.iter().any(|directory| lies_in(path, directory)))
        .filter(|path| !lies_in(path, "/dev"))
}

/// Returns `true` if a path is this one, or below it; both are written in the same way. Comparing
/// their parts takes ten times as long, and a shell has hundreds of programs.
fn lies_in(path: &Path, directory: &str) -> bool {
    let path = path.as_os_str().as_encoded_bytes();
    let rest = path.strip_prefix(directory.as_bytes());
    rest.is_some_and(|rest| matches!(rest, [] | [b'/', ..]))
}

/// Devices that every command has: a file system without devices has them from the host.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/urandom", "/dev/tty"];

/// Devices that programs of all kinds read besides.
const MORE_DEVICES: [&str; 2] = ["/dev/full", "/dev/random"];

/// Zeros without end, as a device. A shared mapping of it is memory that no limit of a process counts.
pub(super) const ZEROS: &str = "/dev/zero";

/// Size of the sparse file that stands for the device.
const MANY: u64 = 1 << 42;

/// Directory that tells of the processes of the namespace.
const PROCESSES: &str = "/proc";

/// Directory in which processes share memory by name.
const SHARED_MEMORY: &str = "/dev/shm";

/// Names for a process's own descriptors.
const DESCRIPTORS: [(&str, &str); 4] = [
    ("/dev/fd", "/proc/self/fd"),
    ("/dev/stdin", "/proc/self/fd/0"),
    ("/dev/stdout", "/proc/self/fd/1"),
    ("/dev/stderr", "/proc/self/fd/2"),
];

/// Returns the devices of the host that a job has, as far as the host has them.
fn devices(access: &Access) -> impl Iterator<Item = &'static Path> {
    let more: &[_] = if access.any_program {
        &MORE_DEVICES
    } else {
        &[]
    };
    let all = DEVICES.iter().chain(more).copied();
    all.map(Path::new).filter(|device| device.exists())
}

/// Makes files and links, and places for what is mounted.
fn furnish(root: &MountRoot, access: &Access, account: ProcessAccount) -> io::Result<()> {
    // It takes no space; the limit of the root bounds the memory of its mappings.
    create(root, ZEROS)?.set_len(MANY)?;
    if !access.any_program {
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
fn mount_own(root: &MountRoot, access: &Access, limits: &Limits) -> io::Result<()> {
    if !access.any_program {
        return Ok(());
    }
    let size = (limits.memory / 2).to_string();
    let options = [("mode", "1777"), ("size", &*size)];
    let nothing_runs = MountAttrFlags::MOUNT_ATTR_NOSUID
        | MountAttrFlags::MOUNT_ATTR_NODEV
        | MountAttrFlags::MOUNT_ATTR_NOEXEC;
    let memory = fresh("tmpfs", &options, nothing_runs)?;
    root.attach(&memory, Path::new(SHARED_MEMORY))?;
    // The kernel refuses a new /proc if the host hides parts of its own.
    let read_only = nothing_runs | MountAttrFlags::MOUNT_ATTR_RDONLY;
    if let Ok(processes) = fresh("proc", &[("subset", "pid")], read_only) {
        root.attach(&processes, Path::new(PROCESSES))?;
    }
    Ok(())
}

fn create(root: &MountRoot, path: &str) -> io::Result<File> {
    root.make_place_for(Path::new(path), FileType::RegularFile)?;
    Ok(open_at(&root.0, below(Path::new(path)), OFlags::WRONLY)?.into())
}
