//! The network of one command: none, or the server's proxy.

use std::os::fd::OwnedFd;

use super::ExecError;
use crate::runs::Runs;
use fileshed_sandbox::NetworkAccess;
use fileshed_sandbox::egress::{Grant, RefusalStyle};
use fileshed_types::Error;
use fileshed_types::settings::NetworkMode;

/// The network of one command, until it is dropped: the proxy, if it has any.
#[derive(Debug)]
pub(crate) struct CommandNetwork(Option<Grant>);

impl CommandNetwork {
    /// The network that the network mode leaves to a command that wants one.
    pub(crate) fn new(runs: &Runs, wanted: bool, command: &str) -> Result<Self, Error> {
        if !wanted || runs.store.settings().network_mode == NetworkMode::Disabled {
            return Ok(Self(None));
        }
        let holds = runs.confinement().holds_connections();
        holds.map_err(|missing| ExecError::NoNetwork { missing })?;
        // curl takes an answer for the document, whatever its status.
        let style = match command {
            "curl" => RefusalStyle::Silent,
            _ => RefusalStyle::InWords,
        };
        Ok(Self(Some(runs.egress().grant(style)?)))
    }

    /// The network that the network mode leaves to a shell, whose programs nobody knows: none if its
    /// connections cannot be held.
    pub(crate) fn of_shell(runs: &Runs) -> Result<Self, Error> {
        let wanted = runs.confinement().holds_connections().is_ok();
        Self::new(runs, wanted, "curl")
    }

    /// The connections that the kernel lets through.
    pub(crate) fn access(&self) -> NetworkAccess {
        self.0
            .as_ref()
            .map_or(NetworkAccess::None, |grant| NetworkAccess::Proxy {
                port: grant.port(),
            })
    }

    /// The variables by which the command finds the proxy.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        self.0.as_ref().map_or_else(Vec::new, Grant::environment)
    }

    /// Has the proxy listen in the command's own network namespace.
    pub(crate) fn listen(&self, listener: OwnedFd) {
        if let Some(grant) = &self.0 {
            grant.listen(listener.into());
        }
    }

    /// The refusals of the proxy: tools say little of what a proxy tells them.
    pub(crate) fn remarks(&self) -> Vec<String> {
        self.0.as_ref().map_or_else(Vec::new, Grant::remarks)
    }
}
