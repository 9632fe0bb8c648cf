//! Our connection in one of the lists that Open WebUI keeps: its settings, among those that are
//! there. Fields that are not ours stay as they are.

use fileshed_core::Toolset;
use fileshed_core::settings::PublicUrl;
use serde_json::{Map, Value, json};

use super::auth::{Auth, ConnectionHeader};
use super::grant::{self, AccessGrant};
use super::{
    CallError, ConnectionOptions, NOT_OPEN_WEBUI, OpenWebUiClient, RegisterError, UNCHANGED, asked,
    printable, text,
};
use crate::config::{Config, Secret, local_address};
use crate::openapi;

/// Text below the name of a tool server, until people write something better.
pub(in crate::openwebui) const DESCRIPTION: &str = "Files that stay";

/// Headers that ask for a form of the answers, ours first.
const PREFER: [&str; 2] = ["Prefer", "X-Fileshed-Prefer"];

/// Value of ours.
const SHORT_ANSWERS: &str = "return=minimal";

/// Path of the surface of terminals, below the server.
const TERMINAL_PATH: &str = "/terminal";

/// Its document, below that.
const TERMINAL_DOCUMENT: &str = "/openapi.json";

/// A kind of connection, of which Open WebUI keeps a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::openwebui) enum ConnectionKind {
    /// A server whose OpenAPI document is tools.
    ToolServer,
    /// A server of files and commands.
    Terminal,
}

impl ConnectionKind {
    /// Command that makes or renews our connection.
    pub(in crate::openwebui) fn register(self) -> &'static str {
        match self {
            Self::ToolServer => "fileshed openwebui register",
            Self::Terminal => "fileshed openwebui register --terminal",
        }
    }

    /// Setting with the keys that this server takes by it, and its value.
    pub(in crate::openwebui) fn keys(self, config: &Config) -> (&'static str, &[Secret]) {
        match self {
            Self::ToolServer => ("api_keys", &config.api_keys),
            Self::Terminal => ("terminal_api_keys", &config.terminal_api_keys),
        }
    }

    /// Path and field of its list.
    fn list(self) -> (&'static str, &'static str) {
        match self {
            Self::ToolServer => ("/api/v1/configs/tool_servers", "TOOL_SERVER_CONNECTIONS"),
            Self::Terminal => (
                "/api/v1/configs/terminal_servers",
                "TERMINAL_SERVER_CONNECTIONS",
            ),
        }
    }

    /// Reads the list as it is now.
    pub(in crate::openwebui) fn read(
        self,
        client: &OpenWebUiClient,
        token: &str,
    ) -> Result<Vec<Value>, RegisterError> {
        let (path, _) = self.list();
        self.parse(client.get(token, path).map_err(asked)?)
    }

    /// Replaces the list, and returns what is there afterwards.
    pub(super) fn write(
        self,
        client: &OpenWebUiClient,
        token: &str,
        list: &[Value],
    ) -> Result<Vec<Value>, RegisterError> {
        let (path, field) = self.list();
        let answer = client.post(token, path, &json!({field: list}));
        self.parse(answer.map_err(asked)?)
    }

    /// Has Open WebUI itself look at a connection, and returns what it found.
    pub(in crate::openwebui) fn verify(
        self,
        client: &OpenWebUiClient,
        token: &str,
        connection: &Value,
    ) -> Result<Value, CallError> {
        let (path, _) = self.list();
        client.post(token, &format!("{path}/verify"), connection)
    }

    fn parse(self, mut answer: Map<String, Value>) -> Result<Vec<Value>, RegisterError> {
        match answer.remove(self.list().1) {
            Some(Value::Array(list)) => Ok(list),
            Some(Value::Null) => Ok(Vec::new()),
            _ => Err(RegisterError::refused(NOT_OPEN_WEBUI)),
        }
    }

    /// Returns the part of a connection with its id and name, unless it is of another kind.
    fn identity(self, connection: &Value) -> Option<&Value> {
        match (self, connection["type"].as_str()) {
            (Self::Terminal, _) => Some(connection),
            // An entry without a type is a tool server.
            (Self::ToolServer, None | Some("openapi")) => Some(&connection["info"]),
            (Self::ToolServer, Some(_)) => None,
        }
    }

    /// Returns the address at which Open WebUI reaches the surface for this kind.
    pub(in crate::openwebui) fn address(
        self,
        config: &Config,
        server_url: Option<&PublicUrl>,
    ) -> String {
        let public = Some(&config.core.public_url).filter(|url| !url.is_empty());
        let url = server_url.or(public);
        let here = || format!("http://{}", local_address(config.bind));
        let server = url.map_or_else(here, ToString::to_string);
        match self {
            Self::ToolServer => server,
            Self::Terminal => format!("{server}{TERMINAL_PATH}"),
        }
    }
}

/// Our connection.
#[derive(Debug)]
pub(super) struct RegisteredConnection {
    pub(super) kind: ConnectionKind,
    /// Credential with which Open WebUI calls.
    pub(super) auth: Auth,
    /// Address at which it looks for the server, unless an existing connection has another one.
    pub(super) url: String,
    /// `true` if the address was given, so that it replaces the one of an existing connection.
    is_url_given: bool,
    pub(super) id: String,
    name: Option<String>,
    key: String,
    toolset: Option<Toolset>,
    /// The grants; `None` leaves those that it has.
    grants: Option<Vec<AccessGrant>>,
    headers: Vec<ConnectionHeader>,
}

impl RegisteredConnection {
    pub(super) fn new(
        config: &Config,
        options: &ConnectionOptions,
        grants: Option<Vec<AccessGrant>>,
    ) -> Result<Self, RegisterError> {
        let kind = if options.terminal {
            ConnectionKind::Terminal
        } else {
            ConnectionKind::ToolServer
        };
        let (setting, keys) = kind.keys(config);
        let auth = options.auth.unwrap_or(match keys {
            [] => Auth::Session,
            _ => Auth::Bearer,
        });
        let key = match (auth, keys.first()) {
            (Auth::Session, _) => "",
            (Auth::Bearer, Some(key)) => key.reveal(),
            (Auth::Bearer, None) => {
                return Err(RegisterError::Refused(format!(
                    "`--auth bearer` needs a key: set `{setting}`, or give `--auth session`"
                )));
            }
        };
        let mut headers = ConnectionHeader::all(config, auth);
        if kind == ConnectionKind::Terminal {
            headers.retain(ConnectionHeader::is_of_terminals);
        }
        Ok(Self {
            kind,
            auth,
            url: kind.address(config, options.server_url.as_ref()),
            is_url_given: options.server_url.is_some(),
            id: options.id.clone(),
            name: options.name.clone(),
            key: key.to_owned(),
            toolset: options.toolset,
            grants,
            headers,
        })
    }

    /// Returns the place of ours in the list.
    pub(super) fn find(&self, list: &[Value]) -> Option<usize> {
        let identity = |other| self.kind.identity(other);
        list.iter()
            .position(|other| identity(other).is_some_and(|own| text(own, "id") == self.id))
    }

    /// Returns others that lead to the same address as ours, as people know them.
    pub(super) fn rivals(&self, ours: &Value, list: &[Value]) -> Vec<String> {
        let url = text(ours, "url");
        let rival = |other: &Value| {
            let identity = self.kind.identity(other)?;
            let leads_here = text(other, "url").trim_end_matches('/') == url;
            let name = match text(identity, "name") {
                "" => printable(url),
                name => printable(name),
            };
            (leads_here && text(identity, "id") != self.id).then_some(name)
        };
        list.iter().filter_map(rival).collect()
    }

    /// Returns the connection as it should be, made from the existing one if there is one.
    pub(super) fn connection(&self, existing: Option<&Value>) -> Value {
        let at = |name: &str| existing.and_then(|existing| existing.get(name));
        let mut connection = object(existing);
        let mut set = |name: &str, value: Value| {
            connection.insert(name.to_owned(), value);
        };
        let headers = self.headers(at("headers"));
        let url = json!(self.url(at("url")));
        match self.kind {
            ConnectionKind::ToolServer => {
                set("type", json!("openapi"));
                set("url", url);
                set("path", json!(self.path(at("path"))));
                set("spec_type", json!("url"));
            }
            ConnectionKind::Terminal => {
                set("id", json!(self.id));
                set("name", json!(self.shown_name(at("name"))));
                set("enabled", json!(true));
                set("url", url);
                set("path", json!(TERMINAL_DOCUMENT));
            }
        }
        set("auth_type", json!(self.auth.as_str()));
        set("key", json!(self.key));
        if !headers.is_empty() || at("headers").is_some() {
            set("headers", headers.into());
        }
        let config = self.config(at("config"), existing.is_none());
        set("config", config.into());
        if self.kind == ConnectionKind::ToolServer {
            set("info", self.info(at("info")).into());
        }
        connection.into()
    }

    /// Returns the address: the one that was given, else that of the existing connection.
    fn url<'a>(&'a self, existing: Option<&'a Value>) -> &'a str {
        let existing = existing.and_then(Value::as_str).unwrap_or_default();
        match existing.trim_end_matches('/') {
            existing if !existing.is_empty() && !self.is_url_given => existing,
            _ => &self.url,
        }
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
        let is_tool_server = self.kind == ConnectionKind::ToolServer;
        // The headers may be a string that holds an object.
        let parsed = existing.and_then(Value::as_str).filter(|_| is_tool_server);
        let parsed = parsed.and_then(|text| serde_json::from_str::<Value>(text).ok());
        let mut headers = object(parsed.as_ref().or(existing));
        for header in &self.headers {
            header.settle(&mut headers);
        }
        // Models read the answers. A value that somebody else set stays.
        let is_own = |name: &String| PREFER.iter().any(|own| name.eq_ignore_ascii_case(own));
        if is_tool_server && !headers.keys().any(is_own) {
            headers.insert(PREFER[0].to_owned(), json!(SHORT_ANSWERS));
        }
        headers
    }

    fn config(&self, existing: Option<&Value>, is_new: bool) -> Map<String, Value> {
        let mut config = object(existing);
        let mut set = |name: &str, value: Value| {
            config.insert(name.to_owned(), value);
        };
        match self.kind {
            ConnectionKind::ToolServer => {
                set("enable", json!(true));
                if is_new {
                    set("function_name_filter_list", json!(""));
                }
            }
            // Files that are attached to a chat go into its uploads.
            ConnectionKind::Terminal if is_new => set("chat_uploads", json!("filesystem")),
            ConnectionKind::Terminal => {}
        }
        grant::settle(&mut config, self.grants.as_deref(), is_new);
        config
    }

    fn info(&self, existing: Option<&Value>) -> Map<String, Value> {
        let mut info = object(existing);
        info.insert("id".to_owned(), json!(self.id));
        let name = json!(self.shown_name(info.get("name")));
        info.insert("name".to_owned(), name);
        info.entry("description").or_insert(json!(DESCRIPTION));
        info
    }

    /// Returns the name for people: what was said, else that of the existing connection.
    fn shown_name<'a>(&'a self, existing: Option<&'a Value>) -> &'a str {
        let existing = existing.and_then(Value::as_str);
        let existing = existing.filter(|name| !name.is_empty());
        self.name.as_deref().or(existing).unwrap_or(&self.id)
    }

    /// Has Open WebUI look at it, and returns a line about what it found.
    pub(super) fn verify(
        &self,
        client: &OpenWebUiClient,
        token: &str,
        connection: &Value,
    ) -> Result<String, RegisterError> {
        let path = text(connection, "path").trim_start_matches('/');
        let url = printable(text(connection, "url"));
        let place = match self.kind {
            ConnectionKind::ToolServer => format!("{url}/{path}"),
            ConnectionKind::Terminal => url,
        };
        let found = self.kind.verify(client, token, connection);
        let found = found.map_err(|error| match error {
            CallError::Status(400, _) => RegisterError::Refused(format!(
                "Open WebUI cannot read {place}: start fileshed, and give in `--server-url` the \
                 address at which Open WebUI reaches it, from within its container{UNCHANGED}"
            )),
            CallError::Status(403, _) => RegisterError::refused(
                "Open WebUI does not use tool servers: set ENABLE_TOOL_SERVERS=True there",
            ),
            error => asked(error),
        })?;
        match self.kind {
            ConnectionKind::Terminal if text(&found, "type") == "terminal" => {
                Ok(format!("Open WebUI reaches {place}: a terminal"))
            }
            ConnectionKind::ToolServer if text(&found["info"], "title") == openapi::TITLE => {
                let version = printable(text(&found["info"], "version"));
                let paths = found["paths"].as_object().into_iter().flatten();
                let count = paths.filter(|(path, _)| is_operation(path)).count();
                Ok(format!(
                    "Open WebUI reads {place}: fileshed {version}, {count} operations"
                ))
            }
            _ => Err(RegisterError::Refused(format!(
                "the server that Open WebUI reaches at {place} is not fileshed{UNCHANGED}"
            ))),
        }
    }

    /// Returns where people and administrators switch it on.
    pub(super) fn switched_on_by_hand(&self) -> &'static str {
        match self.kind {
            ConnectionKind::ToolServer => {
                "next: switch it on among the tools of a chat; to have it on in every new chat, tick it \
                 for a model in Admin Settings, Models, Tools, or register with --default-for"
            }
            ConnectionKind::Terminal => {
                "next: choose it as the terminal of a chat; to have it in every new chat, choose it for a \
                 model in Admin Settings, Models, Terminal, or register with --default-for"
            }
        }
    }

    /// Returns where people import the file of the connection, or what to do with it instead.
    pub(super) fn next_step(&self) -> String {
        let step = match self.kind {
            ConnectionKind::ToolServer => {
                "in Open WebUI, Admin Settings, Integrations, add a tool server, choose Import, \
                 then Save"
            }
            ConnectionKind::Terminal => {
                "set TERMINAL_SERVER_CONNECTIONS to this before Open WebUI first starts, or enter \
                 it in Admin Settings, Integrations, Open Terminal"
            }
        };
        format!("for {}: {step}", self.url)
    }
}

fn path(toolset: Toolset) -> &'static str {
    match toolset {
        Toolset::All => "openapi.json",
        Toolset::Core => "openapi.json?toolset=core",
    }
}

/// `true` if a path of the document leads to a tool: whole files have paths there, too.
fn is_operation(path: &str) -> bool {
    let name = path.rsplit('/').next();
    name.is_some_and(|name| crate::ops::find(name).is_some())
}

pub(super) fn object(value: Option<&Value>) -> Map<String, Value> {
    let object = value.and_then(Value::as_object);
    object.cloned().unwrap_or_default()
}
