//! The connections that Open WebUI keeps: each is tried with a call.

use fileshed_core::Check;
use serde_json::Value;

use super::super::client::OpenWebUiClient;
use super::super::register::{ConnectionKind, DESCRIPTION, PATIENCE, text, trial};
use super::check_of;
use crate::config::Config;

/// Tests every connection that leads to this server once. Empty without a key of Open WebUI.
#[must_use]
pub fn check_connections(config: &Config) -> Vec<Check> {
    let (url, key) = (&config.openwebui_api_url, &config.openwebui_admin_key);
    let Some(key) = key.as_ref().filter(|_| !url.is_empty()) else {
        return Vec::new();
    };
    let client = OpenWebUiClient::new(url.as_str()).within(PATIENCE);
    let (client, key) = (&client, key.reveal());
    let tools = match ConnectionKind::ToolServer.read(client, key) {
        Ok(tools) => tools,
        Err(error) => return vec![check_of("tools", Err(format!("not tried: {error}")))],
    };
    let terminals = ConnectionKind::Terminal.read(client, key);
    let tools = ours(config, ConnectionKind::ToolServer, tools);
    let terminals = ours(
        config,
        ConnectionKind::Terminal,
        terminals.unwrap_or_default(),
    );
    let missing = |kind: ConnectionKind| {
        let register = kind.register();
        Err(format!(
            "Open WebUI has no connection to this server: `{register}` creates it"
        ))
    };
    let mut found = Vec::new();
    for connection in &tools {
        let is_mcp = connection["type"] == "mcp";
        let name = if is_mcp { "mcp" } else { "tools" };
        found.push((name, try_tools(client, (config, key), connection)));
    }
    for connection in &terminals {
        found.push(("terminal", try_terminal(client, (config, key), connection)));
    }
    // The keys of a kind are there for its connection. Without keys, one kind is enough.
    let has_keys = |kind: ConnectionKind| !kind.keys(config).1.is_empty();
    let has_none = tools.is_empty() && terminals.is_empty();
    if tools.is_empty() && (has_none || has_keys(ConnectionKind::ToolServer)) {
        found.push(("tools", missing(ConnectionKind::ToolServer)));
    }
    if terminals.is_empty() && has_keys(ConnectionKind::Terminal) {
        found.push(("terminal", missing(ConnectionKind::Terminal)));
    }
    let checks = found.into_iter();
    checks.map(|(name, found)| check_of(name, found)).collect()
}

/// Those of a list that lead here, or were meant to.
fn ours(config: &Config, kind: ConnectionKind, list: Vec<Value>) -> Vec<Value> {
    let (_, keys) = kind.keys(config);
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

fn try_tools(
    client: &OpenWebUiClient,
    (config, key): (&Config, &str),
    connection: &Value,
) -> Result<String, String> {
    let (place, kind) = (expect_on(connection)?, ConnectionKind::ToolServer);
    let who = trial::call_of_tools(client, key, connection);
    let who = who.map_err(|error| trial::fault((config, key), kind, connection, &error))?;
    if kind.verify(client, key, connection).is_err() {
        return Err(format!(
            "Open WebUI reads no tools by {place}: correct its path with `fileshed openwebui \
             register`, and set ENABLE_TOOL_SERVERS=True there"
        ));
    }
    let chat = config.header_chat_id.as_str();
    let mut headers = connection["headers"].as_object().into_iter().flatten();
    let without_chat = if headers.any(|(header, _)| header.eq_ignore_ascii_case(chat)) {
        ""
    } else {
        "; it names its chat only if ENABLE_FORWARD_USER_INFO_HEADERS is on there, or after \
         `fileshed openwebui register`"
    };
    Ok(format!("a call by {place} arrives as {who}{without_chat}"))
}

fn try_terminal(
    client: &OpenWebUiClient,
    (config, key): (&Config, &str),
    connection: &Value,
) -> Result<String, String> {
    let (place, kind) = (expect_on(connection)?, ConnectionKind::Terminal);
    let called = trial::call_of_terminal(client, key, connection);
    called.map_err(|error| trial::fault((config, key), kind, connection, &error))?;
    let attached = match connection["config"]["chat_uploads"].as_str() {
        Some("filesystem") => "come here",
        _ => "stay in Open WebUI",
    };
    Ok(format!(
        "a call by {place} arrives; files attached to a chat {attached}"
    ))
}

/// Returns what people call a connection, unless it is turned off.
fn expect_on(connection: &Value) -> Result<String, String> {
    let place = trial::place(connection);
    if connection["enabled"] == false || connection["config"]["enable"] == false {
        return Err(format!("{place} is turned off in Open WebUI"));
    }
    Ok(place)
}
