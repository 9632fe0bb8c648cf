//! Our connection among the terminals.

use fileshed_core::settings::PublicUrl;
use serde_json::{Map, Value, json};

use super::auth::{Auth, ConnectionHeader};
use super::connection::RegisteredConnection;
use super::grant::{self, Grant};
use super::list::ConnectionList;
use super::tool_server::{object, place};
use super::{CallError, Client, ConnectionOptions, RegisterError, asked, printable, text};
use crate::config::Config;

/// Where the surface is, below the server.
const PATH: &str = "/terminal";

/// Its document, below that.
const DOCUMENT: &str = "/openapi.json";

/// What the connection should be.
#[derive(Debug)]
pub(super) struct Terminal {
    auth: Auth,
    id: String,
    name: Option<String>,
    url: String,
    key: String,
    /// Nothing: whom it is granted to is not ours to say.
    grants: Option<Vec<Grant>>,
    headers: Vec<ConnectionHeader>,
}

impl Terminal {
    pub(super) fn new(
        config: &Config,
        options: &ConnectionOptions,
        grants: Option<Vec<Grant>>,
    ) -> Result<Self, RegisterError> {
        let auth = options.auth.unwrap_or(match config.terminal_api_keys[..] {
            [] => Auth::Session,
            _ => Auth::Bearer,
        });
        let key = match (auth, config.terminal_api_keys.first()) {
            (Auth::Session, _) => "",
            (Auth::Bearer, Some(key)) => key.reveal(),
            (Auth::Bearer, None) => return Err(RegisterError::NoTerminalKey),
        };
        Ok(Self {
            auth,
            id: options.id.clone(),
            name: options.name.clone(),
            url: address(config, options.server_url.as_ref()),
            key: key.to_owned(),
            grants,
            headers: ConnectionHeader::of_groups(config, auth),
        })
    }

    fn config(&self, existing: Option<&Value>, is_new: bool) -> Map<String, Value> {
        let mut config = object(existing);
        if is_new {
            // What is attached to a chat goes into its uploads.
            config.insert("chat_uploads".to_owned(), json!("filesystem"));
        }
        grant::settle(&mut config, self.grants.as_deref(), is_new);
        config
    }
}

/// Where Open WebUI reaches the surface.
pub(super) fn address(config: &Config, server_url: Option<&PublicUrl>) -> String {
    format!("{}{PATH}", place(config, server_url))
}

impl RegisteredConnection for Terminal {
    fn list(&self) -> &'static ConnectionList {
        &ConnectionList::TERMINAL
    }

    fn is_terminal(&self) -> bool {
        true
    }

    fn auth(&self) -> Auth {
        self.auth
    }

    fn url(&self) -> &str {
        &self.url
    }

    fn find(&self, list: &[Value]) -> Option<usize> {
        list.iter().position(|other| text(other, "id") == self.id)
    }

    fn rivals(&self, list: &[Value]) -> Vec<String> {
        let leads_here = |other: &&Value| {
            text(other, "id") != self.id && text(other, "url").trim_end_matches('/') == self.url
        };
        let name = |other: &Value| match text(other, "name") {
            "" => self.url.clone(),
            name => printable(name),
        };
        list.iter().filter(leads_here).map(name).collect()
    }

    fn connection(&self, existing: Option<&Value>) -> Value {
        let at = |name: &str| existing.and_then(|existing| existing.get(name));
        let mut connection = object(existing);
        let mut headers = object(at("headers"));
        for header in &self.headers {
            header.settle(&mut headers);
        }
        let config = self.config(at("config"), existing.is_none());
        let mut set = |name: &str, value: Value| {
            connection.insert(name.to_owned(), value);
        };
        set("id", json!(self.id));
        if let Some(name) = &self.name {
            set("name", json!(name));
        } else if at("name").and_then(Value::as_str).is_none_or(str::is_empty) {
            set("name", json!(self.id));
        }
        set("enabled", json!(true));
        set("url", json!(self.url));
        set("path", json!(DOCUMENT));
        set("auth_type", json!(self.auth.as_str()));
        set("key", json!(self.key));
        if !headers.is_empty() || at("headers").is_some() {
            set("headers", headers.into());
        }
        set("config", config.into());
        connection.into()
    }

    fn verify(
        &self,
        client: &Client,
        token: &str,
        connection: &Value,
    ) -> Result<String, RegisterError> {
        let found = self.list().verify(client, token, connection);
        let found = found.map_err(|error| match error {
            CallError::Status(400) => RegisterError::OutOfReach(self.url.clone()),
            CallError::Status(403) => RegisterError::Off,
            error => asked(error),
        })?;
        if text(&found, "type") != "terminal" {
            return Err(RegisterError::SomebodyElse(self.url.clone()));
        }
        Ok(format!("Open WebUI reaches {}: a terminal", self.url))
    }

    fn next_step(&self) -> String {
        format!(
            "for {}: set TERMINAL_SERVER_CONNECTIONS to this before Open WebUI first starts, or enter \
             it in Admin Settings, Integrations, Open Terminal",
            self.url
        )
    }
}
