//! The connection as a file that the settings of Open WebUI import, for who has no credential for
//! its interface. It is written as their own export writes it: a list with one connection.

use serde_json::json;

use super::grant;
use super::tool_server::ToolServer;
use super::{Auth, ConnectionOptions, RegisterError, remember};
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
    let ours = ToolServer::new(config, options, grant::by_ids(&options.grants)?)?;
    let mut lines = vec![format!(
        "for {}: in Open WebUI, Admin Settings, Integrations, add a tool server, choose Import, \
         then Save",
        ours.url()
    )];
    if ours.is_on_this_machine() {
        lines.push(
            "remember: an Open WebUI in a container or on another machine does not reach this \
             address; say its own with --server-url, or set `public_url`"
                .to_owned(),
        );
    }
    if ours.auth == Auth::Bearer {
        lines.push("remember: the file holds the service key".to_owned());
    }
    lines.extend(remember(config, config.takes_sessions(), ours.auth));
    Ok(ConnectionFile {
        json: format!("{:#}", json!([ours.connection(None)])),
        lines,
    })
}
