//! Counter of the processes and threads of a command. The kernel's own limit counts an account, which
//! all commands and the server share, and does not hold for root.

use std::io;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::fs::{Dir, OFlags};
use rustix::io::Errno;
use rustix::process::Pid;

use super::listener::Verdict;
use crate::descriptor::{open, open_at};
use crate::processes::{SESSION, field};
use fileshed_types::{Clock, Timings};

/// Shortest time between two counts of a command that has as many as it may.
const PAUSE: Duration = Timings::STANDARD.jail.census;

/// The places of one command.
pub(super) struct ProcessCounter {
    /// `/proc` of the host.
    processes: Option<OwnedFd>,
    /// The session of the command, which it cannot leave; with a terminal it began one of its own.
    sessions: [String; 2],
    most: u64,
    /// Places that are surely free.
    free: u64,
    counted: Option<Instant>,
}

impl ProcessCounter {
    pub(super) fn new(most: u64) -> Self {
        let processes = open("/proc", OFlags::RDONLY | OFlags::DIRECTORY).ok();
        let own = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let session = field(&own, SESSION).unwrap_or_default().to_owned();
        Self {
            processes,
            sessions: [session, String::new()],
            most,
            // The command itself is there.
            free: most.saturating_sub(1),
            counted: None,
        }
    }

    /// Sets the command that is counted.
    pub(super) fn count_for(&mut self, command: Pid) {
        self.sessions[1] = command.as_raw_pid().to_string();
    }

    /// One more process or thread.
    pub(super) fn judge(&mut self) -> Verdict {
        if self.free == 0 {
            self.count();
        }
        match self.free.checked_sub(1) {
            Some(left) => {
                self.free = left;
                Verdict::Continue
            }
            None => Verdict::Refused(Errno::AGAIN),
        }
    }

    fn count(&mut self) {
        let is_recent = |at| Clock::SYSTEM.elapsed(at) < PAUSE;
        if self.counted.is_some_and(is_recent) {
            return;
        }
        // If the processes cannot be counted, none may be started.
        let alive = self.alive().unwrap_or(u64::MAX);
        self.free = self.most.saturating_sub(alive);
        self.counted = Some(Clock::SYSTEM.instant());
    }

    /// Threads of the session, this process aside.
    fn alive(&self) -> io::Result<u64> {
        let all = self.processes.as_ref().ok_or(io::ErrorKind::NotFound)?;
        let mut alive = 0_u64;
        for entry in Dir::read_from(all)? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy();
            if !name.bytes().all(|byte| byte.is_ascii_digit()) {
                continue;
            }
            if let Some(stat) = read(all, &format!("{name}/stat"))
                && field(&stat, SESSION).is_some_and(|at| self.sessions.iter().any(|own| own == at))
            {
                let threads = field(&stat, THREADS).and_then(|threads| threads.parse().ok());
                // One that has ended and was not reaped has none, and its number.
                alive += threads.unwrap_or(1).max(1);
            }
        }
        Ok(alive.saturating_sub(1))
    }
}

/// Field of /proc/pid/stat with the number of threads.
const THREADS: usize = 17;

fn read(directory: &OwnedFd, file: &str) -> Option<String> {
    let file = open_at(directory, file, OFlags::RDONLY).ok()?;
    io::read_to_string(std::fs::File::from(file)).ok()
}
