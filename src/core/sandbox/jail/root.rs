//! The root of a mount namespace, and what is mounted below it.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::mount::{FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags};

pub(super) use libc::{
    MOUNT_ATTR_NODEV as NODEV, MOUNT_ATTR_NOEXEC as NOEXEC, MOUNT_ATTR_NOSUID as NOSUID,
    MOUNT_ATTR_RDONLY as RDONLY,
};

use super::process::checked;
use crate::descriptor::open;

/// The root of the mount namespace, over the host's.
pub(super) struct MountRoot(pub(super) OwnedFd);

impl MountRoot {
    pub(super) fn new() -> io::Result<Self> {
        // It holds names alone. The size also bounds the memory of reads from files without content.
        let options = [("mode", "0755"), ("size", "2m")];
        let root = fresh("tmpfs", &options, MountAttrFlags::empty())?;
        let over = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::mount::move_mount(root.as_fd(), "", CWD, "/", over)?;
        Ok(Self(root))
    }

    /// A directory of the system, or the link that stands for it.
    pub(super) fn show_system(&self, path: &Path) -> io::Result<()> {
        match std::fs::read_link(path) {
            Ok(target) => Ok(rustix::fs::symlinkat(target, &self.0, below(path))?),
            Err(_) => self.show(path),
        }
    }

    /// Shows a file or directory of the host at the same path, read-only; does nothing if the host does not
    /// have it.
    pub(super) fn show(&self, path: &Path) -> io::Result<()> {
        let Ok(stat) = rustix::fs::stat(path) else {
            return Ok(());
        };
        self.make_place_for(path, FileType::from_raw_mode(stat.st_mode))?;
        let tree = copy(path)?;
        restrict(&tree, RDONLY | NOSUID | NODEV, None)?;
        self.attach(&tree, path)
    }

    /// Makes it read-only. Mounts below it have restrictions of their own.
    pub(super) fn close(&self) -> io::Result<()> {
        let attributes = libc::mount_attr {
            attr_set: RDONLY | NOSUID | NODEV,
            ..NO_CHANGE
        };
        set_attributes(&self.0, &attributes, 0)
    }

    /// A place where something of this kind can be mounted, with the directories above it.
    pub(super) fn make_place_for(&self, path: &Path, kind: FileType) -> io::Result<()> {
        let place = below(path);
        let made = match self.make_place(place, kind) {
            // Most often they are there.
            Err(Errno::NOENT) => {
                if let Some(parent) = place.parent() {
                    self.make_place_for(parent, FileType::Directory)?;
                }
                self.make_place(place, kind)
            }
            made => made,
        };
        Ok(made?)
    }

    fn make_place(&self, place: &Path, kind: FileType) -> Result<(), Errno> {
        if place.as_os_str().is_empty() {
            return Ok(());
        }
        let made = if kind.is_dir() {
            rustix::fs::mkdirat(&self.0, place, Mode::from(0o755))
        } else {
            rustix::fs::mknodat(&self.0, place, FileType::RegularFile, Mode::from(0o644), 0)
        };
        match made {
            Err(Errno::EXIST) => Ok(()),
            made => made,
        }
    }

    pub(super) fn attach(&self, tree: &OwnedFd, path: &Path) -> io::Result<()> {
        let from_handle = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        rustix::mount::move_mount(tree.as_fd(), "", self.0.as_fd(), below(path), from_handle)?;
        Ok(())
    }
}

/// A path from the root, as one relative to it.
pub(super) fn below(path: &Path) -> &Path {
    path.strip_prefix("/").unwrap_or(path)
}

/// A file system of this namespace's own, not yet anywhere.
pub(super) fn fresh(
    kind: &str,
    options: &[(&str, &str)],
    attributes: MountAttrFlags,
) -> io::Result<OwnedFd> {
    let made = rustix::mount::fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (name, value) in options {
        rustix::mount::fsconfig_set_string(made.as_fd(), *name, *value)?;
    }
    rustix::mount::fsconfig_create(made.as_fd())?;
    let flags = FsMountFlags::FSMOUNT_CLOEXEC;
    Ok(rustix::mount::fsmount(made.as_fd(), flags, attributes)?)
}

/// A copy of what is mounted from `path` on, not yet anywhere.
pub(super) fn copy(path: &Path) -> io::Result<OwnedFd> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE;
    Ok(rustix::mount::open_tree(CWD, path, flags)?)
}

/// Forbids on a mount and all below it, and has them translate accounts by a map.
pub(super) fn restrict(
    tree: &OwnedFd,
    forbidden: u64,
    map: Option<BorrowedFd<'_>>,
) -> io::Result<()> {
    let mut attributes = libc::mount_attr {
        attr_set: forbidden,
        ..NO_CHANGE
    };
    if let Some(map) = map {
        attributes.attr_set |= libc::MOUNT_ATTR_IDMAP;
        attributes.userns_fd = map.as_raw_fd() as u64;
    }
    set_attributes(tree, &attributes, libc::AT_RECURSIVE)
}

/// From here on nothing that this process mounts appears where its mounts were copied from. With a
/// namespace of accounts of its own that would be so already.
pub(super) fn keep_mounts() -> io::Result<()> {
    // Elsewhere the mounts are those of the machine.
    if !rustix::process::getpid().is_init() {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let root = open("/", OFlags::PATH)?;
    let attributes = libc::mount_attr {
        propagation: libc::MS_SLAVE,
        ..NO_CHANGE
    };
    set_attributes(&root, &attributes, libc::AT_RECURSIVE)
}

const NO_CHANGE: libc::mount_attr = libc::mount_attr {
    attr_set: 0,
    attr_clr: 0,
    propagation: 0,
    userns_fd: 0,
};

fn set_attributes(
    tree: &OwnedFd,
    attributes: &libc::mount_attr,
    which: libc::c_int,
) -> io::Result<()> {
    // SAFETY: the path is empty and static, the structure lives through the call and is of the
    // size that is given.
    #[expect(unsafe_code, reason = "no safe crate has mount_setattr")]
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            tree.as_raw_fd(),
            c"".as_ptr(),
            libc::AT_EMPTY_PATH | which,
            std::ptr::from_ref(attributes),
            size_of_val(attributes),
        )
    };
    checked(result).map(drop)
}
