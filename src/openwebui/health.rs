//! Check for `fileshed doctor` that Open WebUI can be asked. The server itself is ready without it.

use fileshed_core::Check;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::client::{CallError, Client};
use super::printable;
use crate::config::Config;

#[derive(Deserialize)]
struct VersionResponse {
    version: String,
}

/// Returns its version, as it says itself, for a terminal.
pub(super) fn version(client: &Client) -> Result<String, CallError> {
    let VersionResponse { version } = client.get("", "/api/version")?;
    Ok(printable(&version))
}

/// Asks once; nothing where no Open WebUI is configured.
#[must_use]
pub fn check(config: &Config) -> Option<Check> {
    let url = &config.openwebui_api_url;
    if url.is_empty() {
        return None;
    }
    let found = ask(config, &Client::new(url.as_str()));
    Some(super::check("openwebui", found))
}

fn ask(config: &Config, client: &Client) -> Result<String, String> {
    let url = &config.openwebui_api_url;
    let version = version(client).map_err(|error| {
        if error.passes() {
            format!("does not answer at {url}: its groups, attachments and links are away, all else works")
        } else {
            format!("what answers at {url} is not Open WebUI: openwebui_api_url is wrong")
        }
    })?;
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
