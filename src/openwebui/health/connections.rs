//! Test calls through Open WebUI, by the connections that it keeps. Its own check of a connection asks only
//! for what everybody may know, so that a wrong key and a user who is not named pass it.
//!
//! Open WebUI passes calls of a terminal on as they are. For tools it has no such way; but where it
//! tries a provider of models, it calls with the same credential and headers, so it is told to look for
//! models where this server says who calls.

use fileshed_core::{Check, CheckState, Code};
use serde_json::{Value, json};

use super::super::client::{CallError, OpenWebUiClient, segment};
use super::super::printable;
use super::super::register::{ConnectionKind, DESCRIPTION, PATIENCE, text};
use crate::config::Config;

/// Says who calls; Open WebUI adds `/models`.
const WHO_CALLS: &str = "/page/session?for=";

/// Tries every connection that leads here once. Nothing where Open WebUI cannot be asked.
#[must_use]
pub fn check_connections(config: &Config) -> Vec<Check> {
    let (url, key) = (&config.openwebui_api_url, &config.openwebui_admin_key);
    let Some(key) = key.as_ref().filter(|_| !url.is_empty()) else {
        return Vec::new();
    };
    let client = OpenWebUiClient::new(url.as_str()).within(PATIENCE);
    let (client, key) = (&client, key.reveal());
    // The check of Open WebUI itself says what is wrong then.
    let Ok(tools) = ConnectionKind::ToolServer.read(client, key) else {
        return Vec::new();
    };
    let terminals = ConnectionKind::Terminal.read(client, key);
    let tools = ours(config, ConnectionKind::ToolServer, tools);
    let terminals = ours(
        config,
        ConnectionKind::Terminal,
        terminals.unwrap_or_default(),
    );
    let missing = |option| {
        Err(format!(
            "Open WebUI has no connection to this server: `fileshed openwebui register{option}` makes it"
        ))
    };
    let mut found = Vec::new();
    for connection in &tools {
        let is_mcp = connection["type"] == "mcp";
        let name = if is_mcp { "mcp" } else { "tools" };
        found.push((name, call_of_tools(config, client, key, connection)));
    }
    for connection in &terminals {
        found.push(("terminal", call_of_terminal(client, key, connection)));
    }
    if tools.is_empty() && terminals.is_empty() {
        found.push(("tools", missing("")));
    }
    if terminals.is_empty() && !config.terminal_api_keys.is_empty() {
        found.push(("terminal", missing(" --terminal")));
    }
    let checks = found.into_iter().map(|(name, found)| match found {
        Ok(text) => Check::new(name, CheckState::Ok, text),
        Err(text) => Check::new(name, CheckState::Failed, text),
    });
    checks.collect()
}

/// Those of a list that lead here, or were meant to.
fn ours(config: &Config, kind: ConnectionKind, list: Vec<Value>) -> Vec<Value> {
    let keys = match kind {
        ConnectionKind::ToolServer => &config.api_keys,
        ConnectionKind::Terminal => &config.terminal_api_keys,
    };
    let address = kind.address(config, None);
    let is_ours = |connection: &Value| {
        let below = text(connection, "url").strip_prefix(&address);
        keys.iter().any(|key| connection["key"] == key.reveal())
            || connection["id"] == "fileshed"
            || connection["info"]["id"] == "fileshed"
            || connection["info"]["description"] == DESCRIPTION
            || below.is_some_and(|below| below.is_empty() || below.starts_with('/'))
    };
    list.into_iter().filter(is_ours).collect()
}

fn call_of_tools(
    config: &Config,
    client: &OpenWebUiClient,
    key: &str,
    connection: &Value,
) -> Result<String, String> {
    let place = expect_on(connection)?;
    let base = text(connection, "url").trim_end_matches('/');
    let mut surfaces = ["/mcp", "/fs"].into_iter();
    let above = surfaces.find_map(|surface| Some(base.rsplit_once(surface)?.0));
    let message = json!({
        "url": format!("{}{WHO_CALLS}", above.unwrap_or(base)), "key": text(connection, "key"),
        "config": {"auth_type": connection["auth_type"], "headers": connection["headers"]},
    });
    let said: Value = client
        .post(key, "/openai/verify", &message)
        .map_err(|error| fault(&place, "", &error))?;
    let refusal = &said["refusal"];
    let (message, hint) = (text(refusal, "message"), text(refusal, "hint"));
    match said["signed_in"].as_bool() {
        Some(true) => {}
        Some(false) if refusal["code"] != Code::Unauthorized.as_str() && !refusal.is_null() => {
            let why = printable(&format!("{message}; {hint}"));
            return Err(format!("a call by {place} is refused: {why}"));
        }
        Some(false) => return Err(fault(&place, "", &CallError::Status(401))),
        None => return Err(format!("what Open WebUI finds by {place} is not fileshed")),
    }
    let verified = ConnectionKind::ToolServer.verify(client, key, connection);
    if verified.is_err() {
        return Err(format!(
            "Open WebUI reads no tools by {place}: `fileshed openwebui register` puts its path right, and \
             ENABLE_TOOL_SERVERS must not be off there"
        ));
    }
    let chat = config.header_chat_id.as_str();
    let mut headers = connection["headers"].as_object().into_iter().flatten();
    let without_chat = if headers.any(|(header, _)| header.eq_ignore_ascii_case(chat)) {
        ""
    } else {
        "; its chat is named only if ENABLE_FORWARD_USER_INFO_HEADERS is on there, or after \
         `fileshed openwebui register`"
    };
    let who = printable(said["name"].as_str().unwrap_or("the one user"));
    Ok(format!("a call by {place} arrives as {who}{without_chat}"))
}

fn call_of_terminal(
    client: &OpenWebUiClient,
    key: &str,
    connection: &Value,
) -> Result<String, String> {
    let place = expect_on(connection)?;
    let id = segment(text(connection, "id")).unwrap_or_default();
    let said: Value = client
        .get(key, &format!("/api/v1/terminals/{id}/files/cwd"))
        .map_err(|error| fault(&place, " --terminal", &error))?;
    if said["cwd"].is_null() {
        return Err(format!("what Open WebUI finds by {place} is no terminal"));
    }
    let attached = match connection["config"]["chat_uploads"].as_str() {
        Some("filesystem") => "comes here",
        _ => "stays in Open WebUI",
    };
    Ok(format!(
        "a call by {place} arrives; what is attached to a chat {attached}"
    ))
}

/// Says why a call has no answer of this server.
fn fault(place: &str, option: &str, error: &CallError) -> String {
    match error {
        CallError::Status(401) => format!(
            "a call by {place} is refused, its key is none that this server takes: `fileshed openwebui \
             register{option}` renews it"
        ),
        CallError::Status(status @ 400..500) => {
            format!("a call by {place} is refused with status {status}")
        }
        CallError::Unreadable(_) => format!("what Open WebUI finds by {place} is not fileshed"),
        _ => format!(
            "Open WebUI does not reach this server by {place}: start it, or run `fileshed openwebui \
             register{option} --server-url <address>`"
        ),
    }
}

/// Returns what people call a connection, unless it is turned off.
fn expect_on(connection: &Value) -> Result<String, String> {
    let place = format!("the connection to {}", printable(text(connection, "url")));
    if connection["enabled"] == false || connection["config"]["enable"] == false {
        return Err(format!("{place} is turned off in Open WebUI"));
    }
    Ok(place)
}
