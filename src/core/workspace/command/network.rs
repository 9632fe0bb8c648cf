//! How far one command reaches: nowhere, or to the server's proxy.

use std::os::fd::OwnedFd;

use super::ExecError;
use crate::{Error, Store};
use fileshed_sandbox::NetworkAccess;
use fileshed_sandbox::egress::{Grant, RefusalStyle};
use fileshed_types::settings::NetworkMode;

/// The network of one command, until it is dropped.
#[derive(Debug)]
pub(crate) enum CommandNetwork {
    None,
    Proxy(Grant),
}

impl CommandNetwork {
    /// What the network mode leaves to a command that wants a network.
    pub(crate) fn new(store: &Store, wanted: bool, command: &str) -> Result<Self, Error> {
        if !wanted {
            return Ok(Self::None);
        }
        match store.settings().network_mode {
            NetworkMode::Disabled => Ok(Self::None),
            NetworkMode::Safe | NetworkMode::All => {
                let confinement = store.confinement();
                confinement
                    .holds_connections()
                    .map_err(|missing| ExecError::NoNetwork { missing })?;
                // curl takes an answer for the document, whatever its status.
                let style = match command {
                    "curl" => RefusalStyle::Silent,
                    _ => RefusalStyle::InWords,
                };
                Ok(Self::Proxy(store.egress().grant(style)?))
            }
        }
    }

    /// What the network mode leaves to a shell, whose programs nobody knows: nothing where its
    /// connections cannot be held.
    pub(crate) fn of_shell(store: &Store) -> Result<Self, Error> {
        let wanted = store.confinement().holds_connections().is_ok();
        Self::new(store, wanted, "curl")
    }

    /// What the kernel lets through.
    pub(crate) fn access(&self) -> NetworkAccess {
        match self {
            Self::None => NetworkAccess::None,
            Self::Proxy(grant) => NetworkAccess::Proxy { port: grant.port() },
        }
    }

    /// How the command finds the proxy.
    pub(crate) fn environment(&self) -> Vec<(String, String)> {
        match self {
            Self::Proxy(grant) => grant.environment(),
            Self::None => Vec::new(),
        }
    }

    /// Has the proxy listen in the command's own network namespace.
    pub(crate) fn listen(&self, listener: OwnedFd) {
        if let Self::Proxy(grant) = self {
            grant.listen(listener.into());
        }
    }

    /// What the proxy refused: tools say little of what a proxy tells them.
    pub(crate) fn remarks(&self) -> Vec<String> {
        match self {
            Self::Proxy(grant) => grant.remarks(),
            Self::None => Vec::new(),
        }
    }
}
