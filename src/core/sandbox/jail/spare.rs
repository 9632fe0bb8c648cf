//! Spare jails: processes that were started before there was a job for them.
//!
//! Namespaces and a root with the system in it are the same for every job of a kind, and take longer
//! to make than all the rest. So one is made while the zygote has nothing else to do, and waits. It
//! has nothing of any user, file or program: what came with an earlier job never reached it, and what
//! a job may touch is decided when that job has come. It does one job and ends with it.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::OFlags;

use super::children::ForkedChild;
use crate::descriptor::{FoundDirectories, expect_same, open, poll};
use crate::message::JailKind;
use fileshed_types::{Clock, Timings};

/// Most jails that wait.
const MOST: usize = 2;

/// Longest time for which one waits for a job.
const AGE: Duration = Timings::STANDARD.jail.spare;

/// A process that waits.
pub(super) struct SpareJail {
    pub(super) kind: JailKind,
    /// Its job is sent to its answer socket. Closed, it ends.
    pub(super) child: ForkedChild,
    pub(super) surroundings: Surroundings,
}

/// Those that wait.
#[derive(Default)]
pub(super) struct SpareJails {
    waiting: Vec<SpareJail>,
    /// The kind that the last job took or would have taken.
    wanted: Option<JailKind>,
}

impl SpareJails {
    /// One for a job of this kind, and those that are of no use any more. Another is wanted then.
    pub(super) fn take(&mut self, kind: JailKind) -> (Option<SpareJail>, Vec<SpareJail>) {
        let mut outdated = self.take_outdated();
        let found = self.waiting.iter().position(|spare| spare.kind == kind);
        let taken = found.map(|at| self.waiting.remove(at));
        if self.waiting.len() >= MOST {
            outdated.push(self.waiting.remove(0));
        }
        self.wanted = Some(kind);
        (taken, outdated)
    }

    /// The kind that is to be made next, when there is time.
    pub(super) fn take_wanted(&mut self) -> Option<JailKind> {
        self.wanted.take()
    }

    /// Returns how long the zygote may wait before it looks here again.
    pub(super) fn patience(&self) -> Option<Duration> {
        if self.wanted.is_some() {
            return Some(Duration::ZERO);
        }
        let ages = self.waiting.iter().map(|spare| spare.surroundings.left());
        ages.min()
    }

    pub(super) fn add(&mut self, spare: SpareJail) {
        self.waiting.push(spare);
    }

    /// Those that have waited too long, or whose surroundings are others by now.
    pub(super) fn take_outdated(&mut self) -> Vec<SpareJail> {
        let is_outdated = |spare: &mut SpareJail| !spare.surroundings.are_current();
        self.waiting.extract_if(.., is_outdated).collect()
    }
}

/// Ends processes that wait; they are collected with the others.
pub(super) fn end(spares: Vec<SpareJail>, children: &mut Vec<ForkedChild>) {
    for spare in spares {
        let mut child = spare.child;
        child.kill();
        // Nobody listens there any more.
        child.stopped = true;
        children.push(child);
    }
}

/// State of the machine from which a spare jail was made.
pub(super) struct Surroundings {
    /// Told when something is mounted or unmounted where the zygote is.
    mounts: OwnedFd,
    /// Directories of the files that its root shows by themselves: one that is replaced is another
    /// file.
    directories: FoundDirectories,
    made: Instant,
}

/// Directories of these files.
const DIRECTORIES: [&str; 3] = ["/", "/etc", "/etc/ssl"];

impl Surroundings {
    /// To be taken down before the jail is made. Where mounts are not told of, none is.
    pub(super) fn now() -> io::Result<Self> {
        Ok(Self {
            mounts: open("/proc/self/mountinfo", OFlags::RDONLY)?,
            directories: FoundDirectories::find(DIRECTORIES.map(Path::new)),
            made: Clock::SYSTEM.instant(),
        })
    }

    fn left(&self) -> Duration {
        AGE.saturating_sub(Clock::SYSTEM.elapsed(self.made))
    }

    fn are_current(&self) -> bool {
        let mut mounts = [PollFd::new(&self.mounts, PollFlags::PRI)];
        let told = poll(&mut mounts, Some(Duration::ZERO));
        matches!(told, Ok(0)) && !self.left().is_zero() && self.directories.are_current()
    }
}

/// Makes a directory the working one that has this path in the namespaces of this process. Another one
/// that has it by now is refused.
pub(super) fn enter(place: &Path, directory: BorrowedFd<'_>) -> io::Result<()> {
    let found = open(place, OFlags::PATH | OFlags::DIRECTORY)?;
    expect_same(directory, &rustix::fs::fstat(&found)?)?;
    Ok(rustix::process::fchdir(found)?)
}
