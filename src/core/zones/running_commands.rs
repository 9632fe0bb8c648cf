//! The commands of calls that run now, for administrators: whose they are, which program it is, and a
//! way to end one. Of a command line nothing else is kept: it may hold contents.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::write_lock::BusyError;
use fileshed_types::cancellation::Cancellation;
use fileshed_types::{Error, Mutex, UserId, ZoneName};

/// All commands of this process, by number, in the order in which they were started.
#[derive(Debug, Default)]
pub struct RunningCommands {
    last: AtomicU64,
    commands: Mutex<BTreeMap<u64, CommandEntry>>,
}

/// One command.
#[derive(Clone, Debug)]
pub struct CommandEntry {
    number: u64,
    /// The user; `None` in shared mode.
    pub user: Option<UserId>,
    /// The name of the program.
    pub program: String,
    /// Unix seconds of its start.
    pub since: i64,
    /// The zone of a tenant whose write lock it has.
    holds: Option<(String, ZoneName)>,
    /// Set when an administrator ends it.
    ended: Cancellation,
}

/// One command that runs. Dropped, it does no more.
#[derive(Debug)]
pub struct RunningCommand<'a> {
    all: &'a RunningCommands,
    number: u64,
    ended: Cancellation,
}

impl CommandEntry {
    /// The name by which it is ended.
    #[must_use]
    pub fn id(&self) -> String {
        format!("command-{}", self.number)
    }
}

impl RunningCommands {
    /// Enters a command.
    pub fn enter(
        &self,
        user: Option<&UserId>,
        program: &str,
        since: i64,
        holds: Option<(String, ZoneName)>,
    ) -> RunningCommand<'_> {
        let ended = Cancellation::default();
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let entry = CommandEntry {
            number,
            user: user.cloned(),
            program: program.to_owned(),
            since,
            holds,
            ended: ended.clone(),
        };
        self.commands.lock().insert(number, entry);
        RunningCommand {
            all: self,
            number,
            ended,
        }
    }
    /// Returns those that run, in the order in which they were started.
    pub fn list(&self) -> Vec<CommandEntry> {
        self.commands.lock().values().cloned().collect()
    }

    /// Returns the refusal of a call that waits for a zone, if a command has its write lock.
    pub(crate) fn holder(&self, tenant: &str, zone: ZoneName) -> Option<Error> {
        let commands = self.commands.lock();
        let held = |entry: &&CommandEntry| {
            let held = entry.holds.as_ref();
            held.is_some_and(|held| held.0 == tenant && held.1 == zone)
        };
        let entry = commands.values().find(held)?;
        let busy = BusyError::Command {
            command: entry.program.clone(),
            since: entry.since,
            id: entry.id(),
        };
        Some(busy.into())
    }

    /// Ends the command of this id, and returns it; `None` if it runs no more.
    pub fn end(&self, id: &str) -> Option<CommandEntry> {
        let commands = self.commands.lock();
        let entry = commands.values().find(|entry| entry.id() == id)?;
        entry.ended.cancel();
        Some(entry.clone())
    }
}

impl RunningCommand<'_> {
    /// Returns `true` if an administrator ended it.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended.is_cancelled()
    }
}

impl Drop for RunningCommand<'_> {
    fn drop(&mut self) {
        self.all.commands.lock().remove(&self.number);
    }
}
