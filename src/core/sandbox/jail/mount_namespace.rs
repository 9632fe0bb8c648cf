//! Namespaces: the files and processes that a command sees.
//!
//! File rules forbid opening what lies elsewhere, and know nothing of looking at it, of modes or
//! of times. Here it is not there at all: the root is an empty file system of the command's own,
//! in which the system's programs and libraries appear read-only, and the directories that it works
//! with as places where nothing can be executed. There is no /proc, so nothing tells of other processes either.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::path::Path;

use super::network::name_machine;
use super::supervisor::MACHINE_NAME;
use super::zygote::Account;
use crate::access::Access;
use crate::job::MountNamespace;
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags};

/// Directories of the system that appear whole; on most systems all but the first are links.
const SYSTEM: [&str; 6] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64"];

/// Devices: a file system without devices has them from the host.
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/urandom"];

impl MountNamespace {
    /// Makes these the only files of a process in new namespaces, with whatever `access` names of
    /// the system.
    pub(super) fn enter(&self, access: &Access, account: Account) -> io::Result<()> {
        account.map()?;
        name_machine(MACHINE_NAME)?;
        let bind_mounts = self.bind_mounts.iter().map(|mount| {
            let mut flags = Attributes::NOSUID | Attributes::NODEV | Attributes::NOEXEC;
            if !mount.writable {
                flags |= Attributes::RDONLY;
            }
            Ok((copy(&mount.source)?, flags, mount.target.as_path()))
        });
        let bind_mounts: Vec<_> = bind_mounts.collect::<io::Result<_>>()?;
        let root = Root::new()?;
        for directory in SYSTEM {
            root.show_system(Path::new(directory))?;
        }
        let single = access
            .system()
            .filter(|path| !SYSTEM.iter().any(|directory| path.starts_with(directory)))
            .filter(|path| !path.starts_with("/dev"))
            .filter(|path| {
                !bind_mounts
                    .iter()
                    .any(|(_, _, target)| path.starts_with(target))
            });
        for path in single {
            root.show(path)?;
        }
        for path in DEVICES {
            root.make_place_for(Path::new(path), FileType::CharacterDevice)?;
        }
        for (_, _, target) in &bind_mounts {
            root.make_place_for(target, FileType::Directory)?;
        }
        restrict(
            &root.0,
            Attributes::RDONLY | Attributes::NOSUID | Attributes::NODEV,
        )?;
        for path in DEVICES {
            root.attach(&copy(Path::new(path))?, Path::new(path))?;
        }
        for (tree, flags, target) in &bind_mounts {
            restrict(tree, *flags)?;
            root.attach(tree, target)?;
        }
        rustix::process::fchdir(&root.0)?;
        // Taking the host's root away would wait for every processor; without capabilities and
        // without a handle outside, nothing leads back to it.
        rustix::process::chroot(".")?;
        rustix::process::chdir(&self.directory)?;
        Ok(())
    }
}

impl Account {
    /// Makes this account the only one of a new namespace.
    fn map(self) -> io::Result<()> {
        let map = |id: u32| format!("{id} {id} 1");
        // A group map without rights needs that groups cannot be changed (user_namespaces(7)).
        for (file, text) in [
            ("/proc/self/setgroups", "deny".to_owned()),
            ("/proc/self/uid_map", map(self.user.as_raw())),
            ("/proc/self/gid_map", map(self.group.as_raw())),
        ] {
            let mut file = File::options().write(true).open(file)?;
            file.write_all(text.as_bytes())?;
        }
        Ok(())
    }
}

/// The root of the mount namespace, over the host's.
struct Root(OwnedFd);

impl Root {
    fn new() -> io::Result<Self> {
        let kind = rustix::mount::fsopen("tmpfs", FsOpenFlags::FSOPEN_CLOEXEC)?;
        rustix::mount::fsconfig_set_string(kind.as_fd(), "mode", "0755")?;
        rustix::mount::fsconfig_create(kind.as_fd())?;
        let flags = FsMountFlags::FSMOUNT_CLOEXEC;
        let root = rustix::mount::fsmount(kind.as_fd(), flags, MountAttrFlags::empty())?;
        let over = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::mount::move_mount(root.as_fd(), "", CWD, "/", over)?;
        Ok(Self(root))
    }

    /// A directory of the system, or the link that stands for it.
    fn show_system(&self, path: &Path) -> io::Result<()> {
        match std::fs::read_link(path) {
            Ok(target) => Ok(rustix::fs::symlinkat(target, &self.0, below(path))?),
            Err(_) => self.show(path),
        }
    }

    /// A file or directory of the host in the same place; nothing where there is none.
    fn show(&self, path: &Path) -> io::Result<()> {
        let Ok(stat) = rustix::fs::stat(path) else {
            return Ok(());
        };
        self.make_place_for(path, FileType::from_raw_mode(stat.st_mode))?;
        self.attach(&copy(path)?, path)
    }

    fn make_place_for(&self, path: &Path, kind: FileType) -> io::Result<()> {
        let place = below(path);
        let directories: Vec<&Path> = place.ancestors().collect();
        let own = usize::from(!kind.is_dir());
        // From the top; the last of the ancestors is the root itself.
        for directory in directories[own..].iter().rev().skip(1) {
            match rustix::fs::mkdirat(&self.0, *directory, Mode::from(0o755)) {
                Ok(()) | Err(rustix::io::Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        if own == 1 {
            let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
            rustix::fs::openat(&self.0, place, flags, Mode::from(0o644))?;
        }
        Ok(())
    }

    fn attach(&self, tree: &OwnedFd, path: &Path) -> io::Result<()> {
        let from_handle = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::mount::move_mount(tree.as_fd(), "", self.0.as_fd(), below(path), from_handle)?;
        Ok(())
    }
}

/// A path from the root, as one relative to it.
fn below(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// A copy of what is mounted from `path` on, not yet anywhere.
fn copy(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(rustix::mount::open_tree(CWD, path, flags)?)
}

/// What is forbidden on a mount.
struct Attributes;

impl Attributes {
    const RDONLY: u64 = libc::MOUNT_ATTR_RDONLY;
    const NOSUID: u64 = libc::MOUNT_ATTR_NOSUID;
    const NODEV: u64 = libc::MOUNT_ATTR_NODEV;
    const NOEXEC: u64 = libc::MOUNT_ATTR_NOEXEC;
}

/// Forbids on a mount and all below it.
fn restrict(tree: &OwnedFd, attributes: u64) -> io::Result<()> {
    let wanted = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    // SAFETY: the path is empty and static, the structure lives through the call and is of the
    // size that is given.
    #[expect(unsafe_code, reason = "no safe crate has mount_setattr")]
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | libc::AT_RECURSIVE,
            std::ptr::from_ref(&wanted),
            size_of_val(&wanted),
        )
    };
    if result == 0 {
        Ok(())
    } else {
        Err(io::Error::last_os_error())
    }
}
