//! How far one command reaches: nowhere, to the server's proxy, or anywhere.

use std::os::fd::OwnedFd;

use super::ExecError;
use super::egress::{Grant, Manner};
use super::jail::Network;
use crate::settings::NetworkMode;
use crate::{Error, Store};

/// The way of one command to the network, until it is dropped.
#[derive(Debug)]
pub(super) enum Way {
    None,
    Proxy(Grant),
    Open,
}

impl Way {
    /// The way that the network mode leaves to a command that wants one.
    pub(super) fn new(store: &Store, wanted: bool, command: &str) -> Result<Self, Error> {
        if !wanted {
            return Ok(Self::None);
        }
        match store.settings().network_mode {
            NetworkMode::Disabled => Ok(Self::None),
            NetworkMode::All => Ok(Self::Open),
            NetworkMode::Safe => {
                let confinement = store.confinement();
                confinement
                    .holds_connections()
                    .map_err(|missing| ExecError::NoSafeNetwork { missing })?;
                // curl takes an answer for the document, whatever its status.
                let manner = match command {
                    "curl" => Manner::Silent,
                    _ => Manner::InWords,
                };
                Ok(Self::Proxy(store.egress().grant(manner)?))
            }
        }
    }

    /// What the kernel lets through.
    pub(super) fn network(&self) -> Network {
        match self {
            Self::None => Network::None,
            Self::Proxy(grant) => Network::Proxy { port: grant.port() },
            Self::Open => Network::Open,
        }
    }

    /// How the command finds its way.
    pub(super) fn environment(&self) -> Vec<(String, String)> {
        match self {
            Self::Proxy(grant) => grant.environment(),
            Self::None | Self::Open => Vec::new(),
        }
    }

    /// Has the proxy listen in a network of the command's own.
    pub(super) fn listen(&self, listener: OwnedFd) {
        if let Self::Proxy(grant) = self {
            grant.listen(listener.into());
        }
    }

    /// What was refused on the way: tools say little of what a proxy tells them.
    pub(super) fn remarks(&self) -> Vec<String> {
        match self {
            Self::Proxy(grant) => grant.remarks(),
            Self::None | Self::Open => Vec::new(),
        }
    }
}
