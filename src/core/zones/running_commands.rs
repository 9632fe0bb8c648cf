//! The commands of calls that run now, for administrators: whose they are, which program it is, and a
//! way to end one. Of a command line nothing else is kept: it may hold contents.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::live_list::LiveList;
use crate::write_lock::BusyError;
use fileshed_types::cancellation::Cancellation;
use fileshed_types::{Error, UserId, ZoneName};

/// All commands of this process.
#[derive(Debug, Default)]
pub struct RunningCommands {
    last: AtomicU64,
    commands: LiveList<RunningCommand>,
}

/// One command, which runs until this is dropped.
#[derive(Debug)]
pub struct RunningCommand {
    number: u64,
    /// The user; `None` in shared mode.
    pub user: Option<UserId>,
    /// The name of the program.
    pub program: String,
    /// Unix seconds of its start.
    pub since: i64,
    /// The zone of a tenant whose write lock it has.
    holds: Option<(String, ZoneName)>,
    ended: Cancellation,
}

impl RunningCommand {
    /// Returns the id by which it can be ended.
    #[must_use]
    pub fn id(&self) -> String {
        format!("command-{}", self.number)
    }

    /// Returns `true` if an administrator ended it.
    #[must_use]
    pub fn is_ended(&self) -> bool {
        self.ended.is_cancelled()
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
    ) -> Arc<RunningCommand> {
        self.commands.add(RunningCommand {
            number: self.last.fetch_add(1, Ordering::Relaxed) + 1,
            user: user.cloned(),
            program: program.to_owned(),
            since,
            holds,
            ended: Cancellation::default(),
        })
    }

    /// Returns those that run, in the order in which they were started.
    pub fn list(&self) -> Vec<Arc<RunningCommand>> {
        self.commands.all()
    }

    /// Returns the refusal of a call that waits for a zone, if a command has its write lock.
    pub(crate) fn holder(&self, tenant: &str, zone: ZoneName) -> Option<Error> {
        let held = |command: &&Arc<RunningCommand>| {
            let held = command.holds.as_ref();
            held.is_some_and(|held| held.0 == tenant && held.1 == zone)
        };
        let commands = self.list();
        let command = commands.iter().find(held)?;
        let busy = BusyError::Command {
            command: command.program.clone(),
            since: command.since,
            id: command.id(),
        };
        Some(busy.into())
    }

    /// Ends the command of this id, and returns it; `None` if it runs no more.
    pub fn end(&self, id: &str) -> Option<Arc<RunningCommand>> {
        let mut commands = self.list().into_iter();
        let command = commands.find(|command| command.id() == id)?;
        command.ended.cancel();
        Some(command)
    }
}
