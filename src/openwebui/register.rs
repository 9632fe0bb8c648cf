//! Registers this server in Open WebUI: what an administrator would do by hand in its settings.
//!
//! Open WebUI keeps one list of connections a kind and replaces it as a whole. So the list is read,
//! our own connection in it made what it should be, and the list written back, with everybody
//! else's connections as they were; nothing is written where nothing changed. Before that Open
//! WebUI itself has to reach this server. A kind of `Connection` is its list (`ConnectionList`) and
//! what ours is in it (`tool_server`, `terminal`).

use std::time::Duration;

use fileshed_core::Toolset;
use fileshed_core::settings::{GroupSource, PublicUrl};
use fileshed_core::timings::OpenWebUiTimings;
use serde_json::Value;

use super::client::{CallError, Client};
use super::health::version;
use super::printable;
use crate::config::{Config, Secret};

mod auth;
mod change;
mod connection;
mod error;
mod file;
mod grant;
mod list;
mod terminal;
mod terminal_check;
#[cfg(test)]
mod tests;
mod tool_server;

pub use auth::Auth;
pub use error::RegisterError;
pub use file::{ConnectionFile, connection_file};
pub use grant::Grantee;
pub use terminal_check::check_terminal;

use change::Change;
use connection::RegisteredConnection;
use grant::Grant;
use terminal::Terminal;
use tool_server::ToolServer;

/// Open WebUI gives every one of its servers ten seconds, ours and others.
const PATIENCE: Duration = OpenWebUiTimings::STANDARD.register;

/// What the administrator said of the connection. What was not said follows from the configuration,
/// or stays as an existing connection has it.
#[derive(Clone, Debug)]
pub struct ConnectionOptions {
    /// Where Open WebUI reaches this server.
    pub server_url: Option<PublicUrl>,
    /// With what it calls.
    pub auth: Option<Auth>,
    /// The name of the connection for programs.
    pub id: String,
    /// The name of the connection for people.
    pub name: Option<String>,
    /// Whether it is a terminal: then it is in another list, and has its own tools.
    pub terminal: bool,
    /// Which operations are offered.
    pub toolset: Option<Toolset>,
    /// Who may use it.
    pub grants: Vec<Grantee>,
}

/// The connection, and how it is registered.
#[derive(Clone, Debug)]
pub struct RegisterOptions {
    /// Where Open WebUI is, if that was said for this run; the configuration then has it, too.
    pub url: Option<PublicUrl>,
    /// The credential of one of its administrators.
    pub admin_token: Option<Secret>,
    /// What the connection should be.
    pub connection: ConnectionOptions,
    /// Whether Open WebUI has to reach this server first.
    pub verify: bool,
    /// Whether nothing is changed.
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
    let ours = ours(config, &options.connection, grants)?;
    let kind = ours.list();
    let list = kind.read(&client, token)?;
    if options.verify {
        let existing = ours.find(&list).map(|place| &list[place]);
        lines.push(ours.verify(&client, token, &ours.connection(existing))?);
    }
    // Others may have worked on the list while Open WebUI was looking for this server.
    let mut list = kind.read(&client, token)?;
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
        let stored = kind.write(&client, token, &list)?;
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
    lines.extend(remember(config, sessions_are_taken, &*ours));
    Ok(lines)
}

/// The connection that was asked for.
fn ours(
    config: &Config,
    options: &ConnectionOptions,
    grants: Option<Vec<Grant>>,
) -> Result<Box<dyn RegisteredConnection>, RegisterError> {
    Ok(if options.terminal {
        Box::new(Terminal::new(config, options, grants)?)
    } else {
        Box::new(ToolServer::new(config, options, grants)?)
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

/// What this command cannot do.
fn remember(
    config: &Config,
    sessions_are_taken: bool,
    ours: &dyn RegisteredConnection,
) -> Vec<String> {
    let (auth, mut lines) = (ours.auth(), Vec::new());
    if auth == Auth::Session && !sessions_are_taken && config.webui_secret_key.is_none() {
        lines.push(
            "remember: the server lets sessions in only with `openwebui_api_url` or `webui_secret_key`"
                .to_owned(),
        );
    }
    if auth == Auth::Bearer && config.forward_jwt_secret.is_some() && !ours.is_terminal() {
        lines.push(
            "remember: Open WebUI needs ENABLE_FORWARD_USER_INFO_HEADERS=True, and in \
             FORWARD_USER_INFO_HEADER_JWT_SECRET what `forward_jwt_secret` is here"
                .to_owned(),
        );
    }
    if auth == Auth::Session && config.core.groups == GroupSource::Headers {
        lines.push(
            "remember: with sessions the groups that headers name are not believed; \
             set `groups` to openwebui"
                .to_owned(),
        );
    }
    lines.push(
        "next: set Function Calling to Native for each model that uses it, unless that is the \
         default of this Open WebUI"
            .to_owned(),
    );
    lines
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
