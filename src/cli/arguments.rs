//! Command line arguments of the program.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Arg, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use fileshed_core::Toolset;

use super::group::GroupCommand;
use super::mcp::McpArguments;
use super::openwebui::OpenWebUiCommand;
use super::store::{DataCommand, RegistryCommand};
use super::tenant::TenantCommand;
use super::token::{LoginLinkArguments, TokenCommand};
use super::user::UserCommand;
use crate::config::{Config, Inputs, SETTINGS, one_of};

const TWINS: &str = "For secrets, each variable has a variant with the suffix _FILE, which names a \
                     file with the value.";

/// The whole command line.
#[derive(Debug, Parser)]
#[command(
    name = "fileshed",
    about = "File workspaces for language models: persistent, versioned, isolated",
    version,
    after_help = "`fileshed --help` lists the settings too.",
    after_long_help = TWINS
)]
struct Arguments {
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        help = "Configuration file in TOML [default: ./fileshed.toml if it exists] \
                [env: FILESHED_CONFIG]"
    )]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the server until it is told to stop (default)
    #[command(after_help = TWINS)]
    Serve,
    /// Serve the Model Context Protocol to one user's program
    Mcp(McpArguments),
    /// Show the effective configuration and the source of each value
    Config,
    /// Print the OpenAPI document
    Openapi {
        /// Operations in the document
        #[arg(
            long,
            value_name = "toolset",
            default_value = "all",
            value_parser = one_of(Toolset::NAMES, Toolset::parse)
        )]
        toolset: Toolset,
        /// Print the document of the terminal endpoints instead
        #[arg(long, conflicts_with = "toolset")]
        terminal: bool,
        /// Print the document of the compact tools instead
        #[arg(long, conflicts_with_all = ["toolset", "terminal"])]
        fs: bool,
    },
    /// Check the installation and report problems
    Doctor {
        /// Also test the guarantees that the data directory's file system must give
        #[arg(long)]
        storage: bool,
    },
    /// Create, list and revoke personal tokens
    #[command(subcommand)]
    Token(TokenCommand),
    /// Print a link that opens a user's files in a browser once, within five minutes
    LoginLink(LoginLinkArguments),
    /// Create, change and list the groups of this server
    #[command(subcommand)]
    Group(GroupCommand),
    /// List and suspend users, end their tokens and links, remove their files
    #[command(subcommand)]
    User(UserCommand),
    /// List, export, import and remove users and groups, and set their quotas
    #[command(subcommand)]
    Tenant(TenantCommand),
    /// Continue after a part of the data directory was lost
    #[command(subcommand)]
    Data(DataCommand),
    /// Move the registry between a file and PostgreSQL
    #[command(subcommand)]
    Registry(RegistryCommand),
    /// Register this server in Open WebUI
    #[command(subcommand)]
    Openwebui(OpenWebUiCommand),
}

/// The parsed command line.
#[derive(Debug)]
pub struct ProgramArguments {
    /// The command.
    pub command: Command,
    /// Sources of the configuration.
    pub inputs: Inputs,
}

/// Reads the command line; the error is also how help and version are answered.
pub fn parse(
    arguments: impl IntoIterator<Item = OsString>,
) -> Result<ProgramArguments, clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    let arguments = Arguments::from_arg_matches(&matches)?;
    let command = arguments.command.unwrap_or(Command::Serve);
    if let Command::Openwebui(command) = &command {
        command.check()?;
    }
    if let Command::Mcp(arguments) = &command {
        arguments.check()?;
    }
    let given = SETTINGS.iter().filter_map(|setting| {
        let value = matches.get_one::<String>(setting.key)?;
        Some((setting.key.to_owned(), value.clone()))
    });
    let inputs = Inputs {
        file: arguments.config,
        flags: given.collect(),
        environment: std::env::vars_os().collect(),
    };
    Ok(ProgramArguments { command, inputs })
}

/// Every command takes the settings as flags; they are in the help of the server alone.
fn command() -> clap::Command {
    let command = Arguments::command().args(flags().map(|flag| flag.hide_short_help(true)));
    command.mut_subcommands(|command| match command.get_name() {
        "serve" => command,
        _ => command
            .args(flags().map(|flag| flag.hide(true)))
            .after_help(
                "Every setting is also a flag of this command; `fileshed serve --help` lists them.",
            ),
    })
}

/// The settings as flags, made from [`SETTINGS`], so that none can be forgotten.
fn flags() -> impl Iterator<Item = Arg> {
    let config = Config::default();
    SETTINGS.iter().map(move |setting| {
        let default = match setting.shown(&config).trim_matches(['"', '[', ']']) {
            "" => "none".to_owned(),
            default => default.to_owned(),
        };
        let (doc, variable) = (setting.doc, setting.variable());
        let help = format!("{doc} [default: {default}] [env: {variable}]");
        let arg = Arg::new(setting.key);
        let arg = match setting.names() {
            [] => arg,
            names => arg.value_parser(PossibleValuesParser::new(names)),
        };
        arg.long(setting.flag())
            .help(help)
            .global(true)
            .help_heading("Settings")
            .value_name("VALUE")
    })
}
