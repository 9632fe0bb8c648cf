//! Failures of the registration.

use super::super::client::CallError;

/// Why the server was not registered; for the administrator who reads it in a terminal.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// Nobody said where Open WebUI is.
    #[error("where is Open WebUI? Say `--url`, or set `openwebui_api_url`")]
    NoUrl,
    /// Nobody said with what to ask.
    #[error(
        "a credential of an administrator of Open WebUI is needed: set `openwebui_admin_key`, or say `--admin-token`"
    )]
    NoToken,
    /// A connection with a key, and no key.
    #[error("`--auth bearer` needs a service key: set `api_keys`, or say `--auth session`")]
    NoServiceKey,
    /// A connection of a terminal with a key, and no key.
    #[error(
        "`--auth bearer` needs a key for terminals: set `terminal_api_keys`, or say `--auth session`"
    )]
    NoTerminalKey,
    /// Open WebUI does not let in.
    #[error(
        "Open WebUI does not accept the credential for its settings: it must be the session token or the API key of an administrator"
    )]
    Denied,
    /// Open WebUI is elsewhere.
    #[error(
        "the address of Open WebUI redirects (status {0}), perhaps to https: say the one that it leads to"
    )]
    Redirected(u16),
    /// Something else answers.
    #[error("what answers at the address of Open WebUI is not Open WebUI, or a very old one")]
    NotOpenWebUi,
    /// No usable answer.
    #[error(transparent)]
    Call(#[from] CallError),
    /// Open WebUI does not reach this server.
    #[error(
        "Open WebUI cannot read {0}: fileshed has to run, and `--server-url` has to be its address as Open WebUI sees it, from within its container; nothing was changed (`--no-verify` does without)"
    )]
    OutOfReach(String),
    /// Open WebUI was told not to have tool servers.
    #[error("Open WebUI does not use tool servers: ENABLE_TOOL_SERVERS is off there")]
    Off,
    /// Somebody else is there.
    #[error("what Open WebUI finds at {0} is not fileshed; nothing was changed")]
    SomebodyElse(String),
    /// Open WebUI says yes and does not do it.
    #[error("Open WebUI did not keep the connection")]
    NotStored,
    /// A grant names nobody.
    #[error("Open WebUI has no {kind} `{name}`{known}")]
    NoSuch {
        /// `group` or `user`.
        kind: &'static str,
        /// As it was given.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A grant by name, where nobody is asked for the id.
    #[error(
        "`--grant {kind}:{name}` must name the {kind} by its id, as it stands in the address of its page in Open WebUI: only `fileshed openwebui register` can look a name up"
    )]
    NoId {
        /// `group` or `user`.
        kind: &'static str,
        /// As it was given.
        name: String,
    },
    /// A grant names several.
    #[error("Open WebUI has several {kind}s `{name}`: say which by its id, one of {ids}")]
    Several {
        /// `group` or `user`.
        kind: &'static str,
        /// As it was given.
        name: String,
        /// Theirs.
        ids: String,
    },
}
