//! Spare jails: processes that were started before there was a job for them.
//!
//! Namespaces and a root with the system in it are the same for every job of a kind, and take longer
//! to make than all the rest. So one is made while the zygote has nothing else to do, and waits. It
//! has nothing of any user, file or program: what came with an earlier job never reached it, and what
//! a job may touch is decided when that job has come. It does one job and ends with it.

use std::io;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{OFlags, Stat};

use super::children::ForkedChild;
use super::process::{fork, handle_of, namespaces};
use crate::descriptor::{open, poll};
use crate::job::NetworkAccess;
use crate::message::{JailKind, pair};
use fileshed_types::{Clock, Timings};

/// Most jails that wait.
const MOST: usize = 2;

/// Longest time for which one waits for a job.
const AGE: Duration = Timings::STANDARD.jail.spare;

/// Directories of the files that a root shows by themselves: one that is replaced there is another
/// file.
const DIRECTORIES: [&str; 3] = ["/", "/etc", "/etc/ssl"];

/// Identity of a directory, and when a name in it was made or removed last.
type DirectoryStamp = Option<(u64, u64, i64, u64)>;

/// A process that waits, with the state of the machine from which its root was made.
struct SpareJail {
    kind: JailKind,
    /// Its job is sent to its answer socket. Closed, it ends.
    child: ForkedChild,
    made: Instant,
    /// Told when something is mounted or unmounted where the zygote is.
    mounts: OwnedFd,
    directories: [DirectoryStamp; 3],
}

/// Those that wait.
#[derive(Default)]
pub(super) struct SpareJails {
    waiting: Vec<SpareJail>,
    /// The kind that the last job took or would have taken.
    wanted: Option<JailKind>,
}

impl SpareJails {
    /// Takes one for a job of this kind, if one waits. Another is wanted then.
    pub(super) fn take(
        &mut self,
        kind: JailKind,
        children: &mut Vec<ForkedChild>,
    ) -> Option<ForkedChild> {
        self.end_outdated(children);
        let found = self.waiting.iter().position(|spare| spare.kind == kind);
        let taken = found.map(|at| self.waiting.remove(at).child);
        if self.waiting.len() >= MOST {
            self.waiting.remove(0).child.end(children);
        }
        self.wanted = Some(kind);
        taken
    }

    /// Returns how long the zygote may wait before it looks here again.
    pub(super) fn patience(&self) -> Option<Duration> {
        if self.wanted.is_some() {
            return Some(Duration::ZERO);
        }
        self.waiting.iter().map(SpareJail::left).min()
    }

    /// Ends those that have waited too long, or that were made from another state of the machine.
    pub(super) fn end_outdated(&mut self, children: &mut Vec<ForkedChild>) {
        let is_outdated = |spare: &mut SpareJail| !spare.is_current();
        for spare in self.waiting.extract_if(.., is_outdated) {
            spare.child.end(children);
        }
    }

    /// Starts the one that is wanted. Comes back with its kind and its socket in that process.
    pub(super) fn prepare_wanted(&mut self) -> io::Result<Option<(JailKind, OwnedFd)>> {
        let Some(kind) = self.wanted.take() else {
            return Ok(None);
        };
        // Open this before the jail is made, to notice all later changes of mounts. Without it no jail is
        // made in advance.
        let mounts = open("/proc/self/mountinfo", OFlags::RDONLY)?;
        let directories = DIRECTORIES.map(stamp_of);
        let (ours, theirs) = pair()?;
        let in_network = kind.network != NetworkAccess::None;
        let Some(pid) = fork(namespaces(in_network, kind.takes_account))? else {
            return Ok(Some((kind, theirs)));
        };
        self.waiting.push(SpareJail {
            kind,
            child: ForkedChild::new(pid, handle_of(pid)?, ours, true),
            made: Clock::SYSTEM.instant(),
            mounts,
            directories,
        });
        Ok(None)
    }
}

impl SpareJail {
    fn left(&self) -> Duration {
        AGE.saturating_sub(Clock::SYSTEM.elapsed(self.made))
    }

    fn is_current(&self) -> bool {
        let mut changes = [
            PollFd::new(&self.mounts, PollFlags::PRI),
            PollFd::new(&self.child.ended, PollFlags::IN),
        ];
        matches!(poll(&mut changes, Some(Duration::ZERO)), Ok(0))
            && !self.left().is_zero()
            && DIRECTORIES.map(stamp_of) == self.directories
    }
}

fn stamp_of(directory: &str) -> DirectoryStamp {
    let stat = rustix::fs::stat(directory).ok()?;
    Some((stat.st_dev, stat.st_ino, stat.st_mtime, stat.st_mtime_nsec))
}

/// Makes the directory of a job the working one. Its handle leads to the mounts of the process that
/// opened it, its path to those of this one. Another directory that has the path by now is refused.
pub(super) fn enter(directory: &OwnedFd) -> io::Result<()> {
    Ok(rustix::process::fchdir(at_its_path(directory)?)?)
}

/// Returns `true` if a directory is still at the path that it was opened by.
pub(super) fn is_at_its_path(directory: &OwnedFd) -> bool {
    at_its_path(directory).is_ok()
}

fn at_its_path(directory: &OwnedFd) -> io::Result<OwnedFd> {
    let path = std::fs::read_link(format!("/proc/self/fd/{}", directory.as_raw_fd()))?;
    let found = open(path, OFlags::PATH | OFlags::DIRECTORY)?;
    let identity = |stat: Stat| (stat.st_dev, stat.st_ino);
    if identity(rustix::fs::fstat(&found)?) != identity(rustix::fs::fstat(directory)?) {
        return Err(io::Error::other("another directory has its name"));
    }
    Ok(found)
}
