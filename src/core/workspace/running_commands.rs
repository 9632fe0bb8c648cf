//! The commands of calls that run now, for who looks after the server: whose they are, which program
//! it is, and a way to end one. Of a command line nothing else is kept: it may hold contents.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::write_lock::BusyError;
use crate::{Error, UserId, ZoneName};
use fileshed_types::cancellation::Cancellation;

/// All of this process.
#[derive(Debug, Default)]
pub(crate) struct RunningCommands(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    commands: BTreeMap<u64, CommandEntry>,
}

/// One command.
#[derive(Clone, Debug)]
pub(crate) struct CommandEntry {
    /// For whom it runs; nobody in shared mode.
    pub(crate) user: Option<UserId>,
    /// The name of the program.
    pub(crate) program: String,
    /// Unix seconds of its start.
    pub(crate) since: i64,
    /// The zone of a tenant whose write lock it has.
    holds: Option<(String, ZoneName)>,
    /// Set when an administrator ends it.
    ended: Cancellation,
}

/// One command that runs. Dropped, it does no more.
#[derive(Debug)]
pub(crate) struct RunningCommand<'a> {
    all: &'a RunningCommands,
    number: u64,
    ended: Cancellation,
}

/// The name by which a command is ended.
pub(crate) fn id(number: u64) -> String {
    format!("command-{number}")
}

impl RunningCommands {
    /// Enters a command.
    pub(crate) fn enter(
        &self,
        user: Option<&UserId>,
        program: &str,
        since: i64,
        holds: Option<(String, ZoneName)>,
    ) -> RunningCommand<'_> {
        let ended = Cancellation::default();
        let mut state = self.state();
        state.next += 1;
        let number = state.next;
        let entry = CommandEntry {
            user: user.cloned(),
            program: program.to_owned(),
            since,
            holds,
            ended: ended.clone(),
        };
        state.commands.insert(number, entry);
        RunningCommand {
            all: self,
            number,
            ended,
        }
    }

    /// Those that run, in the order in which they were started, by number.
    pub(crate) fn list(&self) -> Vec<(u64, CommandEntry)> {
        let state = self.state();
        let commands = state.commands.iter();
        commands
            .map(|(number, entry)| (*number, entry.clone()))
            .collect()
    }

    /// The refusal of whoever waits for a zone, if a command has its write lock.
    pub(crate) fn holder(&self, tenant: &str, zone: ZoneName) -> Option<Error> {
        let holds = |entry: &CommandEntry| {
            let held = entry.holds.as_ref();
            held.is_some_and(|held| held.0 == tenant && held.1 == zone)
        };
        let mut commands = self.list().into_iter();
        let (number, entry) = commands.find(|(_, entry)| holds(entry))?;
        let busy = BusyError::Command {
            command: entry.program,
            since: entry.since,
            id: id(number),
        };
        Some(busy.into())
    }

    /// Ends the command of this number; false where it runs no more.
    pub(crate) fn end(&self, number: u64) -> bool {
        let state = self.state();
        let entry = state.commands.get(&number);
        if let Some(entry) = entry {
            entry.ended.cancel();
        }
        entry.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RunningCommand<'_> {
    /// Whether an administrator ended it.
    pub(crate) fn is_ended(&self) -> bool {
        self.ended.is_cancelled()
    }
}

impl Drop for RunningCommand<'_> {
    fn drop(&mut self) {
        self.all.state().commands.remove(&self.number);
    }
}
