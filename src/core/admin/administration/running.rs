//! Commands, processes and shells that run on this server, their end, and the occupancy of its pools.

use super::{Administration, AdministrationError, gone};
use fileshed_types::fair::Occupancy;
use fileshed_types::limiter::Pool;
use fileshed_types::{Error, UserId, names};
use fileshed_zones::store::SHARED;
use fileshed_zones::zone::expect_write_scope;

names! {
    /// The kind of something that runs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum RunningKind {
        /// The command of a call.
        Command = "command",
        /// A process that outlives its call: a line of the terminal.
        Process = "process",
        /// An interactive shell.
        Shell = "shell",
    }
}

/// Something that runs. Of a command only the program is shown, and of a line of a shell not even that,
/// because both may hold contents of files.
#[derive(Clone, Debug)]
pub struct RunningSummary {
    /// Its kind.
    pub kind: RunningKind,
    /// The name by which it is ended.
    pub id: String,
    /// The user; `None` in shared mode.
    pub user: Option<UserId>,
    /// The program.
    pub program: String,
    /// Unix seconds of its start.
    pub since: i64,
}

/// The occupancy of one pool.
#[derive(Clone, Copy, Debug)]
pub struct QueueLength {
    /// The kind of work that takes a place.
    pub name: &'static str,
    /// Places that are taken, and requests that wait.
    pub occupancy: Occupancy,
}

impl Administration<'_> {
    /// The places for calls, commands, lines of shells, shells, transfers.
    pub fn queues(&self) -> Vec<QueueLength> {
        let pools = [
            ("calls", Pool::Calls),
            ("commands", Pool::Commands),
            ("lines", Pool::Lines),
            ("shells", Pool::Shells),
            ("transfers", Pool::Transfers),
        ];
        let limiter = &self.admin.store.limiter;
        let lengths = pools.into_iter().filter_map(|(name, pool)| {
            let occupancy = limiter.occupancy(pool)?;
            Some(QueueLength { name, occupancy })
        });
        lengths.collect()
    }

    /// Unix seconds since when this process serves.
    pub fn since(&self) -> i64 {
        self.admin.store.opened_at
    }

    /// Returns what runs in this process of the server, the longest first.
    pub fn running(&self) -> Vec<RunningSummary> {
        let commands = self.admin.store.running_commands.list().into_iter();
        let commands = commands.map(|command| RunningSummary {
            kind: RunningKind::Command,
            id: command.id(),
            user: command.user.clone(),
            program: command.program.clone(),
            since: command.since,
        });
        let processes = self.admin.runs.processes.running();
        let processes = processes.iter().map(|process| RunningSummary {
            kind: if process.is_shell() {
                RunningKind::Shell
            } else {
                RunningKind::Process
            },
            id: process.public_id(),
            user: process.identity.user.clone(),
            program: "sh".to_owned(),
            since: process.identity.started.as_second(),
        });
        let mut all: Vec<RunningSummary> = commands.chain(processes).collect();
        all.sort_by_key(|one| one.since);
        all
    }

    /// Ends what runs under this id. Its user is told that an administrator did.
    pub fn end_running(&self, id: &str) -> Result<(), Error> {
        expect_write_scope(self.caller)?;
        let processes = self.admin.runs.processes.running();
        let process = processes.iter().find(|one| one.public_id() == id);
        let user = if let Some(process) = process {
            process.end_for(&AdministrationError::Ended.into());
            process.identity.user.clone()
        } else {
            let command = self.admin.store.running_commands.end(id);
            command.ok_or_else(|| gone(id))?.user.clone()
        };
        let tenant = match &user {
            Some(user) => self.admin.store.tenant_of_user(user)?,
            None => SHARED.to_owned(),
        };
        self.log("end_running", &tenant);
        Ok(())
    }
}
