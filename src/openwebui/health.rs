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
            format!("does not answer at {url}: its groups, attachments and links are away, all else works")
        } else {
            format!("what answers at {url} is not Open WebUI: openwebui_api_url is wrong")
        }
    })?;
    let version = printable(&version);
    let Some(key) = &config.openwebui_admin_key else {
        return Ok(format!(
            "version {version} answers; no openwebui_admin_key is set, with which its connections would \
             be tried"
        ));
    };
    // Only administrators get this list.
    match client.get::<IgnoredAny>(key.reveal(), "/api/v1/users/?page=1") {
        Ok(_) => Ok(format!(
            "version {version} answers, and takes openwebui_admin_key"
        )),
        Err(CallError::Status(401 | 403, _)) => Err(format!(
            "version {version} answers, but does not take openwebui_admin_key for an administrator's"
        )),
        Err(error) => Err(format!(
            "version {version} answers, but not about users: {error}"
        )),
    }
}
