//! Registers this server in Open WebUI, as an administrator would do by hand in its settings.
//!
//! Open WebUI keeps one list of connections a kind and replaces it as a whole. So the list is read,
//! our own connection in it brought up to date, and the list written back, with everybody else's
//! connections as they were; a list without a change is not written. Before that Open
//! WebUI itself has to reach this server. For administrators who have no credential for its
//! interface, the connection is written to a file that its settings import ([`connection_file`]).

use std::time::Duration;

use fileshed_core::Toolset;
use fileshed_core::settings::{GroupSource, PublicUrl};
use fileshed_core::timings::OpenWebUiTimings;
use serde_json::{Value, json};

use super::client::{CallError, Client};
use super::health::version;
use super::printable;
use crate::config::{Config, Secret};

mod auth;
mod change;
mod connection;
mod error;
mod grant;
mod terminal_check;
#[cfg(test)]
mod tests;

pub use auth::Auth;
pub use error::RegisterError;
pub use grant::Grantee;
pub use terminal_check::check_terminal;

use change::Change;
use connection::{ConnectionKind, RegisteredConnection};

/// Open WebUI gives every one of its servers ten seconds, ours and others.
const PATIENCE: Duration = OpenWebUiTimings::STANDARD.register;

/// Wishes of the administrator for the connection. All else follows from the configuration,
/// or stays as an existing connection has it.
#[derive(Clone, Debug)]
pub struct ConnectionOptions {
    /// Address at which Open WebUI reaches this server.
    pub server_url: Option<PublicUrl>,
    /// Credential with which it calls.
    pub auth: Option<Auth>,
    /// The name of the connection for programs.
    pub id: String,
    /// The name of the connection for people.
    pub name: Option<String>,
    /// `true` for a terminal, which is in another list, and has its own tools.
    pub terminal: bool,
    /// Operations that are offered.
    pub toolset: Option<Toolset>,
    /// Users and groups that may use it.
    pub grants: Vec<Grantee>,
}

/// The connection, and how it is registered.
#[derive(Clone, Debug)]
pub struct RegisterOptions {
    /// Address of Open WebUI, if that was said for this run; the configuration then has it, too.
    pub url: Option<PublicUrl>,
    /// The credential of one of its administrators.
    pub admin_token: Option<Secret>,
    /// The connection as it should be.
    pub connection: ConnectionOptions,
    /// `true` if Open WebUI has to reach this server first.
    pub verify: bool,
    /// `true` if nothing is changed.
    pub dry_run: bool,
}

/// Registers; the lines say what was done.
pub fn register(config: &Config, options: &RegisterOptions) -> Result<Vec<String>, RegisterError> {
    let url = &config.openwebui_api_url;
    if url.is_empty() {
        return Err(RegisterError::NoUrl);
    }
    let token = options.admin_token.as_ref();
    let token = token.or(config.openwebui_admin_key.as_ref());
    let token = token.ok_or(RegisterError::NoToken)?.reveal();
    let client = Client::new(url.as_str()).within(PATIENCE);

    let mut lines = vec![where_it_is(&client, url)?];
    let grants = grant::resolve(&client, token, &options.connection.grants)?;
    let ours = RegisteredConnection::new(config, &options.connection, grants)?;
    let list = ours.kind.read(&client, token)?;
    if options.verify {
        let existing = ours.find(&list).map(|place| &list[place]);
        lines.push(ours.verify(&client, token, &ours.connection(existing))?);
    }
    // Others may have worked on the list while Open WebUI was looking for this server.
    let mut list = ours.kind.read(&client, token)?;
    let found = ours.find(&list);
    let existing = found.map(|place| &list[place]);
    let wanted = ours.connection(existing);
    let change = Change::between(existing, &wanted);
    lines.extend(change.lines(&options.connection.id, options.dry_run));
    if !options.dry_run && !change.is_empty() {
        match found {
            Some(place) => list[place] = wanted.clone(),
            None => list.push(wanted.clone()),
        }
        let stored = ours.kind.write(&client, token, &list)?;
        if ours.find(&stored).is_none() {
            return Err(RegisterError::NotStored);
        }
    }
    let users = grant::shown(&client, token, &wanted["config"]["access_grants"]);
    lines.push(format!("who may use it: {users}"));
    for name in ours.rivals(&list) {
        lines.push(format!(
            "remember: the connection `{name}` leads here too, so that users find every tool twice"
        ));
    }
    let sessions_are_taken = config.takes_sessions() && options.url.is_none();
    lines.extend(remember(config, sessions_are_taken, &ours));
    Ok(lines)
}

/// A connection as a file that the settings of Open WebUI import, with notes for the administrator.
#[derive(Debug)]
pub struct ConnectionFile {
    /// The file, with the service key where the connection has one.
    pub json: String,
    /// Instructions for the administrator.
    pub lines: Vec<String>,
}

/// Makes the file as Open WebUI's own export writes it: a list with one connection. Asks nobody.
pub fn connection_file(
    config: &Config,
    options: &ConnectionOptions,
) -> Result<ConnectionFile, RegisterError> {
    let grants = grant::by_ids(&options.grants)?;
    let ours = RegisteredConnection::new(config, options, grants)?;
    let mut lines = vec![ours.next_step()];
    let url = ours.url.parse::<PublicUrl>();
    if url.is_ok_and(|url| url.is_loopback()) {
        lines.push(
            "remember: an Open WebUI in a container or on another machine does not reach this \
             address; say its own with --server-url, or set `public_url`"
                .to_owned(),
        );
    }
    if ours.auth == Auth::Bearer {
        lines.push("remember: the file holds the service key".to_owned());
    }
    lines.extend(remember(config, config.takes_sessions(), &ours));
    Ok(ConnectionFile {
        json: format!("{:#}", json!([ours.connection(None)])),
        lines,
    })
}

fn where_it_is(client: &Client, url: &PublicUrl) -> Result<String, RegisterError> {
    match version(client) {
        Ok(version) => Ok(format!("Open WebUI {version} at {url}")),
        Err(error) if error.passes() => Err(error.into()),
        // What follows says what this is.
        Err(_) => Ok(format!("Open WebUI at {url}")),
    }
}

/// Returns reminders of what this command cannot do.
fn remember(config: &Config, sessions_are_taken: bool, ours: &RegisteredConnection) -> Vec<String> {
    let has_sessions = ours.auth == Auth::Session;
    let names_users = ours.auth == Auth::Bearer && ours.kind == ConnectionKind::ToolServer;
    let cases = [
        (
            has_sessions && !sessions_are_taken && config.webui_secret_key.is_none(),
            "remember: the server lets sessions in only with `openwebui_api_url` or `webui_secret_key`",
        ),
        (
            names_users && config.forward_jwt_secret.is_some(),
            "remember: Open WebUI needs ENABLE_FORWARD_USER_INFO_HEADERS=True, and in \
             FORWARD_USER_INFO_HEADER_JWT_SECRET what `forward_jwt_secret` is here",
        ),
        (
            has_sessions && config.core.groups == GroupSource::Headers,
            "remember: with sessions the groups that headers name are not believed; \
             set `groups` to openwebui",
        ),
        (
            true,
            "next: set Function Calling to Native for each model that uses it, unless that is the \
             default of this Open WebUI",
        ),
    ];
    let cases = cases.into_iter().filter(|(is_so, _)| *is_so);
    cases.map(|(_, line)| line.to_owned()).collect()
}

/// A text field of a JSON object.
fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_default()
}

/// Why a question has no answer.
fn asked(error: CallError) -> RegisterError {
    match error {
        CallError::Status(401 | 403) => RegisterError::Denied,
        CallError::Status(status @ 300..=399) => RegisterError::Redirected(status),
        CallError::Status(404 | 405) | CallError::Unreadable(_) => RegisterError::NotOpenWebUi,
        error => RegisterError::Call(error),
    }
}
