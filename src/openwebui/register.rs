//! Registers this server in Open WebUI, as an administrator would do by hand in its settings.
//!
//! Open WebUI keeps one list of connections a kind and replaces it as a whole. So the list is read,
//! our own connection in it brought up to date, and the list written back, with everybody else's
//! connections as they were; a list without a change is not written. Before that Open
//! WebUI itself has to reach this server. For administrators who have no credential for its
//! interface, the connection is written to a file that its settings import ([`connection_file`]).

use std::convert::Infallible;
use std::time::Duration;

use clap::Args;
use fileshed_core::Toolset;
use fileshed_core::settings::{GroupSource, PublicUrl};
use fileshed_core::timings::OpenWebUiTimings;
use serde_json::{Value, json};

use super::client::{CallError, OpenWebUiClient};
use super::printable;
use crate::config::{Config, Secret, one_of};

mod auth;
mod change;
mod connection;
mod default_models;
mod grant;
#[cfg(test)]
mod tests;
pub(super) mod trial;

pub use auth::Auth;
pub use grant::Grantee;

use change::ConnectionChange;
use connection::RegisteredConnection;
pub(super) use connection::{ConnectionKind, DESCRIPTION};
use default_models::DefaultModels;

/// Open WebUI gives every one of its servers ten seconds, ours and others.
pub(super) const PATIENCE: Duration = OpenWebUiTimings::STANDARD.register;

/// Why the server was not registered; for the administrator who reads it in a terminal.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// Open WebUI gives no answer that can be used.
    #[error(transparent)]
    Call(#[from] CallError),
    /// It does not answer at all.
    #[error("Open WebUI cannot be reached at {0}")]
    Away(PublicUrl, #[source] CallError),
    /// The text says what is missing or wrong.
    #[error("{0}")]
    Refused(String),
}

impl RegisterError {
    fn refused(text: impl Into<String>) -> Self {
        Self::Refused(text.into())
    }
}

/// End of the reason why no connection was written.
const UNCHANGED: &str = "; nothing was changed (`--no-verify` skips this check)";

/// Failure if the program at the address is not Open WebUI.
const NOT_OPEN_WEBUI: &str =
    "the server at the address of Open WebUI is not Open WebUI, or a very old version";

/// Connection as an administrator wants it. All else follows from the configuration, or stays as an
/// existing connection has it.
#[derive(Debug, Args)]
pub(crate) struct ConnectionOptions {
    #[arg(
        long,
        value_name = "URL",
        value_parser = url,
        help = "Address at which Open WebUI reaches this server \
                [default: with register that of the existing connection, else public_url, else the \
                address of bind]"
    )]
    server_url: Option<PublicUrl>,
    #[arg(
        long,
        value_name = "TYPE",
        value_parser = one_of(Auth::NAMES, Auth::parse),
        help = "Credential of its calls: the user's own session, or the first of \
                api_keys [default: bearer if there are api_keys]"
    )]
    auth: Option<Auth>,
    /// The connection's id
    #[arg(long, value_name = "ID", default_value = "fileshed", value_parser = id)]
    id: String,
    #[arg(long, value_name = "TEXT", help = "Display name [default: its id]")]
    name: Option<String>,
    #[arg(
        long,
        help = "Make a terminal connection instead of a tool server: files, commands and a shell \
                beside the chat, with the first of terminal_api_keys or the user's own session"
    )]
    terminal: bool,
    #[arg(
        long,
        conflicts_with = "terminal",
        value_name = "SET",
        value_parser = one_of(Toolset::NAMES, Toolset::parse),
        help = "Operations to offer [default: all]"
    )]
    toolset: Option<Toolset>,
}

/// Options of `fileshed openwebui register`.
#[derive(Debug, Args)]
pub struct RegisterOptions {
    #[arg(
        long,
        value_name = "URL",
        value_parser = url,
        help = "Address of Open WebUI [default: openwebui_api_url]"
    )]
    pub(crate) url: Option<PublicUrl>,
    #[arg(
        long,
        value_name = "TOKEN",
        value_parser = |text: &str| Ok::<_, Infallible>(Secret::new(text.trim())),
        help = "Session token or API key of one of its administrators [default: openwebui_admin_key, \
                which other users of this machine do not see: FILESHED_OPENWEBUI_ADMIN_KEY, or a \
                file named by FILESHED_OPENWEBUI_ADMIN_KEY_FILE]"
    )]
    admin_token: Option<Secret>,
    #[command(flatten)]
    connection: ConnectionOptions,
    #[arg(
        long = "grant",
        value_name = "WHO",
        help = "Users of the connection, may be repeated: everyone, nobody (administrators only), \
                group:<id or name>, user:<id or mail address> [default: everyone]"
    )]
    pub(crate) grants: Vec<Grantee>,
    #[arg(
        long,
        value_name = "MODELS",
        value_delimiter = ',',
        help = "Models that have it switched on in a new chat: ids, comma-separated, or all"
    )]
    default_for: Vec<String>,
    /// Skip the check that Open WebUI reads this server's document and makes a call
    #[arg(long)]
    no_verify: bool,
    /// Show the changes without making them
    #[arg(long)]
    dry_run: bool,
}

/// Options of `fileshed openwebui connection`.
#[derive(Debug, Args)]
pub struct ConnectionFileOptions {
    #[command(flatten)]
    connection: ConnectionOptions,
    #[arg(
        long = "grant",
        value_name = "WHO",
        help = "Users of the connection, may be repeated: everyone, nobody \
                (administrators only), group:<id>, user:<id> [default: everyone]"
    )]
    pub(crate) grants: Vec<Grantee>,
}

fn url(text: &str) -> Result<PublicUrl, String> {
    match text.parse::<PublicUrl>() {
        Ok(url) if url.is_empty() => Err("is empty".to_owned()),
        url => url,
    }
}

/// Reads an id that the settings of Open WebUI take.
fn id(text: &str) -> Result<String, String> {
    match text {
        "" => Err("is empty".to_owned()),
        text if text.contains([':', '|']) => Err("must not have `:` or `|`".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// Registers; the lines say what was done.
pub fn register(config: &Config, options: &RegisterOptions) -> Result<Vec<String>, RegisterError> {
    let url = &config.openwebui_api_url;
    if url.is_empty() {
        let text =
            "the address of Open WebUI is not known: give `--url`, or set `openwebui_api_url`";
        return Err(RegisterError::refused(text));
    }
    let token = options.admin_token.as_ref();
    let token = token.or(config.openwebui_admin_key.as_ref());
    let no_token = "a credential of an administrator of Open WebUI is needed: set \
                    `openwebui_admin_key`, or give `--admin-token`";
    let token = token.ok_or_else(|| RegisterError::refused(no_token))?;
    let token = token.reveal();
    let client = OpenWebUiClient::new(url.as_str()).within(PATIENCE);

    let version = version(&client, url)?;
    let mut lines = vec![match &version {
        Some(version) => format!("Open WebUI {} at {url}", printable(version)),
        // The answers to the next questions tell what it is.
        None => format!("Open WebUI at {url}"),
    }];
    let grants = grant::resolve(&client, token, &options.grants)?;
    let ours = RegisteredConnection::new(config, &options.connection, grants)?;
    let models = DefaultModels::find(&client, token, &options.default_for)?;
    let list = ours.kind.read(&client, token)?;
    if !options.no_verify {
        let wanted = ours.connection(ours.find(&list).map(|place| &list[place]));
        lines.push(ours.verify(&client, token, &wanted)?);
        lines.push(trial::call_of_new(
            &client,
            (config, token),
            ours.kind,
            &wanted,
        )?);
    }
    // Others may have worked on the list while Open WebUI was looking for this server.
    let mut list = ours.kind.read(&client, token)?;
    let found = ours.find(&list);
    let existing = found.map(|place| &list[place]);
    let wanted = ours.connection(existing);
    let change = ConnectionChange::between(existing, &wanted);
    lines.extend(change.lines(&options.connection.id, options.dry_run));
    if !options.dry_run && !change.is_empty() {
        match found {
            Some(place) => list[place] = wanted.clone(),
            None => list.push(wanted.clone()),
        }
        let stored = ours.kind.write(&client, token, &list)?;
        if ours.find(&stored).is_none() {
            return Err(RegisterError::refused(
                "Open WebUI did not keep the connection",
            ));
        }
    }
    let users = grant::shown(&client, token, &wanted["config"]["access_grants"]);
    lines.push(format!("granted to: {users}"));
    lines.push(models.switch_on(&ours, options.dry_run)?);
    for name in ours.rivals(&wanted, &list) {
        lines.push(format!(
            "note: the connection `{name}` also leads to this server, so users find every tool \
             twice"
        ));
    }
    let sessions_are_taken = config.takes_sessions() && options.url.is_none();
    lines.extend(remember(
        config,
        sessions_are_taken,
        &ours,
        version.as_deref(),
    ));
    Ok(lines)
}

/// Makes the connection as a file that the settings of Open WebUI import, with the service key where it has
/// one, and instructions for the administrator. The file is as Open WebUI's own export writes it: a list with
/// one connection. Asks nobody.
pub fn connection_file(
    config: &Config,
    options: &ConnectionFileOptions,
) -> Result<(String, Vec<String>), RegisterError> {
    let grants = grant::by_ids(&options.grants)?;
    let ours = RegisteredConnection::new(config, &options.connection, grants)?;
    let mut lines = vec![ours.next_step()];
    let url = ours.url.parse::<PublicUrl>();
    if url.is_ok_and(|url| url.is_loopback()) {
        lines.push(
            "note: an Open WebUI in a container or on another machine does not reach this \
             address; give the one that it reaches with --server-url, or set `public_url`"
                .to_owned(),
        );
    }
    if ours.auth == Auth::Bearer {
        lines.push("note: the file contains the service key".to_owned());
    }
    lines.extend(remember(config, config.takes_sessions(), &ours, None));
    lines.push(ours.switched_on_by_hand().to_owned());
    let file = json!([ours.connection(None)]);
    Ok((format!("{file:#}"), lines))
}

/// Returns the version of Open WebUI, if it says one. Fails if it does not answer.
fn version(client: &OpenWebUiClient, url: &PublicUrl) -> Result<Option<String>, RegisterError> {
    match client.version() {
        Err(error) if error.passes() => Err(RegisterError::Away(url.clone(), error)),
        answer => Ok(answer.ok()),
    }
}

/// `true` if models of this version use tools without a setting of their own: from 0.10 on.
fn calls_natively(version: &str) -> bool {
    let mut numbers = version.split('.').map_while(|number| number.parse().ok());
    let number: [u32; 2] = [numbers.next().unwrap_or(0), numbers.next().unwrap_or(0)];
    number >= [0, 10]
}

/// Returns reminders of what this command cannot do.
fn remember(
    config: &Config,
    sessions_are_taken: bool,
    ours: &RegisteredConnection,
    version: Option<&str>,
) -> Vec<String> {
    let has_sessions = ours.auth == Auth::Session;
    let names_users = ours.auth == Auth::Bearer && ours.kind == ConnectionKind::ToolServer;
    let cases = [
        (
            has_sessions && !sessions_are_taken && config.webui_secret_key.is_none(),
            "note: the server accepts sessions only with `openwebui_api_url` or `webui_secret_key`",
        ),
        (
            names_users && config.forward_jwt_secret.is_some(),
            "note: Open WebUI needs ENABLE_FORWARD_USER_INFO_HEADERS=True, and \
             FORWARD_USER_INFO_HEADER_JWT_SECRET with the value of `forward_jwt_secret`",
        ),
        (
            has_sessions && config.core.groups == GroupSource::Headers,
            "note: with sessions the groups in headers are ignored; set `groups` to \
             openwebui",
        ),
        (
            // Open WebUI with terminals does so by itself.
            ours.kind == ConnectionKind::ToolServer && !version.is_some_and(calls_natively),
            "next: in Open WebUI before 0.10 set Function Calling to Native for each model that uses it",
        ),
    ];
    let cases = cases.into_iter().filter(|(is_so, _)| *is_so);
    cases.map(|(_, line)| line.to_owned()).collect()
}

/// A text field of a JSON object.
pub(super) fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Why a question has no answer.
fn asked(error: CallError) -> RegisterError {
    match error {
        CallError::Status(401 | 403, _) => RegisterError::refused(
            "Open WebUI does not accept the credential for its settings: give the session token or \
             the API key of an administrator",
        ),
        CallError::Status(status @ 300..=399, _) => RegisterError::Refused(format!(
            "the address of Open WebUI redirects (status {status}), perhaps to https: give the \
             address that it redirects to"
        )),
        CallError::Status(404 | 405, _) | CallError::Unreadable(_) => {
            RegisterError::refused(NOT_OPEN_WEBUI)
        }
        error => RegisterError::Call(error),
    }
}
