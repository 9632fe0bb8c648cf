//! Interactive shells that are there: whose they are, who is connected, and how many there may be.
//!
//! A shell outlives its connection, so that whoever reloads a page is back in it: what was left
//! alone is given to the next who asks for a shell in the same conversation. Its id is a credential
//! of 256 random bits; without another one, it is good for one connection within half a minute.
//! Lists have another name of the shell, because a caller that only reads sees them.

mod connection;
mod error;
mod escape;
mod scrollback;
mod shell;
mod state;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;

use crate::{Chat, Clock, Error, Settings, UserId};
use fileshed_sandbox::TerminalWaker;
use fileshed_types::cancellation::Cancellation;
use fileshed_types::fair::{FairSemaphore, Full, Grant, Shares};
use fileshed_types::limiter::{Limiter, Pool};
use fileshed_types::random;
use fileshed_types::timings::ShellTimings;

pub use connection::{ShellConnection, ShellOutput};
pub use error::ShellSessionError;
pub(crate) use shell::{Orders, Shell};
pub use state::ShellWake;
use state::{ShellClient, ShellCredential};

/// All shells of this process.
#[derive(Debug)]
pub struct Shells {
    all: Mutex<Vec<Arc<Shell>>>,
    places: FairSemaphore,
    shares: Shares,
    connections: AtomicU64,
    /// The server stops.
    stopping: AtomicBool,
    clock: Clock,
    timings: ShellTimings,
    /// The server, where several may have shells of a user: their ids end with it.
    instance: Option<String>,
}

/// Who asks for a shell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShellOwner<'a> {
    pub(crate) user: Option<&'a UserId>,
    /// The user as limits know it.
    pub(crate) name: &'a str,
    pub(crate) chat: &'a Chat,
}

/// A shell, for its user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShellEntry {
    /// What a client connects with; in a list its name, which opens nothing.
    pub id: String,
    /// When it began.
    pub created: Timestamp,
}

impl Shells {
    pub(crate) fn new(settings: &Settings, limiter: &Limiter, instance: Option<&str>) -> Self {
        let shares = Shares::fixed(
            settings.terminal_max_shells,
            settings.terminal_max_shells_total,
        );
        Self {
            all: Mutex::default(),
            places: limiter.open(Pool::Shells, shares),
            shares,
            connections: AtomicU64::new(1),
            stopping: AtomicBool::new(false),
            clock: limiter.clock().clone(),
            timings: settings.timings.shells.clone(),
            instance: instance.map(str::to_owned),
        }
    }

    fn all(&self) -> MutexGuard<'_, Vec<Arc<Shell>>> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// The shell that was left alone in this conversation last, with a new id; or one that began
    /// before the conversation had a name, which is this one's from now on.
    pub(crate) fn resume(&self, owner: ShellOwner<'_>) -> Result<Option<ShellEntry>, Error> {
        let credential = self.credential(true)?;
        let now = self.clock.now();
        let all = self.all();
        let mut found: Option<(Timestamp, &Arc<Shell>)> = None;
        for shell in all.iter().filter(|shell| shell.user.as_ref() == owner.user) {
            let state = shell.state();
            let is_its = state.chat == *owner.chat || state.chat == Chat::default();
            let is_free = state.client.is_none() && !state.credential.is_good(now);
            let is_there = !state.ended && !state.stopping;
            let is_later = found.is_none_or(|(since, _)| since <= state.alone_since);
            if is_its && is_free && is_there && is_later {
                found = Some((state.alone_since, shell));
            }
        }
        Ok(found.map(|(_, shell)| {
            let mut state = shell.state();
            state.chat = owner.chat.clone();
            state.credential = credential;
            entry(shell, &state.credential)
        }))
    }

    /// A new shell, which begins when its thread does. Where the user has as many as one may have,
    /// one that was left alone at its prompt makes room.
    pub(crate) fn add(
        &self,
        owner: ShellOwner<'_>,
    ) -> Result<(Arc<Shell>, ShellEntry, Grant), Error> {
        let place = self.place(owner.name)?;
        let name = self.with_instance(hex::encode(random::bytes::<16>()?));
        let shell = Arc::new(Shell::new(
            owner.user.cloned(),
            owner.name.to_owned(),
            owner.chat.clone(),
            (name, self.credential(false)?),
            TerminalWaker::new()?,
            self.clock.now(),
        ));
        let entry = entry(&shell, &shell.state().credential);
        let mut all = self.all();
        if self.stopping.load(Ordering::SeqCst) {
            return Err(ShellSessionError::NotStarted.into());
        }
        all.push(Arc::clone(&shell));
        drop(all);
        Ok((shell, entry, place))
    }

    fn place(&self, owner: &str) -> Result<Grant, ShellSessionError> {
        let never = Cancellation::default();
        let take = |patience| self.places.take(owner, patience, &never);
        let place = match take(Duration::ZERO) {
            Err(Full::User) if self.end_one_alone(owner) => take(self.timings.place),
            other => other,
        };
        place.map_err(|full| match full {
            Full::User => ShellSessionError::User {
                limit: self.shares.per_user,
            },
            Full::All => ShellSessionError::Server {
                limit: self.shares.total,
            },
        })
    }

    /// Ends the shell that its user has left alone longest, of those in which nothing runs.
    fn end_one_alone(&self, owner: &str) -> bool {
        let now = self.clock.now();
        let mut found: Option<(Timestamp, Arc<Shell>)> = None;
        for shell in self.all().iter().filter(|shell| shell.owner == owner) {
            let state = shell.state();
            let is_free = state.client.is_none() && !state.credential.is_good(now);
            let is_earlier = found
                .as_ref()
                .is_none_or(|(since, _)| *since > state.alone_since);
            if is_free && state.at_prompt && !state.stopping && is_earlier {
                found = Some((state.alone_since, Arc::clone(shell)));
            }
        }
        if let Some((_, shell)) = &found {
            shell.stop();
            let deadline = self.clock.instant() + self.timings.place;
            shell.wait_for_end(&self.clock, deadline);
        }
        found.is_some()
    }

    /// It is over, and nobody finds it any more.
    pub(crate) fn remove(&self, shell: &Arc<Shell>) {
        self.all().retain(|other| !Arc::ptr_eq(other, shell));
        shell.set_ended();
    }

    /// The shells of a user in a conversation, in the order in which they began.
    pub(crate) fn list(&self, owner: ShellOwner<'_>) -> Vec<ShellEntry> {
        let all = self.all();
        let own = all.iter().filter(|shell| shell.user.as_ref() == owner.user);
        own.filter_map(|shell| {
            let state = shell.state();
            (state.chat == *owner.chat && !state.ended).then(|| listed(shell))
        })
        .collect()
    }

    fn find(&self, user: Option<&UserId>, id: &str) -> Result<Arc<Shell>, ShellSessionError> {
        let all = self.all();
        let own = all.iter().filter(|shell| shell.user.as_ref() == user);
        let mut found = own.filter(|shell| {
            let state = shell.state();
            let is_meant = shell.name == id || state.credential.id == id;
            is_meant && !state.ended && !state.stopping
        });
        found.next().cloned().ok_or(ShellSessionError::Unknown)
    }

    /// A shell of a user.
    pub(crate) fn get(
        &self,
        user: Option<&UserId>,
        id: &str,
    ) -> Result<ShellEntry, ShellSessionError> {
        Ok(listed(&*self.find(user, id)?))
    }

    /// Ends a shell of a user. An id that was given for a shell that was there before and with which
    /// nobody came is only given back: who leaves while a page loads means the page.
    pub(crate) fn end(&self, user: Option<&UserId>, id: &str) -> Result<(), ShellSessionError> {
        let shell = self.find(user, id)?;
        let mut state = shell.state();
        if state.credential.id == id && state.credential.resumes && !state.credential.used {
            state.credential.used = true;
            return Ok(());
        }
        drop(state);
        shell.stop();
        Ok(())
    }

    /// Returns the user, as limits know it, whose shell has this credential.
    #[must_use]
    pub fn owner_of(&self, id: &str) -> Option<String> {
        let all = self.all();
        let mut all = all.iter();
        let found = all.find(|shell| shell.state().credential.id == id);
        found.map(|shell| shell.owner.clone())
    }

    /// Connects a user to a shell of its own. `wake` is called whenever there is something to take,
    /// or room to type.
    pub fn connect(
        &self,
        user: Option<&UserId>,
        id: &str,
        wake: ShellWake,
    ) -> Result<ShellConnection, ShellSessionError> {
        self.connect_to(self.find(user, id)?, id, false, wake)
    }

    /// Connects whoever brings the id of a shell of this user: once, and soon.
    pub fn connect_once(
        &self,
        user: &UserId,
        id: &str,
        wake: ShellWake,
    ) -> Result<ShellConnection, ShellSessionError> {
        self.connect_to(self.find(Some(user), id)?, id, true, wake)
    }

    fn connect_to(
        &self,
        shell: Arc<Shell>,
        id: &str,
        once: bool,
        wake: ShellWake,
    ) -> Result<ShellConnection, ShellSessionError> {
        let number = self.connections.fetch_add(1, Ordering::Relaxed);
        let mut state = shell.state();
        // Another may have got a new id for it meanwhile. Who has no right to it is not told either
        // whether somebody is there.
        if state.credential.id != id || (once && !state.credential.is_good(self.clock.now())) {
            return Err(ShellSessionError::Unknown);
        }
        if state.client.is_some() {
            return Err(ShellSessionError::Connected);
        }
        state.credential.used = true;
        let replay = VecDeque::from(state.scrollback.replay());
        state.redraw = !replay.is_empty();
        state.client = Some(ShellClient {
            number,
            wake,
            replay,
            taken: state.scrollback.written(),
        });
        state.wake();
        drop(state);
        shell.waker().wake();
        Ok(ShellConnection {
            shell,
            number,
            clock: self.clock.clone(),
        })
    }

    /// The shell of this conversation to which its user is connected, the latest if there are several.
    fn connected(&self, owner: ShellOwner<'_>) -> Result<Arc<Shell>, ShellSessionError> {
        let all = self.all();
        let mut own = all.iter().filter(|shell| shell.user.as_ref() == owner.user);
        let found = own.rfind(|shell| {
            let state = shell.state();
            state.chat == *owner.chat && state.client.is_some() && !state.ended
        });
        found.cloned().ok_or(ShellSessionError::NotConnected)
    }

    /// The end of what the user's shell shows, as text.
    pub(crate) fn read(
        &self,
        owner: ShellOwner<'_>,
        most: usize,
    ) -> Result<String, ShellSessionError> {
        Ok(self.connected(owner)?.state().scrollback.text(most))
    }

    /// Types into the user's shell: all of it, or nothing.
    pub(crate) fn type_in(
        &self,
        owner: ShellOwner<'_>,
        text: &str,
    ) -> Result<(), ShellSessionError> {
        let shell = self.connected(owner)?;
        let mut state = shell.state();
        if !state.has_room_for(text.len()) {
            return Err(ShellSessionError::Full);
        }
        state.type_in(text.as_bytes());
        drop(state);
        shell.waker().wake();
        Ok(())
    }

    /// Whether a user, as limits know it, has one.
    pub(crate) fn has_one_of(&self, owner: &str) -> bool {
        let all = self.all();
        let mut own = all.iter().filter(|shell| shell.owner == owner);
        own.any(|shell| !shell.state().ended)
    }

    /// For each shell its number, its user, and the Unix second in which it began. Its id is a
    /// credential, and is not shown.
    pub(crate) fn entries_of_all(&self) -> Vec<(i128, Option<UserId>, i64)> {
        let all = self.all().clone();
        let there = all.iter().filter(|shell| !shell.state().ended);
        there
            .map(|shell| {
                let began = shell.created;
                (began.as_nanosecond(), shell.user.clone(), began.as_second())
            })
            .collect()
    }

    /// Ends the shell of this number for a reason that its user is told; false where there is none.
    pub(crate) fn end_by_number(&self, number: i128, reason: &Error) -> bool {
        let all = self.all().clone();
        let mut there = all.iter().filter(|shell| !shell.state().ended);
        let shell = there.find(|shell| shell.created.as_nanosecond() == number);
        if let Some(shell) = shell {
            shell.complain(reason);
            shell.stop();
        }
        shell.is_some()
    }

    /// Asks all for their end, and lets nobody open another one.
    pub fn stop(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        self.all().iter().for_each(|shell| shell.stop());
    }

    /// Whether nobody may open another one.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::SeqCst)
    }

    /// Waits until what they changed is taken in, at most so long.
    pub fn wait(&self, patience: Duration) {
        let deadline = self.clock.instant() + patience;
        let all: Vec<Arc<Shell>> = self.all().clone();
        for shell in all {
            shell.wait_for_end(&self.clock, deadline);
        }
    }
}

/// A shell for callers that may only look.
fn listed(shell: &Shell) -> ShellEntry {
    ShellEntry {
        id: shell.name.clone(),
        created: shell.created,
    }
}

fn entry(shell: &Shell, credential: &ShellCredential) -> ShellEntry {
    ShellEntry {
        id: credential.id.clone(),
        created: shell.created,
    }
}
