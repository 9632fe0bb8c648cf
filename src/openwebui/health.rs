//! Checks for `fileshed doctor` of Open WebUI: that it can be asked, and that it has our terminal connection
//! and reaches this server by it. The server itself is ready without it.

use fileshed_core::Check;
use serde::de::IgnoredAny;
use serde_json::Value;

use super::client::{CallError, OpenWebUiClient};
use super::printable;
use super::register::{Auth, ConnectionKind, PATIENCE, text};
use crate::config::Config;

/// Asks once; nothing where no Open WebUI is configured.
#[must_use]
pub fn check(config: &Config) -> Option<Check> {
    let url = &config.openwebui_api_url;
    if url.is_empty() {
        return None;
    }
    let found = ask(config, &OpenWebUiClient::new(url.as_str()));
    Some(super::check("openwebui", found))
}

fn ask(config: &Config, client: &OpenWebUiClient) -> Result<String, String> {
    let url = &config.openwebui_api_url;
    let version = client.version().map_err(|error| {
        if error.passes() {
            format!("does not answer at {url}: its groups, attachments and links are away, all else works")
        } else {
            format!("what answers at {url} is not Open WebUI: openwebui_api_url is wrong")
        }
    })?;
    let version = printable(&version);
    let Some(key) = &config.openwebui_admin_key else {
        return Ok(format!(
            "version {version} answers; no openwebui_admin_key is set"
        ));
    };
    // Only administrators get this list.
    match client.get::<IgnoredAny>(key.reveal(), "/api/v1/users/?page=1") {
        Ok(_) => Ok(format!(
            "version {version} answers, and takes openwebui_admin_key"
        )),
        Err(CallError::Status(401 | 403)) => Err(format!(
            "version {version} answers, but does not take openwebui_admin_key for an administrator's"
        )),
        Err(error) => Err(format!(
            "version {version} answers, but not about users: {error}"
        )),
    }
}

/// Looks once. Nothing where Open WebUI cannot be asked, and where nobody wants a terminal.
#[must_use]
pub fn check_terminal(config: &Config) -> Option<Check> {
    let token = config.openwebui_admin_key.as_ref()?.reveal();
    if config.openwebui_api_url.is_empty() {
        return None;
    }
    let client = OpenWebUiClient::new(config.openwebui_api_url.as_str()).within(PATIENCE);
    // What is wrong then is said of Open WebUI itself.
    let list = ConnectionKind::Terminal.read(&client, token).ok()?;
    let found = match list.iter().find(|connection| is_ours(config, connection)) {
        Some(connection) => look(config, &client, token, connection),
        None if config.terminal_api_keys.is_empty() => return None,
        None => Err("Open WebUI has no terminal connection to this server: \
             `fileshed openwebui register --terminal` makes it"
            .to_owned()),
    };
    Some(super::check("terminal", found))
}

/// Returns `true` if a connection leads here, or was meant to.
fn is_ours(config: &Config, connection: &Value) -> bool {
    has_our_key(config, connection)
        || text(connection, "id") == "fileshed"
        || text(connection, "url").trim_end_matches('/')
            == ConnectionKind::Terminal.address(config, None)
}

fn has_our_key(config: &Config, connection: &Value) -> bool {
    let key = text(connection, "key");
    let mut keys = config.terminal_api_keys.iter();
    !key.is_empty() && keys.any(|own| own.reveal() == key)
}

/// Returns the state of our connection; an error is a fault of it.
fn look(
    config: &Config,
    client: &OpenWebUiClient,
    token: &str,
    connection: &Value,
) -> Result<String, String> {
    let url = printable(text(connection, "url"));
    let renew = "`fileshed openwebui register --terminal` puts it right";
    if connection["enabled"] == false || connection["config"]["enable"] == false {
        return Err(format!(
            "the connection to {url} is turned off in Open WebUI"
        ));
    }
    if text(connection, "auth_type") == Auth::Bearer.as_str() && !has_our_key(config, connection) {
        return Err(format!(
            "the connection to {url} has a key that is none of terminal_api_keys: {renew}"
        ));
    }
    let fault = match ConnectionKind::Terminal.verify(client, token, connection) {
        Ok(found) if text(&found, "type") == "terminal" => None,
        Ok(_) => Some(format!(
            "what Open WebUI finds at {url} is no terminal: {renew}"
        )),
        Err(CallError::Status(400)) => Some(format!(
            "Open WebUI does not reach {url}: start this server, or {renew}, with --server-url"
        )),
        Err(error) => Some(format!("Open WebUI does not say what is at {url}: {error}")),
    };
    if let Some(fault) = fault {
        return Err(fault);
    }
    let attached = match connection["config"]["chat_uploads"].as_str() {
        Some("filesystem") => "; what is attached to a chat comes here",
        _ => "; what is attached to a chat stays in Open WebUI",
    };
    Ok(format!("Open WebUI reaches {url}{attached}"))
}
