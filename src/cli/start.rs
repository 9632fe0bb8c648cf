//! The log, and its lines at the start of the server: its address, how commands are confined, and what is
//! connected.

use std::net::SocketAddr;

use fileshed_core::settings::GroupSource;
use fileshed_core::{Check, CheckState, Core};
use tracing::Level;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, fmt};

use crate::config::{Config, LogFormat, local_address};
use crate::openwebui::health;

/// Starts logging. Libraries log from `warn` on only, whatever the level: at `trace` they would
/// write headers, and with them credentials.
pub fn log(config: &Config) {
    let ours = LevelFilter::from_level(config.log_level);
    let theirs = LevelFilter::from_level(config.log_level.min(Level::WARN));
    let filter = Targets::new()
        .with_target("fileshed", ours)
        .with_default(theirs);
    let lines = fmt::layer().with_writer(std::io::stderr);
    let lines = match config.log_format {
        LogFormat::Plain => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).boxed(),
    };
    let registry = tracing_subscriber::registry().with(lines.with_filter(filter));
    // Fails only if logging was already started, by a test for instance.
    let _ = registry.try_init();
    // The text of a panic comes with the line of its request; here is the place in the code.
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        tracing::error!(place, "panic");
    }));
}

/// Logs the state of what the store depends on.
pub fn report_store(core: &Core) {
    for check in core.admin.check() {
        write(&check);
    }
}

/// Logs where the server is and who is let in. Open WebUI is asked in a thread of its own, so
/// nothing waits for it.
pub fn report(config: &Config, address: SocketAddr) {
    let (version, url) = (env!("CARGO_PKG_VERSION"), url(config, address));
    tracing::info!(version, %url, docs = %format!("{url}/docs/"), "fileshed is ready");
    write(&callers(config));
    write(&links(config, address));
    groups_without_key(config).iter().for_each(write);
    if config.openwebui_api_url.is_empty() {
        tracing::info!("openwebui: not connected, `openwebui_api_url` is not set");
        return;
    }
    let config = config.clone();
    std::thread::spawn(move || {
        if let Some(check) = health::check(&config) {
            write(&check);
        }
    });
}

fn write(check: &Check) {
    let (name, text) = (check.name.as_str(), check.text.as_str());
    match check.state {
        CheckState::Ok => tracing::info!("{name}: {text}"),
        CheckState::Warning | CheckState::Failed => tracing::warn!("{name}: {text}"),
    }
}

/// Returns the address at which people reach the server, as far as it knows.
fn url(config: &Config, address: SocketAddr) -> String {
    let public = &config.core.public_url;
    if !public.is_empty() {
        return public.to_string();
    }
    format!("http://{}", local_address(address))
}

/// Returns who is let in.
fn callers(config: &Config) -> Check {
    let mut ways = Vec::new();
    if !config.api_keys.is_empty() {
        let signed = match config.forward_jwt_secret {
            Some(_) => "signed users",
            None => "users in headers",
        };
        let count = config.api_keys.len();
        ways.push(format!("{count} service keys with {signed}"));
    }
    if !config.terminal_api_keys.is_empty() {
        let count = config.terminal_api_keys.len();
        ways.push(format!("{count} keys of terminal connections"));
    }
    if config.takes_sessions() {
        ways.push("sessions of Open WebUI".to_owned());
    }
    if !config.oidc_issuer.is_empty() {
        ways.push(format!("people of {}", config.oidc_issuer));
    }
    let text = if ways.is_empty() {
        "shared mode: no credential is configured, this machine has one workspace".to_owned()
    } else {
        format!("{}, personal tokens", ways.join(", "))
    };
    Check::new("callers", CheckState::Ok, text)
}

/// Checks that links lead somewhere for others than this machine.
pub(super) fn links(config: &Config, address: SocketAddr) -> Check {
    let public = &config.core.public_url;
    let begin = url(config, address);
    let (state, text) = if public.is_empty() && !address.ip().is_loopback() {
        let text = "begin with `/links/`, because the server does not know its own address: set \
                    `public_url` to the address at which people reach it";
        (CheckState::Warning, text.to_owned())
    } else if !(public.is_loopback() || public.is_empty()) {
        (CheckState::Ok, format!("begin with {begin}"))
    } else if config.asks_who_calls() {
        let text = format!(
            "begin with {begin}, which works on this machine only: set `public_url` to \
             the address at which people reach the server"
        );
        (CheckState::Warning, text)
    } else {
        let text = format!("begin with {begin}, for this machine");
        (CheckState::Ok, text)
    };
    Check::new("links", state, text)
}

/// Warns of service keys that can be guessed; beyond loopback they stop the start.
pub(super) fn weak_keys(config: &Config) -> Option<Check> {
    let text = "`api_keys` or `terminal_api_keys` has a key that can be guessed: set one of at least \
                16 characters, for instance from `openssl rand -hex 32`, or `auto`";
    let is_weak = config.has_weak_key();
    is_weak.then(|| Check::new("keys", CheckState::Warning, text))
}

/// Warns of groups that Open WebUI is not asked for where a call has no session of it.
pub(super) fn groups_without_key(config: &Config) -> Option<Check> {
    let text = "`groups` is openwebui without `openwebui_admin_key`: calls with a personal token, \
                a WebDAV drive or a service key have no groups; set the key";
    let is_without =
        config.core.groups == GroupSource::Openwebui && config.openwebui_admin_key.is_none();
    is_without.then(|| Check::new("groups", CheckState::Warning, text))
}

/// Returns which ends of trust a server with these settings learns by itself, and when it learns the others;
/// `openwebui` is the check of Open WebUI.
pub(super) fn ends_of_trust(config: &Config, openwebui: Option<&Check>) -> Option<Check> {
    if !config.asks_who_calls() {
        return None;
    }
    let own = "with this shell's settings, revoked tokens, suspended users and changed local \
               groups take effect within 5 seconds";
    let answers = openwebui.is_some_and(|check| check.state == CheckState::Ok);
    let of_openwebui = match config.openwebui_admin_key {
        Some(_) if answers => "changed accounts and groups of Open WebUI within 30",
        Some(_) => "changed accounts of Open WebUI at the next call, while it fails as above",
        None => {
            "accounts that are managed elsewhere at the next call, because openwebui_admin_key is \
             not set"
        }
    };
    let forwarded = match config.core.groups {
        GroupSource::Headers => "; forwarded groups at the next call",
        GroupSource::Local | GroupSource::Openwebui => "",
    };
    let text = format!("{own}, {of_openwebui}{forwarded}");
    Some(Check::new("ends", CheckState::Ok, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Secret;

    #[test]
    fn it_is_said_what_the_end_of_trust_ends() {
        let said_if = |state, change: fn(&mut Config)| {
            let mut config = Config::default();
            change(&mut config);
            let openwebui = Check::new("openwebui", state, "");
            ends_of_trust(&config, Some(&openwebui)).map(|check| check.text)
        };
        let said = |change| said_if(CheckState::Ok, change);
        assert_eq!(said(|_alone| ()), None);
        let with_key = said(|config| config.api_keys = vec![Secret::new("key")]);
        assert!(with_key.is_some_and(|text| text.contains("at the next call")));
        let asking = |config: &mut Config| {
            config.api_keys = vec![Secret::new("key")];
            config.openwebui_admin_key = Some(Secret::new("key"));
            config.openwebui_api_url = "http://localhost:1".parse().expect("an address");
            config.core.groups = GroupSource::Headers;
        };
        let refused = said_if(CheckState::Failed, asking);
        assert!(refused.is_some_and(|text| text.contains("at the next call, while")));
        let asking = said(asking).expect("said");
        assert!(asking.contains("within 30; forwarded groups"), "{asking}");
    }

    #[test]
    fn links_that_nobody_else_can_open_are_said() {
        let key = || vec![Secret::new("key")];
        for (address, public, keys, state, said) in [
            (
                "127.0.0.1:8000",
                "",
                vec![],
                CheckState::Ok,
                "http://127.0.0.1:8000, for this",
            ),
            (
                "127.0.0.1:8000",
                "",
                key(),
                CheckState::Warning,
                "this machine only",
            ),
            (
                "[::1]:8000",
                "",
                key(),
                CheckState::Warning,
                "http://[::1]:8000, which",
            ),
            ("0.0.0.0:8000", "", key(), CheckState::Warning, "`/links/`"),
            (
                "0.0.0.0:8000",
                "http://localhost:8000",
                key(),
                CheckState::Warning,
                "localhost",
            ),
            (
                "0.0.0.0:8000",
                "https://files.example.org",
                key(),
                CheckState::Ok,
                "files.example",
            ),
        ] {
            let mut config = Config {
                api_keys: keys,
                ..Config::default()
            };
            config.core.public_url = public.parse().expect("an address");
            let check = links(&config, address.parse().expect("an address"));
            assert_eq!(check.state, state, "{}", check.text);
            assert!(check.text.contains(said), "{}", check.text);
        }
    }
}
