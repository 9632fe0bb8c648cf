//! Retention of uploads.
//!
//! Files that are attached to conversations pile up, and nobody tidies them. An administrator may therefore
//! have the uploads of a conversation deleted some days after their last change; they are deleted with their
//! conversation, too. They go together, so that no conversation keeps a part of its files, and `shed_tree`
//! announces the day a week before. A user moves files to another zone to keep them.
//!
//! The same thread deletes abandoned uploads, and entries of the bin that are old enough.

use jiff::Timestamp;

use crate::admin::Admin;
use fileshed_changes::{bin, removal};
use fileshed_storage::{DiskError, Kind, Root, give_way};
use fileshed_types::{Background, Chat, Error, StopSign, UserId, ZoneName, ZonePath};
use fileshed_zones::chats::DAY_SECONDS;
use fileshed_zones::store::{SHARED, USERS};
use fileshed_zones::zone::Zone;

/// The application is asked about conversations once in so many rounds of an hour.
const ROUNDS_A_DAY: u64 = 24;

/// For how long before the end a listing says it.
const WARNING_SECONDS: i64 = 7 * DAY_SECONDS;

impl Admin {
    /// Starts the thread that removes uploads that have ended.
    pub fn start_retention(&self) -> Result<Background, Error> {
        let admin = self.clone();
        let started = Background::start("retention", move |stop| admin.retain(stop));
        Ok(started.map_err(DiskError::server)?)
    }

    fn retain(&self, stop: &StopSign) {
        let store = &self.store;
        give_way();
        let pause = store.settings.timings.rounds.retention;
        let goes_on = || !stop.is_given();
        for round in 0_u64.. {
            report(self.end_old_uploads(&goes_on));
            match bin::end_deletions(store, &goes_on) {
                Ok(0) => {}
                Ok(deletions) => {
                    tracing::info!(deletions, "expired entries were removed from the bin");
                }
                Err(error) => {
                    tracing::warn!(%error, "expired entries could not be removed from the bin");
                }
            }
            if let Err(error) = self.transfer.end_abandoned_uploads() {
                tracing::warn!(%error, "abandoned uploads could not be removed");
            }
            if round % ROUNDS_A_DAY == 0 {
                report(self.end_uploads_of_gone_chats(&goes_on));
            }
            if stop.is_given_within(&store.clock, pause) {
                return;
            }
        }
    }

    /// Removes the uploads of every conversation in which nothing changed for `uploads_retention_days`, and
    /// returns the number of these conversations. A failure is logged, and the others go on. `goes_on` is
    /// called before each user.
    pub fn end_old_uploads(&self, goes_on: &dyn Fn() -> bool) -> Result<u64, Error> {
        if self.store.settings.uploads_retention_days.is_none() {
            return Ok(0);
        }
        let mut tenants = self.store.tenants_below(USERS)?;
        tenants.push(SHARED.to_owned());
        let ended = tenants.iter().take_while(|_| goes_on()).map(|tenant| {
            let have_ended = |place: &Root| {
                let end = self.store.end_of_uploads(place.summary()?.last_change);
                Ok(end.is_some_and(|end| end <= self.store.clock.now()))
            };
            self.end_uploads_of(tenant, have_ended, |chats| chats)
        });
        Ok(ended.sum())
    }

    /// Does the same with the uploads of conversations that the application has no more, where
    /// nothing changed for a day: what is attached to the first message is there before its
    /// conversation is.
    pub fn end_uploads_of_gone_chats(&self, goes_on: &dyn Fn() -> bool) -> Result<u64, Error> {
        let Some(chat_host) = self.store.chat_host() else {
            return Ok(0);
        };
        if !self.store.settings.uploads_end_with_chat {
            return Ok(0);
        }
        let users = self.store.registry.known_users()?;
        let users = users.iter().filter_map(|user| UserId::parse(user).ok());
        let ended = users.take_while(|_| goes_on()).map(|user| {
            let Ok(tenant) = self.store.tenant_of_user(&user) else {
                return 0;
            };
            let are_settled = |place: &Root| {
                let age = self.store.clock.now().as_second() - place.summary()?.last_change;
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
            let Some(tenant) = self.store.existing_tenant(tenant)? else {
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
                if removal::remove_uploads(&self.store, &tenant, &chat, &may_end)? {
                    bin::end_deletions_of_chat(&self.store, &tenant, &chat)?;
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
}

/// When the files of this zone are removed, if that is soon and nothing changes in it.
pub fn ends_soon(zone: &Zone<'_>) -> Result<Option<Timestamp>, Error> {
    let ends = zone.store.settings.uploads_retention_days.is_some();
    if !ends || zone.name != ZoneName::Uploads || zone.absent {
        return Ok(None);
    }
    let now = zone.store.clock.now().as_second();
    let end = zone.store.end_of_uploads(zone.data.summary()?.last_change);
    Ok(end.filter(|end| end.as_second() - now <= WARNING_SECONDS))
}

fn report(ended: Result<u64, Error>) {
    match ended {
        Ok(0) => {}
        Ok(conversations) => tracing::info!(conversations, "expired uploads were removed"),
        Err(error) => tracing::warn!(%error, "expired uploads could not be removed"),
    }
}
