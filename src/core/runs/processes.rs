//! Lines of the shell and interactive shells of all users: one list of those that run, and of lines that
//! ended lately.
//!
//! A shell outlives its connection, so that somebody who reloads a page is back in it: a shell that was
//! left alone is given to the next who asks for one in the same conversation. Its id is a credential
//! of 256 random bits; without another one, it is good for one connection within half a minute.
//! Lists have another name of the shell, because a caller that only reads sees them.
//!
//! This is what is known of processes; how one is started and looked after is in `terminal`.

mod connection;
mod error;
mod escape;
mod log;
mod logs;
mod process;
mod screen;
mod scrollback;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use fileshed_types::cancellation::Cancellation;
use fileshed_types::fair::{FairSemaphore, Full, Grant, Shares};
use fileshed_types::limiter::{Limiter, Pool};
use fileshed_types::timings::ShellTimings;
use fileshed_types::{Caller, Chat, Clock, Error, Mutex, Settings, UserId, random};

pub use connection::{ShellConnection, ShellOutput};
pub use error::{BackgroundError, ShellSessionError};
pub use log::{Output, OutputEntry, OutputSpan, OutputStream, ProcessStatus};
pub(crate) use log::{ProcessLog, StartLine, file_name, has_end, server_of};
pub use logs::StartingProcess;
pub(crate) use logs::{KeptLog, LogsState, TenantLogs};
pub(crate) use process::{EndRequest, Identity, Streams, wait_for};
pub use process::{Listening, Process, WakeCallback};
pub(crate) use screen::Orders;
use screen::{Screen, ShellCredential};

/// Seconds for which a line that ended is still listed.
const LISTED_SECONDS: i64 = 300;

/// Lines of a tenant that ended and are listed: the last ones.
const LISTED: usize = 200;

/// Lines of all users at once: each keeps a thread.
const LINES_MOST: u64 = 512;

/// All lines and shells of this server.
#[derive(Debug)]
pub struct Processes {
    /// In the order in which they were entered.
    all: Mutex<Vec<Arc<Process>>>,
    logs: Mutex<HashMap<String, Arc<TenantLogs>>>,
    pub(crate) lines: FairSemaphore,
    shells: FairSemaphore,
    shell_shares: Shares,
    /// `true` if the server stops.
    stopping: AtomicBool,
    clock: Clock,
    timings: ShellTimings,
    /// The server, if several may have shells of a user: their ids end with it.
    instance: Option<String>,
}

/// A shell, as its user sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ShellEntry {
    /// The id that a client connects with; in a list its name, which opens nothing.
    pub id: String,
    /// The time of its start (RFC 3339).
    pub created_at: String,
}

impl Processes {
    pub(crate) fn new(settings: &Settings, limiter: &Limiter, instance: Option<&str>) -> Self {
        let own = settings.terminal_max_processes;
        let lines = Shares::fixed(own, LINES_MOST.max(own.saturating_mul(2)));
        let shell_shares = Shares::fixed(
            settings.terminal_max_shells,
            settings.terminal_max_shells_total,
        );
        Self {
            all: Mutex::default(),
            logs: Mutex::default(),
            lines: limiter.open(Pool::Processes, lines),
            shells: limiter.open(Pool::Shells, shell_shares),
            shell_shares,
            stopping: AtomicBool::new(false),
            clock: limiter.clock().clone(),
            timings: settings.timings.shells.clone(),
            instance: instance.map(str::to_owned),
        }
    }

    /// Enters a process.
    pub(crate) fn enter(&self, process: &Arc<Process>) {
        self.all.lock().push(Arc::clone(process));
    }

    /// Removes a process from the list.
    pub(crate) fn remove(&self, process: &Arc<Process>) {
        self.all.lock().retain(|other| !Arc::ptr_eq(other, process));
    }

    /// Returns all that run, in the order in which they were entered.
    pub fn running(&self) -> Vec<Arc<Process>> {
        let all = self.all.lock();
        let running = all.iter().filter(|process| process.is_running());
        running.cloned().collect()
    }

    /// Ends all that run, and lets nobody open another shell.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        for process in self.running() {
            if !process.is_shell() {
                process.remark("ended by a stop of the server");
            }
            process.stop(true);
        }
    }

    /// Returns `true` if nobody may open another shell.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Waits until what all of them changed is committed, at most so long.
    pub fn wait(&self, patience: Duration) {
        let deadline = self.clock.instant() + patience;
        for process in self.running() {
            process.wait_for_end(deadline);
        }
    }

    /// Returns the lines of a tenant that run or ended lately, in the order in which they were started.
    pub(crate) fn lines(&self, tenant: &str) -> Vec<Arc<Process>> {
        let now = self.clock.now().as_second();
        let is_line = |process: &Process| process.is_line_of(tenant);
        let mut all = self.all.lock();
        let ended = all.iter().filter(|process| is_line(process));
        let ended = ended.filter(|process| !process.is_running()).count();
        let mut too_many = ended.saturating_sub(LISTED);
        all.retain(|process| {
            let Some(ended) = process.ended() else {
                return true;
            };
            let is_first = is_line(process) && too_many > 0;
            too_many -= usize::from(is_first);
            !is_first && now - ended < LISTED_SECONDS
        });
        let lines = all.iter().filter(|process| is_line(process));
        let mut lines: Vec<Arc<Process>> = lines.cloned().collect();
        drop(all);
        lines.sort_by_key(|line| line.identity.started);
        lines
    }

    /// Returns `true` if a tenant has a shell, or a line that runs or ended lately.
    pub(crate) fn has_any_of(&self, tenant: &str) -> bool {
        let is_its = |process: &Arc<Process>| process.identity.tenant == tenant;
        !self.lines(tenant).is_empty() || self.running().iter().any(is_its)
    }

    /// An id that says which server has the shell.
    fn with_instance(&self, id: String) -> String {
        match &self.instance {
            Some(instance) => format!("{id}-{instance}"),
            None => id,
        }
    }

    fn credential(&self, resumes: bool) -> Result<ShellCredential, Error> {
        let now = self.clock.now();
        let secret = hex::encode(random::bytes::<32>()?);
        Ok(ShellCredential {
            id: self.with_instance(secret),
            expires: now.checked_add(self.timings.credential).unwrap_or(now),
            used: false,
            resumes,
        })
    }

    /// Returns the shell that was left alone in this conversation last, with a new id; or one that
    /// began before the conversation had a name, which is this one's from now on.
    pub(crate) fn resume(&self, caller: &Caller) -> Result<Option<ShellEntry>, Error> {
        let credential = self.credential(true)?;
        let now = self.clock.now();
        let all = self.all.lock();
        let is_left = |shell: &&Arc<Process>| {
            let is_its = shell.is_of(&caller.chat) || shell.is_of(&Chat::default());
            let is_free = || shell.screen().is_some_and(|screen| screen.is_free(now));
            is_its && shell.request() == EndRequest::None && is_free()
        };
        let left = shells(&all, caller).filter(is_left);
        Ok(left.max_by_key(|shell| alone_since(shell)).map(|shell| {
            shell.move_to(&caller.chat);
            let id = credential.id.clone();
            if let Some(mut screen) = shell.screen() {
                screen.credential = credential;
            }
            ShellEntry::of(shell, id)
        }))
    }

    /// Enters a new shell, which begins when its thread does. If the user has as many as one may have,
    /// one that was left alone at its prompt makes room.
    pub(crate) fn add_shell(
        &self,
        caller: &Caller,
        tenant: &str,
    ) -> Result<(Arc<Process>, ShellEntry), Error> {
        let place = self.shell_place(tenant)?;
        let credential = self.credential(false)?;
        let id = credential.id.clone();
        let started = self.clock.now();
        let identity = Identity {
            id: self.with_instance(hex::encode(random::bytes::<16>()?)),
            tenant: tenant.to_owned(),
            user: caller.user.clone(),
            command: "sh".to_owned(),
            cwd: String::new(),
            started,
        };
        let streams = Streams::Terminal(Mutex::new(Screen::new(credential, started)));
        let chat = caller.chat.clone();
        let shell = Arc::new(Process::begin(identity, chat, streams, place, &self.clock)?);
        let mut all = self.all.lock();
        if self.is_stopping() {
            return Err(ShellSessionError::NotStarted.into());
        }
        all.push(Arc::clone(&shell));
        drop(all);
        let entry = ShellEntry::of(&shell, id);
        Ok((shell, entry))
    }

    fn shell_place(&self, tenant: &str) -> Result<Grant, ShellSessionError> {
        let never = Cancellation::default();
        let take = |patience| self.shells.take(tenant, patience, &never);
        let place = match take(Duration::ZERO) {
            Err(Full::User) if self.end_one_alone(tenant) => take(self.timings.place),
            other => other,
        };
        let Shares {
            per_user, total, ..
        } = self.shell_shares;
        place.map_err(|full| match full {
            Full::User => ShellSessionError::User { limit: per_user },
            Full::All => ShellSessionError::Server { limit: total },
        })
    }

    /// Ends the shell of a tenant that was left alone longest, of those in which nothing runs.
    fn end_one_alone(&self, tenant: &str) -> bool {
        let now = self.clock.now();
        let mut left = self.running();
        left.retain(|shell| {
            let screen = shell.screen();
            let is_left = screen.is_some_and(|screen| screen.is_free(now) && screen.at_prompt);
            is_left && shell.identity.tenant == tenant && shell.request() == EndRequest::None
        });
        let found = left.iter().min_by_key(|shell| alone_since(shell));
        if let Some(shell) = found {
            shell.stop(true);
            shell.wait_for_end(self.clock.instant() + self.timings.place);
        }
        found.is_some()
    }

    /// Returns the shells of a caller in a conversation, in the order in which they began.
    #[must_use]
    pub fn list_shells(&self, caller: &Caller) -> Vec<ShellEntry> {
        let all = self.all.lock();
        let own = shells(&all, caller).filter(|shell| shell.is_of(&caller.chat));
        own.map(|shell| ShellEntry::listed(shell)).collect()
    }

    /// Returns a shell of a user by its name in lists or its id.
    pub(crate) fn shell(
        &self,
        user: Option<&UserId>,
        id: &str,
    ) -> Result<Arc<Process>, ShellSessionError> {
        let all = self.all.lock();
        let is_meant = |shell: &&Arc<Process>| {
            let has_id = || shell.has_credential(id);
            is_shell_of(shell, user)
                && shell.request() == EndRequest::None
                && (shell.id() == id || has_id())
        };
        let found = all.iter().find(is_meant).cloned();
        found.ok_or(ShellSessionError::Unknown)
    }

    /// Returns the shell of this conversation to which its user is connected, the latest of several.
    pub(crate) fn connected(&self, caller: &Caller) -> Result<Arc<Process>, ShellSessionError> {
        let all = self.all.lock();
        let is_connected = |shell: &&Arc<Process>| {
            let has_client = || shell.screen().is_some_and(|screen| screen.client.is_some());
            shell.is_of(&caller.chat) && has_client()
        };
        let found = shells(&all, caller).rfind(is_connected);
        found.cloned().ok_or(ShellSessionError::NotConnected)
    }

    /// Returns the tenant whose shell has this credential.
    #[must_use]
    pub fn owner_of_shell(&self, id: &str) -> Option<String> {
        let all = self.all.lock();
        let found = all.iter().find(|shell| shell.has_credential(id));
        found.map(|shell| shell.identity.tenant.clone())
    }
}

impl ShellEntry {
    fn of(shell: &Process, id: String) -> Self {
        let created_at = shell.identity.started.to_string();
        Self { id, created_at }
    }

    /// The entry of a shell for callers that may only look.
    pub(crate) fn listed(shell: &Process) -> Self {
        Self::of(shell, shell.id().to_owned())
    }
}

/// Returns `true` for a shell of a user that runs.
fn is_shell_of(process: &Process, user: Option<&UserId>) -> bool {
    process.is_shell() && process.identity.user.as_ref() == user && process.is_running()
}

/// The shells of a caller that run.
fn shells<'a>(
    all: &'a [Arc<Process>],
    caller: &Caller,
) -> impl DoubleEndedIterator<Item = &'a Arc<Process>> {
    let user = caller.user.as_ref();
    all.iter().filter(move |process| is_shell_of(process, user))
}

/// The time since when nobody is connected to a shell.
fn alone_since(shell: &Process) -> Option<Timestamp> {
    shell.screen().map(|screen| screen.alone_since)
}
