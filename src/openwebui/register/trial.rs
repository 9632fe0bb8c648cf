//! Test call by a connection, made by Open WebUI with the credential and the headers that the connection
//! has. Open WebUI's own check of a connection asks only for what everybody may know, so that a wrong key
//! and a user who is not named pass it.
//!
//! For tools Open WebUI has no such call; but where it tries a provider of models, it calls with the same
//! credential and headers, so it is told to look for models where this server says who calls. A terminal
//! that Open WebUI keeps is called through its own proxy, and another one in the same way as tools.

use fileshed_core::Code;
use serde_json::{Value, json};

use super::super::client::{CallError, OpenWebUiClient, segment};
use super::connection::{ConnectionKind, object};
use super::{RegisterError, UNCHANGED, printable, text};
use crate::config::Config;

/// Says who calls; Open WebUI adds `/models`.
const WHO_CALLS: &str = "/page/session?for=";

/// Directory of a terminal, below its surface.
const DIRECTORY: &str = "/files/cwd";

/// Why a test call was not answered as it should be.
#[derive(Debug)]
pub(in crate::openwebui) enum TrialError {
    /// This server does not take the credential, with its own words about that.
    Unauthorized(String),
    /// This server refuses the call in these words.
    Refused(String),
    /// Something else answers.
    Foreign,
    /// Open WebUI has no answer.
    Call(CallError),
}

impl TrialError {
    fn of(code: &str, words: String) -> Self {
        match code {
            "" => Self::Unauthorized(words),
            code if code == Code::Unauthorized.as_str() => Self::Unauthorized(words),
            _ => Self::Refused(words),
        }
    }
}

impl From<CallError> for TrialError {
    fn from(error: CallError) -> Self {
        let CallError::Status(status @ (401 | 403), answer) = &error else {
            return Self::Call(error);
        };
        match words(answer) {
            words if *status == 401 => Self::of(text(answer, "code"), words),
            words if words.is_empty() => Self::Call(error),
            words => Self::Refused(words),
        }
    }
}

/// Returns what a refusal says to people.
fn words(answer: &Value) -> String {
    let found = ["detail", "error"].map(|name| text(answer, name));
    let found = found.into_iter().find(|words| !words.is_empty());
    printable(found.unwrap_or_default())
}

/// Calls with the credential and the headers of a tool server, and returns who arrives.
pub(in crate::openwebui) fn call_of_tools(
    client: &OpenWebUiClient,
    token: &str,
    connection: &Value,
) -> Result<String, TrialError> {
    let base = text(connection, "url").trim_end_matches('/');
    let mut surfaces = ["/mcp", "/fs"].into_iter();
    let above = surfaces.find_map(|surface| Some(base.rsplit_once(surface)?.0));
    let url = format!("{}{WHO_CALLS}", above.unwrap_or(base));
    let said = call(client, token, connection, &url, &connection["headers"])?;
    match said["signed_in"].as_bool() {
        Some(true) => Ok(printable(said["name"].as_str().unwrap_or("the one user"))),
        Some(false) => {
            let refusal = &said["refusal"];
            let words = format!("{}; {}", text(refusal, "message"), text(refusal, "hint"));
            Err(TrialError::of(text(refusal, "code"), printable(&words)))
        }
        None => Err(TrialError::Foreign),
    }
}

/// Calls a terminal that Open WebUI keeps.
pub(in crate::openwebui) fn call_of_terminal(
    client: &OpenWebUiClient,
    token: &str,
    connection: &Value,
) -> Result<(), TrialError> {
    let id = segment(text(connection, "id")).unwrap_or_default();
    let path = format!("/api/v1/terminals/{id}{DIRECTORY}");
    expect_terminal(&client.get(token, &path)?)
}

/// Calls with what a connection will have, and returns a line about that. Fails if this server refuses the
/// call.
pub(super) fn call_of_new(
    client: &OpenWebUiClient,
    (config, token): (&Config, &str),
    kind: ConnectionKind,
    connection: &Value,
) -> Result<String, RegisterError> {
    let called = match kind {
        ConnectionKind::ToolServer => call_of_tools(client, token, connection)
            .map(|who| format!("a call by it arrives as {who}")),
        ConnectionKind::Terminal => call_of_new_terminal(client, token, connection)
            .map(|()| "a call by it arrives".to_owned()),
    };
    called.or_else(|error| match error {
        TrialError::Unauthorized(_) | TrialError::Refused(_) => {
            let fault = fault((config, token), kind, connection, &error);
            Err(RegisterError::Refused(format!("{fault}{UNCHANGED}")))
        }
        _ => Ok(
            "note: Open WebUI made no test call by it; `fileshed doctor` tries it \
             again"
                .to_owned(),
        ),
    })
}

fn call_of_new_terminal(
    client: &OpenWebUiClient,
    token: &str,
    connection: &Value,
) -> Result<(), TrialError> {
    let mut headers = object(connection.get("headers"));
    headers.insert("X-User-Id".to_owned(), json!("{{USER_ID}}"));
    let url = format!("{}{DIRECTORY}?for=", text(connection, "url"));
    expect_terminal(&call(client, token, connection, &url, &headers.into())?)
}

fn call(
    client: &OpenWebUiClient,
    token: &str,
    connection: &Value,
    url: &str,
    headers: &Value,
) -> Result<Value, TrialError> {
    let message = json!({
        "url": url, "key": text(connection, "key"),
        "config": {"auth_type": connection["auth_type"], "headers": headers},
    });
    Ok(client.post(token, "/openai/verify", &message)?)
}

fn expect_terminal(said: &Value) -> Result<(), TrialError> {
    match &said["cwd"] {
        Value::Null => Err(TrialError::Foreign),
        _ => Ok(()),
    }
}

/// Returns what people call a connection.
pub(in crate::openwebui) fn place(connection: &Value) -> String {
    format!("the connection to {}", printable(text(connection, "url")))
}

/// Says why a test call by a connection has no answer of this server, and what to do.
pub(in crate::openwebui) fn fault(
    (config, token): (&Config, &str),
    kind: ConnectionKind,
    connection: &Value,
    error: &TrialError,
) -> String {
    let (place, register) = (place(connection), kind.register());
    match error {
        TrialError::Unauthorized(words) => {
            let cause = cause((config, token), kind, connection);
            let cause = cause.unwrap_or_else(|| words.clone());
            format!("a call by {place} is refused, {cause}")
        }
        TrialError::Refused(words) => format!("a call by {place} is refused: {words}"),
        TrialError::Call(CallError::Status(status @ 400..500, answer)) => {
            let words = words(answer);
            let colon = if words.is_empty() { "" } else { ": " };
            format!("a call by {place} is refused with status {status}{colon}{words}")
        }
        TrialError::Foreign | TrialError::Call(CallError::Unreadable(_)) => {
            format!("the server that Open WebUI reaches by {place} is not fileshed")
        }
        TrialError::Call(_) => format!(
            "Open WebUI does not reach this server by {place}: start it, or run `{register} \
             --server-url <address>`"
        ),
    }
}

/// Says why the running server does not take the credential of a connection, as far as the settings here
/// tell; `token` is that of the administrator.
fn cause(
    (config, token): (&Config, &str),
    kind: ConnectionKind,
    connection: &Value,
) -> Option<String> {
    let ((setting, keys), register) = (kind.keys(config), kind.register());
    let key = text(connection, "key");
    if connection["auth_type"] == "session" {
        // By the secret alone a server knows sessions, but no API key of the administrator.
        if config.webui_secret_key.is_some() && token.starts_with("sk-") {
            return None;
        }
        return Some(format!(
            "the running server accepts no sessions of this Open WebUI: start it with \
             `openwebui_api_url`, or set its `{setting}` here and run `{register}`"
        ));
    }
    Some(if keys.is_empty() {
        format!(
            "this server does not accept its key, and no `{setting}` are set here: set those of \
             the running server and run `{register}`"
        )
    } else if keys.iter().any(|own| own.reveal() == key) {
        format!(
            "the running server has other `{setting}` than this configuration: set its keys here \
             and run `{register}`, or start it with these"
        )
    } else {
        format!("this server does not accept its key: `{register}` renews it")
    })
}
