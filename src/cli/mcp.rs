//! `fileshed mcp`: the Model Context Protocol for one person.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::Args;
use fileshed_core::caller::Chat;
use fileshed_core::{Caller, UserId, names};

use super::CommandFailure;
use crate::config::{Config, one_of};
use crate::http::McpToolset;

names! {
    /// Transport between a client and the process.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum Transport {
        /// The standard streams.
        Stdio = "stdio",
        /// HTTP at an address.
        StreamableHttp = "streamable-http",
    }
}

/// Arguments of `mcp`.
#[derive(Debug, Args)]
pub struct McpArguments {
    /// Transport: the standard streams, or HTTP at /mcp of an address
    #[arg(long, value_name = "transport", default_value = "stdio",
        value_parser = one_of(Transport::NAMES, Transport::parse))]
    transport: Transport,
    /// Address to listen on, with streamable-http [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS")]
    host: Option<IpAddr>,
    /// Port to listen on, with streamable-http [default: 8000]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Working directory, in which ./fileshed.toml and the data directory ./data are looked for
    #[arg(long, value_name = "DIRECTORY")]
    cwd: Option<PathBuf>,
    /// Tools to offer: every operation, the few of core, nine compact ones for files, or
    /// files and a shell as in a terminal
    #[arg(long, value_name = "toolset", default_value = "shed",
        value_parser = one_of(McpToolset::NAMES, McpToolset::parse))]
    toolset: McpToolset,
    /// User whose files are served, with stdio; without it the one workspace of shared mode
    #[arg(long, value_name = "ID", value_parser = UserId::parse)]
    user: Option<UserId>,
}

/// Surfaces that the process serves.
#[derive(Debug)]
pub enum Serving {
    /// All HTTP endpoints, with these tools at `/mcp`.
    Addresses(McpToolset),
    /// The protocol on standard streams, for this caller.
    Streams(McpToolset, Box<Caller>),
}

impl McpArguments {
    /// Fails for flags that contradict each other.
    pub(super) fn check(&self) -> Result<(), clap::Error> {
        let fault = match self.transport {
            Transport::Stdio if self.host.is_some() || self.port.is_some() => {
                "--host and --port need --transport streamable-http"
            }
            Transport::StreamableHttp if self.user.is_some() => {
                "--user needs --transport stdio: over HTTP every request names its user"
            }
            _ => return Ok(()),
        };
        Err(clap::Error::raw(
            clap::error::ErrorKind::ArgumentConflict,
            format!("{fault}\n"),
        ))
    }

    /// Returns the setting that the flags override, with its value.
    pub(super) fn settings(&self) -> Option<(String, String)> {
        if self.transport == Transport::Stdio || (self.host, self.port) == (None, None) {
            return None;
        }
        let host = self.host.unwrap_or(IpAddr::from([127, 0, 0, 1]));
        let address = std::net::SocketAddr::from((host, self.port.unwrap_or(8000)));
        Some(("bind".to_owned(), address.to_string()))
    }

    /// Goes to the directory to begin in.
    pub(super) fn enter(&self) -> Result<(), CommandFailure> {
        let Some(directory) = &self.cwd else {
            return Ok(());
        };
        std::env::set_current_dir(directory).map_err(|error| {
            CommandFailure::Refused(format!(
                "cannot change to the directory `{}`: {error}",
                directory.display()
            ))
        })
    }

    /// Returns the surfaces to serve with this configuration.
    pub(super) fn serving(self, config: &Config) -> Result<Serving, CommandFailure> {
        if self.transport == Transport::StreamableHttp {
            return Ok(Serving::Addresses(self.toolset));
        }
        let caller = match self.user {
            Some(user) => Caller::known(user, Chat::default()),
            None if config.asks_who_calls() => {
                let text = "credentials are configured, so every user has a workspace: name the \
                            user with --user <id>";
                return Err(CommandFailure::Refused(text.to_owned()));
            }
            None => Caller::shared(Chat::default()),
        };
        Ok(Serving::Streams(self.toolset, Box::new(caller)))
    }
}
