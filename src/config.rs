//! Decisions of an administrator, gathered from four layers.
//!
//! A flag beats the environment (`FILESHED_*`, or `FILESHED_*_FILE` that names a file with the
//! value), the environment beats the TOML file, the file beats the default. [`SETTINGS`] is the one
//! list: flags, variables, help and `fileshed config` are made from it. To add a setting, give it a
//! field in [`Config`] and one line there. Nothing is ignored: an unknown name or a bad value stops
//! the start, and all faults are listed together.

use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroU64;

use axum::http::HeaderName;
use fileshed_core::settings::{GroupSource, IpNetwork, PublicUrl};
use fileshed_core::{Settings, names};
use tracing::Level;

mod layers;
mod origin;
mod settings;
mod value;

pub use fileshed_core::Secret;

pub use layers::{ConfigError, Effective, Inputs};
pub use origin::Origin;
pub use settings::{SETTINGS, Setting};
pub use value::SettingValue;
pub(crate) use value::one_of;

/// A key in a list that stands for one that the server makes at its first start.
pub const AUTO: &str = "auto";

/// Declares the configuration: each line is a setting, its type, and its default.
macro_rules! config {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:expr,)+) => {
        /// Everything that was decided.
        #[derive(Clone, Debug)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: $type,)+
        }

        impl Default for Config {
            fn default() -> Self {
                Self { $($name: $default,)+ }
            }
        }
    };
}

config! {
    /// The settings of the core.
    core: Settings = Settings::new("./data"),
    /// Address to listen on.
    bind: SocketAddr = SocketAddr::from((Ipv4Addr::LOCALHOST, 8000)),
    /// Proxies whose word about the address of a client counts.
    trusted_proxies: Vec<IpNetwork> = Vec::new(),
    /// Keys with which a gateway may name its users.
    api_keys: Vec<Secret> = Vec::new(),
    /// Keys with which a terminal connection may name its users.
    terminal_api_keys: Vec<Secret> = Vec::new(),
    /// Header in which a gateway names the user.
    header_user_id: HeaderName = HeaderName::from_static("x-openwebui-user-id"),
    /// Header with the user's display name.
    header_user_name: HeaderName = HeaderName::from_static("x-openwebui-user-name"),
    /// Header with the user's mail address.
    header_user_email: HeaderName = HeaderName::from_static("x-openwebui-user-email"),
    /// Header with the user's role.
    header_user_role: HeaderName = HeaderName::from_static("x-openwebui-user-role"),
    /// Header in which a gateway says all of this at once, signed.
    header_user_jwt: HeaderName = HeaderName::from_static("x-openwebui-user-jwt"),
    /// Header with the ids of the user's groups.
    header_group_ids: HeaderName = HeaderName::from_static("x-openwebui-user-group-ids"),
    /// Header with the names of these groups.
    header_group_names: HeaderName = HeaderName::from_static("x-openwebui-user-groups"),
    /// Header that names the conversation.
    header_chat_id: HeaderName = HeaderName::from_static("x-openwebui-chat-id"),
    /// Header that names the message that is being written.
    header_message_id: HeaderName = HeaderName::from_static("x-openwebui-message-id"),
    /// Secret with which a gateway signs its users; if it is set, nothing unsigned is believed.
    forward_jwt_secret: Option<Secret> = None,
    /// Secret with which Open WebUI signs sessions.
    webui_secret_key: Option<Secret> = None,
    /// Address at which this server reaches Open WebUI.
    openwebui_api_url: PublicUrl = PublicUrl::default(),
    /// Address at which people reach it; links within it need none.
    openwebui_public_url: PublicUrl = PublicUrl::default(),
    /// The key of one of its administrators.
    openwebui_admin_key: Option<Secret> = None,
    /// The provider of OpenID Connect with which people sign in on the page.
    oidc_issuer: PublicUrl = PublicUrl::default(),
    /// Id of this server at the provider.
    oidc_client_id: String = String::new(),
    /// Secret that proves it, if the provider asks for that.
    oidc_client_secret: Option<Secret> = None,
    /// The claim that is the user id.
    oidc_user_claim: String = "sub".to_owned(),
    /// Scopes that it is asked for, separated by blanks.
    oidc_scopes: String = "openid profile email".to_owned(),
    /// Claim that says who administers the server; empty where none does.
    oidc_admin_claim: String = String::new(),
    /// Value of that claim for them.
    oidc_admin_value: String = "admin".to_owned(),
    /// Sites whose pages may call this server from a browser.
    cors_origins: Vec<Origin> = Vec::new(),
    /// Seconds for which its answers about groups count.
    openwebui_groups_ttl: u64 = 20,
    /// `true` if long work shows in the conversation.
    live_status: bool = true,
    /// Seconds for which the server continues to serve after it was told to stop, while it reports that it
    /// is not ready, so that load balancers can notice.
    drain_seconds: Option<NonZeroU64> = None,
    /// `true` if programs may mount the files, at `/dav`.
    webdav: bool = true,
    /// Form in which the compact tools fail.
    fs_envelope: FailureEnvelope = FailureEnvelope::default(),
    /// Largest body of a request with the content of a file, in MiB.
    max_body_mb: u64 = 64,
    /// Calls that run at once.
    max_concurrent_calls: u64 = 64,
    /// Format of log lines.
    log_format: LogFormat = LogFormat::default(),
    /// Level of log lines that are written.
    log_level: Level = Level::INFO,
}

names! {
    /// Form in which the compact tools fail.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum FailureEnvelope {
        /// As an answer like every other: status 200 and the error in it.
        #[default]
        Flat = "flat",
        /// As every operation does: by a status, in the envelope.
        Status = "status",
    }

    /// Format of log lines.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum LogFormat {
        /// For people.
        #[default]
        Plain = "plain",
        /// For machines: one JSON object a line.
        Json = "json",
    }
}

impl Config {
    /// Returns `true` if sessions and tokens of Open WebUI are accepted.
    pub(crate) fn takes_sessions(&self) -> bool {
        !self.openwebui_api_url.is_empty() || self.webui_secret_key.is_some()
    }

    /// Returns `true` if callers have to say who they are.
    pub(crate) fn asks_who_calls(&self) -> bool {
        !self.api_keys.is_empty()
            || !self.terminal_api_keys.is_empty()
            || self.takes_sessions()
            || !self.oidc_issuer.is_empty()
    }

    /// `true` if a service key can be guessed.
    pub(crate) fn has_weak_key(&self) -> bool {
        let mut keys = self.api_keys.iter().chain(&self.terminal_api_keys);
        keys.any(|key| key.reveal() != AUTO && is_weak(key.reveal()))
    }

    /// The lists of keys in which one is still to be made, by the names of their settings.
    pub fn keys_to_make(&mut self) -> impl Iterator<Item = (&'static str, &mut Secret)> {
        let lists = [
            ("api_keys", &mut self.api_keys),
            ("terminal_api_keys", &mut self.terminal_api_keys),
        ];
        lists.into_iter().filter_map(|(name, keys)| {
            let key = keys.iter_mut().find(|key| key.reveal() == AUTO)?;
            Some((name, key))
        })
    }

    /// Returns the decisions that do not go together: two settings, and what to do about the first.
    fn contradictions(&self) -> Vec<([&'static str; 2], String)> {
        let nobody = self.api_keys.is_empty();
        let unasked = self.openwebui_api_url.is_empty();
        let is_reachable = !self.bind.ip().is_loopback();
        let (groups, issuer) = (self.core.groups, &self.oidc_issuer);
        let cases = [
            (
                is_reachable && !self.asks_who_calls(),
                ["bind", "api_keys"],
                "is reachable from other machines, and without `api_keys` everybody there would \
                 share one workspace: set `api_keys` (or `openwebui_api_url`, whose users may then \
                 sign in), or bind 127.0.0.1",
            ),
            (
                is_reachable && self.has_weak_key(),
                ["bind", "api_keys"],
                "is reachable from other machines, and `api_keys` or `terminal_api_keys` has a key \
                 that is short, repetitive or an example of the documents: set one of at least 16 \
                 characters, for instance from `openssl rand -hex 32`, or `auto`",
            ),
            (
                groups == GroupSource::Openwebui && unasked,
                ["groups", "openwebui_api_url"],
                "needs `openwebui_api_url`, the address at which the server reaches Open WebUI",
            ),
            (
                groups == GroupSource::Headers && nobody && self.asks_who_calls(),
                ["groups", "api_keys"],
                "needs `api_keys`: headers of users who call with their own sessions are \
                 ignored; set `openwebui` or `local`",
            ),
            (
                self.forward_jwt_secret.is_some()
                    && has_one_of(&self.terminal_api_keys, &self.api_keys),
                ["terminal_api_keys", "api_keys"],
                "must not contain a key of `api_keys` if `forward_jwt_secret` is set: unsigned \
                 user headers beside that key are ignored, and terminals send no signed ones",
            ),
            (
                needs_tls(&self.openwebui_api_url),
                ["openwebui_api_url", "openwebui_api_url"],
                NEEDS_TLS,
            ),
            (
                self.openwebui_admin_key.is_some() && unasked,
                ["openwebui_admin_key", "openwebui_api_url"],
                "needs `openwebui_api_url`: the key is for requests to Open WebUI",
            ),
            (
                self.forward_jwt_secret.is_some() && !self.asks_who_calls(),
                ["forward_jwt_secret", "api_keys"],
                "needs `api_keys`: a signed user header is accepted only beside a service \
                 key, and without any credential everybody would share one workspace",
            ),
            (
                !issuer.is_empty() && self.oidc_client_id.is_empty(),
                ["oidc.issuer", "oidc.client_id"],
                "needs `oidc.client_id`, the client id that the provider gave this server",
            ),
            (
                !self.oidc_client_id.is_empty() && issuer.is_empty(),
                ["oidc.client_id", "oidc.issuer"],
                "needs `oidc.issuer`, the address of the provider",
            ),
            (
                !issuer.is_empty() && self.core.public_url.is_empty() && is_reachable,
                ["oidc.issuer", "public_url"],
                "needs `public_url`, the address to which the provider sends people back",
            ),
            (
                issuer.as_str().starts_with("http:") && !issuer.is_loopback(),
                ["oidc.issuer", "oidc.issuer"],
                "must begin with https://: an attacker who changes the provider's answers could \
                 sign in as any user",
            ),
            (needs_tls(issuer), ["oidc.issuer", "oidc.issuer"], NEEDS_TLS),
        ];
        let cases = cases.into_iter().filter(|(contradicts, ..)| *contradicts);
        let cases = cases.map(|(_, settings, problem)| (settings, problem.to_owned()));
        let number = |name: &str| Setting::find(name)?.shown(self).parse::<u64>().ok();
        let exceeds = |&[low, high]: &[&str; 2]| number(low) > number(high);
        let limits = LIMITS.into_iter().filter(exceeds).map(|[low, high]| {
            let most = number(high).unwrap_or_default();
            let problem = format!("must be at most `{high}`, which is {most}");
            ([low, high], problem)
        });
        cases.chain(limits).collect()
    }
}

/// Pairs of settings of which the first must not exceed the second.
const LIMITS: [[&str; 2]; 5] = [
    ["exec_timeout_default", "exec_timeout_max"],
    ["max_output_default", "max_output_absolute"],
    ["exec.max_per_user", "exec.max_total"],
    ["terminal.max_shells", "terminal.max_shells_total"],
    ["transfer.max_per_user", "transfer.max_total"],
];

const NEEDS_TLS: &str = "needs a build of fileshed with the feature `tls`";

/// `true` if an address can only be reached by a program that was built with TLS.
fn needs_tls(url: &PublicUrl) -> bool {
    cfg!(not(feature = "tls")) && url.as_str().starts_with("https:")
}

/// Returns where programs on this machine reach a server that listens at `address`.
pub(crate) fn local_address(mut address: SocketAddr) -> SocketAddr {
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    address
}

/// `true` if a key is short, has few different characters, or is an example.
fn is_weak(key: &str) -> bool {
    const LEAST: usize = 16;
    const EXAMPLES: [&str; 4] = ["change", "example", "your-", "secret-key"];
    let mut characters: Vec<char> = key.chars().collect();
    let is_short = characters.len() < LEAST;
    characters.sort_unstable();
    characters.dedup();
    let lower = key.to_ascii_lowercase();
    is_short || characters.len() < 6 || EXAMPLES.iter().any(|example| lower.contains(example))
}

/// Returns `true` if two lists of keys have one in common.
fn has_one_of(keys: &[Secret], others: &[Secret]) -> bool {
    let mut keys = keys.iter();
    keys.any(|key| {
        let is_same = |other: &Secret| other.reveal() == key.reveal();
        key.reveal() != AUTO && others.iter().any(is_same)
    })
}
