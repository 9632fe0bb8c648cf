//! Open WebUI, as far as this server uses it.
//!
//! `client` makes the requests; the other modules know the endpoints and the meaning of responses. A request
//! uses the caller's own credential if there is one: then Open WebUI decides about the caller's rights. An
//! administrator's key has every right, so the responses to it are filtered: only the caller's own data is
//! used.

use std::hash::Hash;
use std::time::{Duration, Instant};

use fileshed_core::directory::{Group, Member};
use fileshed_core::settings::PublicUrl;
use fileshed_core::{Caller, Clock, Secret, timings};
use moka::sync::Cache;

use crate::config::Config;

mod account;
mod breaker;
mod chat;
mod chat_host;
pub(crate) mod client;
mod error;
mod file;
pub mod health;
mod multipart;
pub mod register;
mod status;
mod upload_notice;

use account::Account;
pub(crate) use account::{presentable, role};
use client::OpenWebUiClient;
use error::OpenWebUiError;

/// Entries of each cache: callers, groups and credentials.
const REMEMBERED: u64 = 10_000;

/// A connection to one Open WebUI.
#[derive(Debug)]
pub(crate) struct OpenWebUi {
    client: OpenWebUiClient,
    /// Address at which people reach it; empty if nobody said it.
    public: PublicUrl,
    /// Address of the page of this server; empty if nobody said it.
    page: PublicUrl,
    admin: Option<Secret>,
    /// Reports status lines, if they are shown.
    reporter: Option<status::StatusReporter>,
    /// Sends the texts of files, which Open WebUI may take long to index.
    texts: status::StatusReporter,
    /// Accounts by a hash of their credential.
    accounts: Cache<[u8; 32], Option<Account>>,
    /// Existence of users who were named without a credential of their own.
    users: Cache<String, bool>,
    /// Groups by user, with the time when they were asked for.
    groups: Cache<String, (Instant, Vec<Group>)>,
    /// Members by group.
    members: Cache<String, Vec<Member>>,
    /// Messages, by the path for their events, that have a link to what they changed.
    linked: Cache<String, ()>,
}

/// The credential of a request to Open WebUI.
#[derive(Clone, Copy, Debug)]
enum ApiCredential<'a> {
    /// The caller's own credential: the answer is what the caller may know.
    Own(&'a str),
    /// An administrator's: the answer may be about anybody.
    Admin(&'a str),
}

impl<'a> ApiCredential<'a> {
    fn reveal(self) -> &'a str {
        match self {
            Self::Own(key) | Self::Admin(key) => key,
        }
    }
}

impl OpenWebUi {
    /// The connection that `config` describes, if it describes one.
    pub(crate) fn new(config: &Config, clock: &Clock) -> Option<Self> {
        if config.openwebui_api_url.is_empty() {
            return None;
        }
        let lifetime = timings::seconds(config.openwebui_groups_ttl);
        let timings = &config.core.timings.openwebui;
        let client = OpenWebUiClient::timed(config.openwebui_api_url.as_str(), clock, timings);
        Some(Self {
            public: config.openwebui_public_url.clone(),
            page: config.core.public_url.clone(),
            reporter: config
                .live_status
                .then(|| status::StatusReporter::new(client.clone())),
            texts: status::StatusReporter::new(client.clone().within(timings.transfer)),
            client,
            admin: config.openwebui_admin_key.clone(),
            accounts: remembered(timings.account),
            users: remembered(timings.account),
            groups: remembered(lifetime),
            members: remembered(lifetime),
            linked: Cache::new(REMEMBERED),
        })
    }

    fn key<'a>(&'a self, caller: &'a Caller) -> Option<ApiCredential<'a>> {
        let own = caller.credential.as_ref();
        own.map(|own| ApiCredential::Own(own.reveal()))
            .or(self.admin_key())
    }

    fn admin_key(&self) -> Option<ApiCredential<'_>> {
        let admin = self.admin.as_ref();
        admin.map(|admin| ApiCredential::Admin(admin.reveal()))
    }
}

/// A text of Open WebUI, for a terminal.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
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
