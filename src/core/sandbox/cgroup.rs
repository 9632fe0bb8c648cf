//! Control groups: the memory and the processes of a command, counted with all that it starts.
//!
//! Limits of a process hold for each process by itself. Version 2 of the kernel's control groups
//! (`cgroups(7)`) counts a command as a whole and ends it as a whole, where the group that the server
//! runs in was given to it ([`delegation`]). A group is used by one command after the other: what is
//! left in it then is the kernel's memory of files, which counts for nobody and is given up first.

mod delegation;

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub use delegation::NotDelegated;
use delegation::PREFIX;
use fileshed_types::{Clock, Mutex, Timings};

/// Processes of the server's own that go with a command: its init, its supervisor.
const ESCORT: u64 = 4;

/// Groups that are kept for the next command. More than run at once on most servers.
const IDLE: usize = 32;

/// Longest time that ended processes may take to be gone.
const LAST_WAIT: Duration = Timings::STANDARD.commands.group_end;

/// Interval between two looks meanwhile.
const LOOK: Duration = Timings::STANDARD.commands.group_look;

/// The groups of all commands of this server.
#[derive(Debug)]
pub(crate) struct Cgroups {
    /// The group whose children are those of commands.
    parent: PathBuf,
    made: AtomicU64,
    idle: Arc<Mutex<Vec<Cgroup>>>,
}

/// The group of one command.
#[derive(Debug, Default)]
struct Cgroup {
    directory: PathBuf,
    /// Processes that the kernel had ended in it for their memory before the command began.
    ended_before: u64,
}

/// A group while a command has it.
#[derive(Debug)]
pub(crate) struct LentCgroup {
    group: Cgroup,
    idle: Arc<Mutex<Vec<Cgroup>>>,
}

impl Cgroups {
    /// Makes the server's group the parent of all groups of commands, and removes what an earlier
    /// server left there. To be called before any process is started.
    pub(crate) fn claim() -> Result<Self, NotDelegated> {
        let parent = delegation::find()?;
        delegation::claim(&parent)?;
        let groups = Self {
            parent,
            made: AtomicU64::new(0),
            idle: Arc::default(),
        };
        // Make one group now, so that a failure is reported at start.
        drop(groups.lend(1 << 30, 1)?);
        Ok(groups)
    }

    /// Returns `Ok` if a server that is started like this process would have groups, or has them.
    pub(crate) fn look() -> Result<(), NotDelegated> {
        delegation::find().map(drop)
    }

    /// Lends a group in which nothing runs, for a command that may take so many bytes of memory, and
    /// processes and threads, with all that it starts.
    pub(crate) fn lend(&self, memory: u64, processes: u64) -> io::Result<LentCgroup> {
        let used = self.idle.lock().pop();
        // Another server on the same group may have taken it for a leftover.
        let limited = |mut group: Cgroup| group.limit(memory, processes).is_ok().then_some(group);
        let group = match used.and_then(limited) {
            Some(group) => group,
            None => self.make(memory, processes)?,
        };
        Ok(LentCgroup {
            group,
            idle: Arc::clone(&self.idle),
        })
    }

    fn make(&self, memory: u64, processes: u64) -> io::Result<Cgroup> {
        let directory = loop {
            let number = self.made.fetch_add(1, Ordering::Relaxed);
            let name = format!("{PREFIX}{}.{number}", std::process::id());
            let directory = self.parent.join(name);
            match std::fs::create_dir(&directory) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => break made.map(|()| directory)?,
            }
        };
        let mut group = Cgroup {
            directory,
            ended_before: 0,
        };
        match group.limit(memory, processes) {
            Ok(()) => Ok(group),
            Err(error) => {
                group.remove();
                Err(error)
            }
        }
    }
}

impl Drop for Cgroups {
    fn drop(&mut self) {
        self.idle.lock().drain(..).for_each(Cgroup::remove);
    }
}

impl LentCgroup {
    /// Opens the file into which a process writes `0` to enter.
    pub(crate) fn entrance(&self) -> io::Result<File> {
        let entrance = self.group.directory.join("cgroup.procs");
        File::options().write(true).open(entrance)
    }

    /// Returns `true` if the kernel has ended the command for its memory.
    pub(crate) fn was_ended(&self) -> bool {
        let ended = self.group.ended();
        ended.is_ok_and(|ended| ended > self.group.ended_before)
    }
}

impl Drop for LentCgroup {
    fn drop(&mut self) {
        let group = std::mem::take(&mut self.group);
        let is_empty = group.end_all();
        let mut idle = self.idle.lock();
        if is_empty && idle.len() < IDLE {
            idle.push(group);
        } else {
            drop(idle);
            group.remove();
        }
    }
}

impl Cgroup {
    fn limit(&mut self, memory: u64, processes: u64) -> io::Result<()> {
        self.set("memory.max", memory)?;
        // Not there where the kernel does not count what is swapped out.
        match self.set("memory.swap.max", 0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        // All of it, so that a command never goes on with a part of its processes.
        self.set("memory.oom.group", 1)?;
        self.set("pids.max", processes.saturating_add(ESCORT))?;
        self.ended_before = self.ended()?;
        Ok(())
    }

    /// Returns how many processes the kernel has ended here for their memory.
    fn ended(&self) -> io::Result<u64> {
        self.count("memory.events", "oom_kill")
    }

    /// Ends whatever is left in it, which is nothing after a command that has ended. Says whether it
    /// is empty.
    fn end_all(&self) -> bool {
        let deadline = Clock::SYSTEM.instant() + LAST_WAIT;
        loop {
            match self.count("cgroup.events", "populated") {
                Ok(0) => return true,
                Ok(_) if !Clock::SYSTEM.is_past(deadline) => {}
                _ => return false,
            }
            let _linux_before_5_14 = self.set("cgroup.kill", 1);
            Clock::SYSTEM.sleep(LOOK);
        }
    }

    fn set(&self, file: &str, value: u64) -> io::Result<()> {
        delegation::write(&self.directory.join(file), &value.to_string())
    }

    /// A number in a file of names and numbers.
    fn count(&self, file: &str, name: &str) -> io::Result<u64> {
        let text = std::fs::read_to_string(self.directory.join(file))?;
        let counted = text.lines().find_map(|line| {
            let (found, count) = line.split_once(' ')?;
            (found == name).then(|| count.parse().ok())?
        });
        counted.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    fn remove(self) {
        // One in which something still runs is removed by the next server.
        let _still_in_use = std::fs::remove_dir(self.directory);
    }
}
