//! What runs on this server now, its end, and how far the places of the server are taken.

use super::{Administration, AdministrationError, gone};
use crate::background::OutputStream;
use crate::store::SHARED;
use crate::{Error, UserId, names, running_commands};
use fileshed_types::fair::Occupancy;
use fileshed_types::limiter::Pool;

names! {
    /// How something runs.
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

/// Something that runs. Of its command line only the program is said, and of a line of a shell not
/// even that: both may hold contents.
#[derive(Clone, Debug)]
pub struct RunningSummary {
    /// How it runs.
    pub kind: RunningKind,
    /// What it is ended by.
    pub id: String,
    /// For whom; nobody in shared mode.
    pub user: Option<UserId>,
    /// The program.
    pub program: String,
    /// Unix seconds of its start.
    pub since: i64,
}

/// One kind of places.
#[derive(Clone, Copy, Debug)]
pub struct QueueLength {
    /// What takes one.
    pub name: &'static str,
    /// How far they are taken.
    pub occupancy: Occupancy,
}

impl Administration<'_> {
    /// The places for calls, commands, lines of shells, shells, transfers.
    #[must_use]
    pub fn queues(&self) -> Vec<QueueLength> {
        let pools = [
            ("calls", Pool::Calls),
            ("commands", Pool::Commands),
            ("lines", Pool::Lines),
            ("shells", Pool::Shells),
            ("transfers", Pool::Transfers),
        ];
        let limiter = self.store.limiter();
        let lengths = pools.into_iter().filter_map(|(name, pool)| {
            let occupancy = limiter.occupancy(pool)?;
            Some(QueueLength { name, occupancy })
        });
        lengths.collect()
    }

    /// Unix seconds since when this process serves.
    #[must_use]
    pub fn since(&self) -> i64 {
        self.store.opened_at
    }

    /// What runs in this process of the server, the longest first.
    #[must_use]
    pub fn running(&self) -> Vec<RunningSummary> {
        let commands = self.store.running_commands().list().into_iter();
        let mut all: Vec<RunningSummary> = commands
            .map(|(number, entry)| RunningSummary {
                kind: RunningKind::Command,
                id: running_commands::id(number),
                user: entry.user,
                program: entry.program,
                since: entry.since,
            })
            .collect();
        let processes = self.store.background().running();
        all.extend(processes.iter().map(|process| RunningSummary {
            kind: RunningKind::Process,
            id: format!("process-{}", process.id()),
            user: process.user().cloned(),
            program: "sh".to_owned(),
            since: process.started(),
        }));
        let shells = self.store.shells().entries_of_all().into_iter();
        all.extend(shells.map(|(number, user, since)| RunningSummary {
            kind: RunningKind::Shell,
            id: format!("shell-{number}"),
            user,
            program: "sh".to_owned(),
            since,
        }));
        all.sort_by_key(|one| one.since);
        all
    }

    /// Ends what runs under this id. Its user is told that an administrator did.
    pub fn end_running(&self, id: &str) -> Result<(), Error> {
        self.expect_changes()?;
        let mut running = self.running().into_iter();
        let found = running.find(|one| one.id == id);
        let ended = found.filter(|one| self.end(one)).ok_or_else(|| gone(id))?;
        let tenant = match &ended.user {
            Some(user) => self.store.tenant_of_user(user)?,
            None => SHARED.to_owned(),
        };
        self.log("end_running", &tenant);
        Ok(())
    }

    /// Ends it; false where it has ended by itself.
    fn end(&self, running: &RunningSummary) -> bool {
        let Some((_, id)) = running.id.split_once('-') else {
            return false;
        };
        match running.kind {
            RunningKind::Command => {
                let number = id.parse().unwrap_or_default();
                self.store.running_commands().end(number)
            }
            RunningKind::Process => {
                let processes = self.store.background().running();
                let Some(process) = processes.iter().find(|process| process.id() == id) else {
                    return false;
                };
                let said = format!("ended: {}\n", AdministrationError::Ended);
                process.wrote(OutputStream::Stderr, said, self.store.clock().seconds());
                process.stop(true);
                true
            }
            RunningKind::Shell => {
                let reason = AdministrationError::Ended.into();
                let number = id.parse().unwrap_or_default();
                self.store.shells().end_by_number(number, &reason)
            }
        }
    }
}
