//! Our connection among the tool servers.

use fileshed_core::Toolset;
use fileshed_core::settings::PublicUrl;
use serde_json::{Map, Value, json};

use super::auth::{Auth, ConnectionHeader};
use super::connection::RegisteredConnection;
use super::grant::{self, Grant};
use super::list::ConnectionList;
use super::{CallError, Client, ConnectionOptions, RegisterError, asked, printable, text};
use crate::config::Config;
use crate::openapi;

/// What people read below the name, until they write something better.
const DESCRIPTION: &str = "Files that stay";

/// Headers that ask for a form of the answers, ours first.
const PREFER: [&str; 2] = ["Prefer", "X-Fileshed-Prefer"];

/// What ours says.
const SHORT_ANSWERS: &str = "return=minimal";

/// What the connection should be.
#[derive(Debug)]
pub(super) struct ToolServer {
    auth: Auth,
    id: String,
    name: Option<String>,
    url: String,
    key: String,
    toolset: Option<Toolset>,
    /// Nothing: whom it is granted to is not ours to say.
    grants: Option<Vec<Grant>>,
    headers: Vec<ConnectionHeader>,
}

impl ToolServer {
    pub(super) fn new(
        config: &Config,
        options: &ConnectionOptions,
        grants: Option<Vec<Grant>>,
    ) -> Result<Self, RegisterError> {
        let auth = options.auth.unwrap_or_else(|| Auth::of(config));
        let key = match (auth, config.api_keys.first()) {
            (Auth::Session, _) => "",
            (Auth::Bearer, Some(key)) => key.reveal(),
            (Auth::Bearer, None) => return Err(RegisterError::NoServiceKey),
        };
        Ok(Self {
            auth,
            id: options.id.clone(),
            name: options.name.clone(),
            url: place(config, options.server_url.as_ref()),
            key: key.to_owned(),
            toolset: options.toolset,
            grants,
            headers: ConnectionHeader::all(config, auth),
        })
    }

    fn path(&self, existing: Option<&Value>) -> String {
        let existing = existing.and_then(Value::as_str).unwrap_or_default();
        let known = [Toolset::All, Toolset::Core]
            .into_iter()
            .find(|&toolset| existing.trim_start_matches('/') == path(toolset));
        match (self.toolset, known) {
            (None, Some(_)) => existing.to_owned(),
            (Some(wanted), Some(known)) if wanted == known => existing.to_owned(),
            (wanted, _) => path(wanted.unwrap_or_default()).to_owned(),
        }
    }

    fn headers(&self, existing: Option<&Value>) -> Map<String, Value> {
        // They may be a text with an object in it.
        let parsed = existing.and_then(Value::as_str);
        let parsed = parsed.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let mut headers = object(parsed.as_ref().or(existing));
        for header in &self.headers {
            header.settle(&mut headers);
        }
        // Models read the answers. What somebody else wrote there stays.
        let is_own = |name: &String| PREFER.iter().any(|own| name.eq_ignore_ascii_case(own));
        if !headers.keys().any(is_own) {
            headers.insert(PREFER[0].to_owned(), json!(SHORT_ANSWERS));
        }
        headers
    }

    fn config(&self, existing: Option<&Value>, is_new: bool) -> Map<String, Value> {
        let mut config = object(existing);
        config.insert("enable".to_owned(), json!(true));
        if is_new {
            config.insert("function_name_filter_list".to_owned(), json!(""));
        }
        grant::settle(&mut config, self.grants.as_deref(), is_new);
        config
    }

    fn info(&self, existing: Option<&Value>) -> Map<String, Value> {
        let mut info = object(existing);
        info.insert("id".to_owned(), json!(self.id));
        let named = self.name.clone();
        let named = named.or_else(|| {
            text(&json!(info), "name")
                .is_empty()
                .then(|| self.id.clone())
        });
        if let Some(name) = named {
            info.insert("name".to_owned(), json!(name));
        }
        info.entry("description").or_insert(json!(DESCRIPTION));
        info
    }
}

impl RegisteredConnection for ToolServer {
    fn list(&self) -> &'static ConnectionList {
        &ConnectionList::TOOL_SERVER
    }

    fn auth(&self) -> Auth {
        self.auth
    }

    fn url(&self) -> &str {
        &self.url
    }

    fn find(&self, list: &[Value]) -> Option<usize> {
        list.iter()
            .position(|other| is_openapi(other) && text(&other["info"], "id") == self.id)
    }

    fn rivals(&self, list: &[Value]) -> Vec<String> {
        let leads_here = |other: &&Value| {
            is_openapi(other)
                && text(&other["info"], "id") != self.id
                && text(other, "url").trim_end_matches('/') == self.url
        };
        let name = |other: &Value| match text(&other["info"], "name") {
            "" => self.url.clone(),
            name => printable(name),
        };
        list.iter().filter(leads_here).map(name).collect()
    }

    fn connection(&self, existing: Option<&Value>) -> Value {
        let at = |name: &str| existing.and_then(|existing| existing.get(name));
        let mut connection = object(existing);
        let mut set = |name: &str, value: Value| {
            connection.insert(name.to_owned(), value);
        };
        set("type", json!("openapi"));
        set("url", json!(self.url));
        set("path", json!(self.path(at("path"))));
        set("spec_type", json!("url"));
        set("auth_type", json!(self.auth.as_str()));
        set("key", json!(self.key));
        set("headers", self.headers(at("headers")).into());
        set(
            "config",
            self.config(at("config"), existing.is_none()).into(),
        );
        set("info", self.info(at("info")).into());
        connection.into()
    }

    fn verify(
        &self,
        client: &Client,
        token: &str,
        connection: &Value,
    ) -> Result<String, RegisterError> {
        let path = text(connection, "path").trim_start_matches('/');
        let place = format!("{}/{path}", self.url);
        let found = ConnectionList::TOOL_SERVER.verify(client, token, connection);
        let found = found.map_err(|error| match error {
            CallError::Status(400) => RegisterError::OutOfReach(place.clone()),
            CallError::Status(403) => RegisterError::Off,
            error => asked(error),
        })?;
        if text(&found["info"], "title") != openapi::TITLE {
            return Err(RegisterError::SomebodyElse(place));
        }
        let version = printable(text(&found["info"], "version"));
        let operation = |path: &&String| path.rsplit('/').next().is_some_and(is_operation);
        let count = found["paths"]
            .as_object()
            .map_or(0, |paths| paths.keys().filter(operation).count());
        Ok(format!(
            "Open WebUI reads {place}: fileshed {version}, {count} operations"
        ))
    }

    fn next_step(&self) -> String {
        format!(
            "for {}: in Open WebUI, Admin Settings, Integrations, add a tool server, choose Import, \
             then Save",
            self.url
        )
    }
}

fn path(toolset: Toolset) -> &'static str {
    match toolset {
        Toolset::All => "openapi.json",
        Toolset::Core => "openapi.json?toolset=core",
    }
}

/// Where Open WebUI reaches this server.
pub(super) fn place(config: &Config, server_url: Option<&PublicUrl>) -> String {
    let public = Some(&config.core.public_url).filter(|url| !url.is_empty());
    let url = server_url.or(public);
    url.map_or_else(|| here(config), ToString::to_string)
}

/// This server as programs on this machine reach it.
fn here(config: &Config) -> String {
    let mut address = config.bind;
    if address.ip().is_unspecified() {
        address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
    }
    format!("http://{address}")
}

/// Whether a path of the document leads to a tool: whole files have paths there, too.
fn is_operation(name: &str) -> bool {
    crate::ops::find(name).is_some()
}

fn is_openapi(connection: &Value) -> bool {
    // What has no type is one.
    matches!(connection["type"].as_str(), None | Some("openapi"))
}

pub(super) fn object(value: Option<&Value>) -> Map<String, Value> {
    let object = value.and_then(Value::as_object);
    object.cloned().unwrap_or_default()
}
