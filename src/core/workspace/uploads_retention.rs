//! How long uploads are kept.
//!
//! What is attached to a conversation piles up, and nobody tidies it: an administrator may let the
//! uploads of a conversation end some days after the last change in them, and they end with their
//! conversation. They go together, so that none has a part of its files, and `shed_tree` says the day
//! for a week before. What a person wants to keep is moved to another zone, where nothing ends.
//!
//! The same thread ends uploads that nobody went on with, and what was in the bin for long enough.

use std::num::NonZeroU64;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TryRecvError, channel};
use std::thread::JoinHandle;

use jiff::Timestamp;

use crate::store::{SHARED, Store, USERS};
use crate::zone::Zone;
use crate::{Chat, Error, UserId, ZoneName, ZonePath};
use fileshed_storage::{DiskError, Kind, Root, give_way};

/// The application is asked about conversations once in so many rounds of an hour.
const ROUNDS_A_DAY: u64 = 24;

/// For how long before the end a listing says it.
const WARNING_SECONDS: i64 = 7 * DAY_SECONDS;

const DAY_SECONDS: i64 = 24 * 60 * 60;

/// The thread that removes uploads that have ended. It stops when this is dropped.
#[derive(Debug)]
pub struct UploadsRetention {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl UploadsRetention {
    /// Starts the thread.
    pub fn start(store: &Arc<Store>) -> Result<Self, Error> {
        let (stop, stopped) = channel();
        let store = Arc::clone(store);
        let thread = std::thread::Builder::new()
            .name("retention".to_owned())
            .spawn(move || work(&store, &stopped))
            .map_err(|error| DiskError::of("remove", &ZonePath::root(), error))?;
        Ok(Self {
            stop: Some(stop),
            thread: Some(thread),
        })
    }
}

impl Drop for UploadsRetention {
    fn drop(&mut self) {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            let _ended = thread.join();
        }
    }
}

fn work(store: &Store, stopped: &Receiver<()>) {
    give_way();
    let pause = store.settings().timings.rounds.retention;
    let goes_on = || stopped.try_recv() == Err(TryRecvError::Empty);
    for round in 0_u64.. {
        report(store.end_old_uploads(&goes_on));
        match store.end_deletions(&goes_on) {
            Ok(0) => {}
            Ok(deletions) => tracing::info!(deletions, "what was deleted has left the bin"),
            Err(error) => tracing::warn!(%error, "what has ended is still in the bin"),
        }
        if let Err(error) = store.resumable_uploads().end_abandoned() {
            tracing::warn!(%error, "uploads that were given up are still there");
        }
        if round % ROUNDS_A_DAY == 0 {
            report(store.end_uploads_of_gone_chats(&goes_on));
        }
        if store.clock().receive(stopped, pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
    }
}

fn report(ended: Result<u64, Error>) {
    match ended {
        Ok(0) => {}
        Ok(conversations) => tracing::info!(conversations, "uploads have ended"),
        Err(error) => tracing::warn!(%error, "uploads that have ended are still there"),
    }
}

impl Store {
    /// Removes the uploads of every conversation in which nothing changed for
    /// `uploads_retention_days`, and counts these conversations. Where it fails the log says so, and
    /// the others go on. `goes_on` is asked before each user.
    pub fn end_old_uploads(&self, goes_on: &dyn Fn() -> bool) -> Result<u64, Error> {
        if self.settings().uploads_retention_days.is_none() {
            return Ok(0);
        }
        let mut tenants = self.tenants_below(USERS)?;
        tenants.push(SHARED.to_owned());
        let ended = tenants.iter().take_while(|_| goes_on()).map(|tenant| {
            let have_ended = |place: &Root| {
                let end = self.end_of_uploads(place.summary()?.last_change);
                Ok(end.is_some_and(|end| end <= self.clock().now()))
            };
            self.end_uploads_of(tenant, have_ended, |chats| chats)
        });
        Ok(ended.sum())
    }

    /// Does the same with the uploads of conversations that the application has no more, where
    /// nothing changed for a day: what is attached to the first message is there before its
    /// conversation is.
    pub fn end_uploads_of_gone_chats(&self, goes_on: &dyn Fn() -> bool) -> Result<u64, Error> {
        let Some(chat_host) = self.chat_host() else {
            return Ok(0);
        };
        if !self.settings().uploads_end_with_chat {
            return Ok(0);
        }
        let users = self.registry().known_users()?;
        let users = users.iter().filter_map(|user| UserId::parse(user).ok());
        let ended = users.take_while(|_| goes_on()).map(|user| {
            let Ok(tenant) = self.tenant_of_user(&user) else {
                return 0;
            };
            let are_settled = |place: &Root| {
                let age = self.clock().now().as_second() - place.summary()?.last_change;
                Ok(age >= DAY_SECONDS)
            };
            let gone = |chats: Vec<String>| {
                // Only of these is the name of the directory the whole id.
                let chats = chats.iter().map(|chat| Chat::new(chat)).collect();
                let gone = chat_host.gone_conversations(&user, chats).into_iter();
                gone.map(|chat| chat.as_str().to_owned()).collect()
            };
            self.end_uploads_of(&tenant, are_settled, gone)
        });
        Ok(ended.sum())
    }

    /// Removes those uploads of one tenant that `may_end`, as far as `choose` takes them, and counts
    /// them.
    fn end_uploads_of(
        &self,
        tenant: &str,
        may_end: impl Fn(&Root) -> Result<bool, Error>,
        choose: impl Fn(Vec<String>) -> Vec<String>,
    ) -> u64 {
        let work = || -> Result<u64, Error> {
            let Some(tenant) = self.existing_tenant(tenant)? else {
                return Ok(0);
            };
            let Some(uploads) = tenant.existing_base(ZoneName::Uploads)? else {
                return Ok(0);
            };
            let mut chats = Vec::new();
            for chat in uploads.list(&ZonePath::root())? {
                if chat.kind != Kind::Directory {
                    continue;
                }
                let place = uploads.existing_subdirectory(chat.path.as_str())?;
                if place.as_ref().map(&may_end).transpose()?.unwrap_or(false) {
                    chats.push(chat.path.as_str().to_owned());
                }
            }
            let mut ended = 0;
            for chat in choose(chats) {
                if self.remove_uploads(&tenant, &chat, &may_end)? {
                    self.end_deletions_of_chat(&tenant, &chat)?;
                    ended += 1;
                }
            }
            Ok(ended)
        };
        work().unwrap_or_else(|error| {
            tracing::warn!(tenant, %error, "uploads could not be removed");
            0
        })
    }

    /// When uploads end in which something changed last then; nothing where none end.
    pub(crate) fn end_of_uploads(&self, last_change: i64) -> Option<Timestamp> {
        let days = self.settings().uploads_retention_days;
        let kept = i64::try_from(days.map(NonZeroU64::get)?).unwrap_or(i64::MAX);
        let kept = kept.saturating_mul(DAY_SECONDS);
        // A time that no calendar has never comes.
        Timestamp::from_second(last_change.saturating_add(kept)).ok()
    }
}

impl Zone<'_> {
    /// When the files of this zone are removed, if that is soon and nothing changes in it.
    pub fn ends_soon(&self) -> Result<Option<Timestamp>, Error> {
        let ends = self.store.settings().uploads_retention_days.is_some();
        if !ends || self.name() != ZoneName::Uploads || self.absent {
            return Ok(None);
        }
        let now = self.store.clock().now().as_second();
        let end = self.store.end_of_uploads(self.data.summary()?.last_change);
        Ok(end.filter(|end| end.as_second() - now <= WARNING_SECONDS))
    }
}
