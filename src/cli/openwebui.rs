//! `fileshed openwebui`: this server in Open WebUI.

use std::convert::Infallible;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Args, Subcommand};
use fileshed_core::Toolset;
use fileshed_core::settings::PublicUrl;

use super::{Failure, one_of, print, tell};
use crate::config::{Config, Secret};
use crate::openwebui::register::{
    Auth, ConnectionOptions, Grantee, RegisterOptions, connection_file, register,
};

/// What to do with Open WebUI.
#[derive(Debug, Subcommand)]
pub enum OpenWebUiCommand {
    /// Make or renew the connection to this server; what is not said stays as it is
    Register(Box<RegisterArguments>),
    /// Print the connection to this server, for the settings of Open WebUI to import
    Connection(Box<ConnectionFileArguments>),
}

/// How the server is registered.
#[derive(Debug, Args)]
pub struct RegisterArguments {
    #[arg(
        long,
        value_name = "URL",
        value_parser = url,
        help = "Where Open WebUI is [default: openwebui_api_url]"
    )]
    url: Option<PublicUrl>,
    #[arg(
        long,
        value_name = "TOKEN",
        value_parser = |text: &str| Ok::<_, Infallible>(Secret::new(text.trim())),
        help = "Session token or API key of one of its administrators [default: openwebui_admin_key, \
                which other users of this machine do not see: FILESHED_OPENWEBUI_ADMIN_KEY, or a \
                file named by FILESHED_OPENWEBUI_ADMIN_KEY_FILE]"
    )]
    admin_token: Option<Secret>,
    #[command(flatten)]
    connection: ConnectionArguments,
    #[arg(
        long = "grant",
        value_name = "WHO",
        help = "Who may use it, may be repeated: everyone, nobody (administrators only), \
                group:<id or name>, user:<id or mail address> [default: everyone]"
    )]
    grants: Vec<Grantee>,
    /// Do not have Open WebUI read this server's document first
    #[arg(long)]
    no_verify: bool,
    /// Say what would be done, and change nothing
    #[arg(long)]
    dry_run: bool,
}

/// What is printed.
#[derive(Debug, Args)]
pub struct ConnectionFileArguments {
    #[command(flatten)]
    connection: ConnectionArguments,
    #[arg(
        long = "grant",
        value_name = "WHO",
        help = "Who may use it, may be repeated: everyone, nobody (administrators only), \
                group:<id>, user:<id> [default: everyone]"
    )]
    grants: Vec<Grantee>,
}

/// What the connection should be.
#[derive(Debug, Args)]
struct ConnectionArguments {
    #[arg(
        long,
        value_name = "URL",
        value_parser = url,
        help = "Where Open WebUI reaches this server [default: public_url, else the address of bind]"
    )]
    server_url: Option<PublicUrl>,
    #[arg(
        long,
        value_name = "TYPE",
        value_parser = one_of(&Auth::NAMES, Auth::parse),
        help = "With what it calls: the user's own session, or the first of api_keys \
                [default: bearer if there are api_keys]"
    )]
    auth: Option<Auth>,
    /// The connection's id
    #[arg(long, value_name = "ID", default_value = "fileshed", value_parser = id)]
    id: String,
    #[arg(
        long,
        value_name = "TEXT",
        help = "Its name for people [default: its id]"
    )]
    name: Option<String>,
    #[arg(
        long,
        help = "A terminal connection instead of a tool server: files, commands and a shell beside \
                the chat, with the first of terminal_api_keys or the user's own session"
    )]
    terminal: bool,
    #[arg(
        long,
        conflicts_with = "terminal",
        value_name = "SET",
        value_parser = one_of(&Toolset::NAMES, Toolset::parse),
        help = "Which operations [default: all]"
    )]
    toolset: Option<Toolset>,
}

fn url(text: &str) -> Result<PublicUrl, String> {
    match text.parse::<PublicUrl>() {
        Ok(url) if url.is_empty() => Err("is empty".to_owned()),
        url => url,
    }
}

/// An id that the settings of Open WebUI take.
fn id(text: &str) -> Result<String, String> {
    match text {
        "" => Err("is empty".to_owned()),
        text if text.contains([':', '|']) => Err("must not have `:` or `|`".to_owned()),
        text => Ok(text.to_owned()),
    }
}

impl ConnectionArguments {
    fn options(self, grants: Vec<Grantee>) -> ConnectionOptions {
        ConnectionOptions {
            server_url: self.server_url,
            auth: self.auth,
            id: self.id,
            name: self.name,
            terminal: self.terminal,
            toolset: self.toolset,
            grants,
        }
    }
}

impl OpenWebUiCommand {
    /// Refuses arguments that contradict each other.
    pub(super) fn check(&self) -> Result<(), clap::Error> {
        let grants = match self {
            Self::Register(arguments) => &arguments.grants,
            Self::Connection(arguments) => &arguments.grants,
        };
        if grants.len() > 1 && grants.contains(&Grantee::Nobody) {
            let text = "`--grant nobody` stands alone\n";
            return Err(clap::Error::raw(ErrorKind::ArgumentConflict, text));
        }
        Ok(())
    }

    /// What it says of the configuration, for this run.
    pub(super) fn setting(&self) -> Option<(String, String)> {
        let Self::Register(arguments) = self else {
            return None;
        };
        let url = arguments.url.as_ref()?;
        Some(("openwebui_api_url".to_owned(), url.to_string()))
    }

    pub(super) fn run(self, config: &Config) -> Result<ExitCode, Failure> {
        match self {
            Self::Register(arguments) => {
                let options = RegisterOptions {
                    url: arguments.url,
                    admin_token: arguments.admin_token,
                    connection: arguments.connection.options(arguments.grants),
                    verify: !arguments.no_verify,
                    dry_run: arguments.dry_run,
                };
                print(&register(config, &options)?.join("\n"))
            }
            Self::Connection(arguments) => {
                let options = arguments.connection.options(arguments.grants);
                let file = connection_file(config, &options)?;
                file.lines.iter().for_each(|line| tell(line));
                print(&file.json)
            }
        }
    }
}
