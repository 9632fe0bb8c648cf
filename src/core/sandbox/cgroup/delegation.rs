//! The control group that the server runs in, and whether it is the server's to divide.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rustix::fs::Access;

use crate::processes::{PARENT, field};

/// The group that the server itself moves to: the kernel gives limits to the children of a group
/// only where the group itself has no processes.
const OWN: &str = "fileshed.server";

/// Prefix of the names of commands' groups.
pub(super) const PREFIX: &str = "fileshed.command.";

/// Controllers by which commands are limited.
const CONTROLLERS: [&str; 2] = ["memory", "pids"];

/// Most rounds in which processes are moved out that were started meanwhile.
const ROUNDS: usize = 10;

/// Why commands have no control groups.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDelegated {
    /// There are none, or only those of version 1.
    #[error("there are no control groups of version 2")]
    NoVersion2,
    /// The group has no children with limits.
    #[error("its control group has no controllers for memory and processes")]
    NoControllers,
    /// The group belongs to others.
    #[error("its control group is not writable")]
    NotWritable,
    /// The server is not alone.
    #[error("its control group also has other processes")]
    Shared,
    /// It failed for another reason.
    #[error("the kernel gave no control group: {0}")]
    Refused(String),
}

impl NotDelegated {
    /// Advice for administrators on how to get them.
    pub const REMEDY: &str = "to limit them together, give the server a control group of its own: \
        Delegate=memory pids in a unit of systemd, --security-opt writable-cgroups=true in Docker 28 \
        or later";
}

impl From<io::Error> for NotDelegated {
    fn from(error: io::Error) -> Self {
        Self::Refused(error.to_string())
    }
}

/// Finds the control group whose children are those of commands, if it is the server's to divide.
pub(super) fn find() -> Result<PathBuf, NotDelegated> {
    let place = std::fs::read_to_string("/proc/self/cgroup")?;
    let mounts = std::fs::read_to_string("/proc/self/mountinfo")?;
    let place = own_place(&place).ok_or(NotDelegated::NoVersion2)?;
    let is_outermost = place == Path::new("/");
    let own = directory(&mounts, place).ok_or(NotDelegated::NoVersion2)?;
    // The subgroup holds this server, or another one of the same container, if one has moved already.
    let (group, is_divided) = match own.parent() {
        Some(parent) if own.ends_with(OWN) => (parent.to_owned(), true),
        _ => (own.clone(), false),
    };
    // Only the machine's own root has no state.
    if !group.join("cgroup.events").exists() {
        return Err(NotDelegated::Shared);
    }
    let has = |file: &str| {
        let there = std::fs::read_to_string(group.join(file))?;
        let has = |name: &&str| there.split_ascii_whitespace().any(|one| one == *name);
        Ok::<_, io::Error>(CONTROLLERS.iter().all(has))
    };
    if !has("cgroup.controllers")? {
        return Err(NotDelegated::NoControllers);
    }
    let files = ["", "cgroup.procs", "cgroup.subtree_control"];
    if !files
        .iter()
        .all(|file| rustix::fs::access(group.join(file), Access::WRITE_OK).is_ok())
    {
        return Err(NotDelegated::NotWritable);
    }
    let is_divided = is_divided && has("cgroup.subtree_control")?;
    // In a container of its own, all processes are the server's.
    if !is_divided && !is_outermost && !processes(&own)?.into_iter().all(is_ours) {
        return Err(NotDelegated::Shared);
    }
    Ok(group)
}

/// Moves all processes out of the group and lets its children have limits.
pub(super) fn claim(group: &Path) -> Result<(), NotDelegated> {
    let own = group.join(OWN);
    match std::fs::create_dir(&own) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error.into()),
        _ => {}
    }
    for _ in 0..ROUNDS {
        let left = processes(group)?;
        if left.is_empty() {
            break;
        }
        for process in left {
            match write(&own.join("cgroup.procs"), &process.to_string()) {
                // It has ended.
                Err(error) if error.raw_os_error() == Some(libc::ESRCH) => {}
                moved => moved?,
            }
        }
    }
    let wanted = CONTROLLERS.map(|name| format!("+{name}")).join(" ");
    write(&group.join("cgroup.subtree_control"), &wanted)?;
    // Groups that a killed server left behind. The kernel keeps those with processes.
    for entry in std::fs::read_dir(group)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(PREFIX) {
            let _in_use = std::fs::remove_dir(entry.path());
        }
    }
    Ok(())
}

/// The place of this process in the tree of version 2, as `/proc/self/cgroup` names it.
fn own_place(text: &str) -> Option<&Path> {
    text.lines()
        .find_map(|line| line.strip_prefix("0::"))
        .map(Path::new)
}

/// Returns the directory of a place of the tree, as `/proc/self/mountinfo` tells it
/// (`proc_pid_mountinfo(5)`).
fn directory(mounts: &str, place: &Path) -> Option<PathBuf> {
    mounts.lines().find_map(|line| {
        let (mount, kind) = line.split_once(" - ")?;
        if kind.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let mut fields = mount.split(' ').skip(3);
        let (root, at) = (fields.next()?, fields.next()?);
        let below = place.strip_prefix(root).ok()?;
        // Without a slash at its end where it is the mount itself.
        Some(
            Path::new(at)
                .components()
                .chain(below.components())
                .collect(),
        )
    })
}

/// The processes of a group.
fn processes(group: &Path) -> io::Result<Vec<u32>> {
    let text = std::fs::read_to_string(group.join("cgroup.procs"))?;
    Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
}

/// Returns `true` if a process is this one, one that it started, or the init of a container that
/// started it.
fn is_ours(mut process: u32) -> bool {
    if process == 1 {
        return true;
    }
    // Zero is one that this process does not see.
    while process > 1 {
        if process == std::process::id() {
            return true;
        }
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        process = field(&stat, PARENT)
            .and_then(|parent| parent.parse().ok())
            .unwrap_or(0);
    }
    false
}

pub(super) fn write(file: &Path, text: &str) -> io::Result<()> {
    File::options()
        .write(true)
        .open(file)?
        .write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
25 30 0:23 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
26 25 0:24 / /sys/fs/cgroup/memory rw,relatime shared:7 - cgroup cgroup rw,memory
27 25 0:25 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

    const CONTAINER: &str = "\
700 690 0:30 /system.slice/docker-1.scope /sys/fs/cgroup rw,nosuid master:9 - cgroup2 cgroup rw";

    #[test]
    fn a_place_is_found_below_its_mount() {
        let found = |mounts, place: &str| directory(mounts, Path::new(place));
        assert_eq!(found(HYBRID, "/"), Some("/sys/fs/cgroup/unified".into()));
        assert_eq!(
            found(HYBRID, "/a/b"),
            Some("/sys/fs/cgroup/unified/a/b".into())
        );
        let scope = "/system.slice/docker-1.scope";
        assert_eq!(found(CONTAINER, scope), Some("/sys/fs/cgroup".into()));
        // Groups above the mount cannot be reached.
        assert_eq!(found(CONTAINER, "/system.slice"), None);
        assert_eq!(found("26 25 0:24 / /c rw - cgroup cgroup rw", "/"), None);
        assert_eq!(found("", "/"), None);
    }

    #[test]
    fn a_place_is_that_of_version_2() {
        let both = "8:pids:/p\n4:memory:/m\n0::/user.slice/a b.scope\n";
        assert_eq!(own_place(both), Some(Path::new("/user.slice/a b.scope")));
        assert_eq!(own_place("4:memory:/m\n"), None);
    }

    #[test]
    fn this_process_and_what_it_starts_are_its_own() {
        assert!(is_ours(std::process::id()));
        assert!(is_ours(1));
        assert!(!is_ours(0));
        assert!(!is_ours(std::os::unix::process::parent_id()));
    }
}
