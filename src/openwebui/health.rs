//! Checks for `fileshed doctor` of Open WebUI: that it can be asked, and that its connections to this server
//! work (`connections`). The server itself is ready without it.

use fileshed_core::{Check, CheckState};
use serde::de::IgnoredAny;

use super::client::{CallError, OpenWebUiClient};
use super::printable;
use crate::config::Config;

mod connections;

pub use connections::check_connections;

/// Checks Open WebUI with one request; `None` if none is configured.
#[must_use]
pub fn check(config: &Config) -> Option<Check> {
    let url = &config.openwebui_api_url;
    if url.is_empty() {
        return None;
    }
    let found = ask(config, &OpenWebUiClient::new(url.as_str()));
    Some(check_of("openwebui", found))
}

/// Makes a check of a finding.
fn check_of(name: &str, found: Result<String, String>) -> Check {
    match found {
        Ok(text) => Check::new(name, CheckState::Ok, text),
        Err(text) => Check::new(name, CheckState::Failed, text),
    }
}

fn ask(config: &Config, client: &OpenWebUiClient) -> Result<String, String> {
    let url = &config.openwebui_api_url;
    let version = client.version().map_err(|error| {
        if error.passes() {
            format!(
                "does not answer at {url}: its groups, attachments and links are unavailable, \
                 everything else works"
            )
        } else {
            format!("the server at {url} is not Open WebUI: correct openwebui_api_url")
        }
    })?;
    let version = printable(&version);
    let Some(key) = &config.openwebui_admin_key else {
        return Ok(format!(
            "version {version} answers; its connections are not tested: set \
             openwebui_admin_key"
        ));
    };
    // Only administrators get this list.
    match client.get::<IgnoredAny>(key.reveal(), "/api/v1/users/?page=1") {
        Ok(_) => Ok(format!(
            "version {version} answers, and accepts openwebui_admin_key"
        )),
        Err(CallError::Status(401 | 403, _)) => Err(format!(
            "version {version} answers, but openwebui_admin_key is not the key of an administrator"
        )),
        Err(error) => Err(format!(
            "version {version} answers, but its users cannot be read: {error}"
        )),
    }
}
