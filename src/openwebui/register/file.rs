//! The connection as a file that the settings of Open WebUI import, for who has no credential for
//! its interface. It is written as their own export writes it: a list with one connection.

use fileshed_core::settings::PublicUrl;
use serde_json::json;

use super::grant;
use super::{Auth, ConnectionOptions, RegisterError, ours, remember};
use crate::config::Config;

/// What is imported, and what the administrator has to know.
#[derive(Debug)]
pub struct ConnectionFile {
    /// The file, with the service key where the connection has one.
    pub json: String,
    /// What to do with it.
    pub lines: Vec<String>,
}

/// Makes the file; asks nobody.
pub fn connection_file(
    config: &Config,
    options: &ConnectionOptions,
) -> Result<ConnectionFile, RegisterError> {
    let ours = ours(config, options, grant::by_ids(&options.grants)?)?;
    let mut lines = vec![ours.next_step()];
    let url = ours.url().parse::<PublicUrl>();
    if url.is_ok_and(|url| url.is_loopback()) {
        lines.push(
            "remember: an Open WebUI in a container or on another machine does not reach this \
             address; say its own with --server-url, or set `public_url`"
                .to_owned(),
        );
    }
    if ours.auth() == Auth::Bearer {
        lines.push("remember: the file holds the service key".to_owned());
    }
    lines.extend(remember(config, config.takes_sessions(), &*ours));
    Ok(ConnectionFile {
        json: format!("{:#}", json!([ours.connection(None)])),
        lines,
    })
}
