//! Check for `fileshed doctor` that Open WebUI has our terminal connection and reaches this server
//! by it.

use fileshed_core::Check;
use serde_json::Value;

use super::super::check;
use super::auth::Auth;
use super::connection::ConnectionKind;
use super::{CallError, Client, PATIENCE, printable, text};
use crate::config::Config;

/// Looks once. Nothing where Open WebUI cannot be asked, and where nobody wants a terminal.
#[must_use]
pub fn check_terminal(config: &Config) -> Option<Check> {
    let token = config.openwebui_admin_key.as_ref()?.reveal();
    if config.openwebui_api_url.is_empty() {
        return None;
    }
    let client = Client::new(config.openwebui_api_url.as_str()).within(PATIENCE);
    // What is wrong then is said of Open WebUI itself.
    let list = ConnectionKind::Terminal.read(&client, token).ok()?;
    let found = match list.iter().find(|connection| is_ours(config, connection)) {
        Some(connection) => look(config, &client, token, connection),
        None if config.terminal_api_keys.is_empty() => return None,
        None => Err("Open WebUI has no terminal connection to this server: \
             `fileshed openwebui register --terminal` makes it"
            .to_owned()),
    };
    Some(check("terminal", found))
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
    client: &Client,
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
