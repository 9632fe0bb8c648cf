//! Open WebUI, as far as this server uses it.
//!
//! `client` speaks to it; everything else says what is asked and what the answers mean. What is
//! asked is asked with the caller's own credential where there is one: then Open WebUI decides what
//! the caller may. An administrator's key may everything, so that with it the answers are looked at:
//! only what belongs to the caller is used.

use std::collections::HashMap;
use std::hash::Hash;
use std::io::Read;
use std::time::{Duration, Instant};

use fileshed_core::chat_host::{
    Attached, Attachment, ChatHost, Line, Publication, Published, Sink, Task,
};
use fileshed_core::directory::{Group, Member};
use fileshed_core::settings::PublicUrl;
use fileshed_core::timings::{self, OpenWebUiTimings};
use fileshed_core::{Caller, Chat, Check, CheckState, Clock, Error, Secret, UserId};
use moka::sync::Cache;

use crate::config::Config;

mod account;
mod breaker;
mod chat;
mod chats;
pub mod client;
mod error;
mod file;
mod groups;
pub mod health;
mod item;
mod multipart;
mod record;
pub mod register;
mod status;
mod upload_notice;

pub use account::{Account, presentable, role};
use client::Client;
pub use error::OpenWebUiError;

/// Entries of each cache: callers, groups and credentials.
const REMEMBERED: u64 = 10_000;

/// A connection to one Open WebUI.
#[derive(Debug)]
pub struct OpenWebUi {
    client: Client,
    /// Address at which people reach it; empty if nobody said it.
    public: PublicUrl,
    admin: Option<Secret>,
    clock: Clock,
    timings: OpenWebUiTimings,
    /// Reports status lines, if they are shown.
    reporter: Option<status::StatusReporter>,
    /// Accounts by a hash of their credential.
    accounts: Cache<[u8; 32], Option<Account>>,
    /// Existence of users who were named without a credential of their own.
    users: Cache<String, bool>,
    /// Groups by user, with the time when they were asked for.
    groups: Cache<String, (Instant, Vec<Group>)>,
    /// Members by group.
    members: Cache<String, Vec<Member>>,
}

/// The credential of a request to Open WebUI.
#[derive(Clone, Copy, Debug)]
enum Key<'a> {
    /// The caller's own credential: the answer is what the caller may know.
    Own(&'a str),
    /// An administrator's: the answer may be about anybody.
    Admin(&'a str),
}

impl<'a> Key<'a> {
    fn reveal(self) -> &'a str {
        match self {
            Self::Own(key) | Self::Admin(key) => key,
        }
    }
}

impl OpenWebUi {
    /// The connection that `config` describes, if it describes one.
    #[must_use]
    pub fn new(config: &Config, clock: &Clock) -> Option<Self> {
        if config.openwebui_api_url.is_empty() {
            return None;
        }
        let lifetime = timings::seconds(config.openwebui_groups_ttl);
        let timings = &config.core.timings.openwebui;
        let client = Client::timed(config.openwebui_api_url.as_str(), clock, timings);
        Some(Self {
            public: config.openwebui_public_url.clone(),
            reporter: config
                .live_status
                .then(|| status::StatusReporter::new(client.clone(), clock, timings)),
            client,
            admin: config.openwebui_admin_key.clone(),
            clock: clock.clone(),
            timings: timings.clone(),
            accounts: remembered(timings.account),
            users: remembered(timings.account),
            groups: remembered(lifetime),
            members: remembered(lifetime),
        })
    }

    fn key<'a>(&'a self, caller: &'a Caller) -> Option<Key<'a>> {
        let own = caller.credential.as_ref();
        own.map(|own| Key::Own(own.reveal())).or(self.admin_key())
    }

    fn admin_key(&self) -> Option<Key<'_>> {
        let admin = self.admin.as_ref();
        admin.map(|admin| Key::Admin(admin.reveal()))
    }
}

impl ChatHost for OpenWebUi {
    fn has_account(&self, user: &UserId) -> Option<bool> {
        self.knows_user(user)
    }

    fn gone_conversations(&self, user: &UserId, conversations: Vec<Chat>) -> Vec<Chat> {
        self.gone_chats(user, conversations)
    }

    fn titles(&self, caller: &Caller, conversations: &[Chat]) -> HashMap<Chat, String> {
        self.titles_of(caller, conversations)
    }

    fn groups(&self, caller: &Caller) -> Result<Option<Vec<Group>>, Error> {
        self.groups_of(caller)
    }

    fn forget_groups(&self, caller: &Caller) -> bool {
        self.forget_groups_of(caller)
    }

    fn members(&self, group: &Group) -> Result<Option<Vec<Member>>, Error> {
        self.members_of(group)
    }

    fn attachments(&self, caller: &Caller) -> Result<Attached, Error> {
        self.attachments_of(caller)
    }

    fn fetch(&self, caller: &Caller, file: &Attachment, sink: Sink<'_>) -> Result<(), Error> {
        self.fetch_file(caller, file, sink)
    }

    fn can_publish(&self, caller: &Caller) -> bool {
        // What an administrator's key puts there, the user cannot open.
        caller.credential.is_some()
    }

    fn publish(
        &self,
        caller: &Caller,
        file: &Publication<'_>,
        content: &mut (dyn Read + Send),
    ) -> Result<Published, Error> {
        self.publish_file(caller, file, content)
    }

    fn publish_again(
        &self,
        caller: &Caller,
        id: &str,
        sha256: &str,
    ) -> Result<Option<bool>, Error> {
        self.publish_file_again(caller, id, sha256)
    }

    fn show_page(&self, caller: &Caller, source: &str, html: &str) -> bool {
        self.embed(caller, source, html)
    }

    fn is_published(&self, caller: &Caller, id: &str) -> Result<bool, Error> {
        self.has_published(caller, id)
    }

    fn address(&self, id: &str) -> String {
        file::address(self.public.as_str(), id)
    }

    fn withdraw(&self, caller: &Caller, id: &str) -> Result<bool, Error> {
        self.withdraw_file(caller, id)
    }

    fn arrived(&self, caller: &Caller, place: &str, names: Vec<String>) {
        self.report_upload(caller, place, names);
    }

    fn line(&self, caller: &Caller, task: Task) -> Option<Box<dyn Line>> {
        self.status_line(caller, task)
    }
}

/// A text of Open WebUI, for a terminal.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// Makes a check of a finding: a failure is a warning, because all else works.
fn check(name: &str, found: Result<String, String>) -> Check {
    match found {
        Ok(text) => Check::new(name, CheckState::Ok, text),
        Err(text) => Check::new(name, CheckState::Warning, text),
    }
}

/// Makes a cache of answers, for a bounded time in bounded space.
fn remembered<K, V>(lifetime: Duration) -> Cache<K, V>
where
    K: Hash + Eq + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    Cache::builder()
        .max_capacity(REMEMBERED)
        .time_to_live(lifetime)
        .build()
}
