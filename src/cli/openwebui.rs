//! `fileshed openwebui`: this server in Open WebUI.

use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use fileshed_core::Toolset;
use fileshed_core::settings::PublicUrl;

use super::{Failure, print, tell};
use crate::config::{Config, Secret};
use crate::openwebui::register::{
    Auth, ConnectionOptions, Grantee, Options, connection_file, register,
};

/// What to do with Open WebUI.
#[derive(Debug)]
pub enum Action {
    /// Make or renew the connection to this server.
    Register(Box<Options>),
    /// Print the connection for its settings to import.
    Connection(Box<ConnectionOptions>),
}

impl Action {
    /// What it says of the configuration, for this run.
    pub(super) fn setting(&self) -> Option<(String, String)> {
        match self {
            Self::Register(options) => {
                let url = options.url.as_ref()?;
                Some(("openwebui_api_url".to_owned(), url.to_string()))
            }
            Self::Connection(_) => None,
        }
    }
}

fn url(name: &'static str, help: &'static str) -> Arg {
    text(name, "URL", help).value_parser(|text: &str| match text.parse::<PublicUrl>() {
        Ok(url) if url.is_empty() => Err("is empty".to_owned()),
        url => url,
    })
}

fn text(name: &'static str, kind: &'static str, help: &'static str) -> Arg {
    Arg::new(name).long(name).help(help).value_name(kind)
}

fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .help(help)
        .action(ArgAction::SetTrue)
}

/// An id that the settings of Open WebUI take.
fn id(text: &str) -> Result<String, String> {
    match text {
        "" => Err("is empty".to_owned()),
        text if text.contains([':', '|']) => Err("must not have `:` or `|`".to_owned()),
        text => Ok(text.to_owned()),
    }
}

/// What the connection should be.
fn connection_arguments(grant: &'static str) -> [Arg; 6] {
    [
        url(
            "server-url",
            "Where Open WebUI reaches this server [default: public_url, else the address of bind]",
        ),
        text(
            "auth",
            "TYPE",
            "With what it calls: the user's own session, or the first of api_keys \
             [default: bearer if there are api_keys]",
        )
        .value_parser(Auth::NAMES),
        text("id", "ID", "The connection's id")
            .default_value("fileshed")
            .value_parser(id),
        text("name", "TEXT", "Its name for people [default: its id]"),
        text("toolset", "SET", "Which operations [default: all]").value_parser(Toolset::NAMES),
        text("grant", "WHO", grant)
            .action(ArgAction::Append)
            .value_parser(value_parser!(Grantee)),
    ]
}

/// `openwebui register`, `openwebui connection`
pub(super) fn command() -> Command {
    let register = Command::new("register")
        .about("Make or renew the connection to this server; what is not said stays as it is")
        .arg(url(
            "url",
            "Where Open WebUI is [default: openwebui_api_url]",
        ))
        .arg(text(
            "admin-token",
            "TOKEN",
            "Session token or API key of one of its administrators [default: openwebui_admin_key, \
             which other users of this machine do not see: FILESHED_OPENWEBUI_ADMIN_KEY, or a file \
             named by FILESHED_OPENWEBUI_ADMIN_KEY_FILE]",
        ))
        .args(connection_arguments(
            "Who may use it, may be repeated: everyone, nobody (administrators only), \
             group:<id or name>, user:<id or mail address> [default: everyone]",
        ))
        .arg(flag(
            "no-verify",
            "Do not have Open WebUI read this server's document first",
        ))
        .arg(flag(
            "dry-run",
            "Say what would be done, and change nothing",
        ));
    let connection = Command::new("connection")
        .about("Print the connection to this server, for the settings of Open WebUI to import")
        .args(connection_arguments(
            "Who may use it, may be repeated: everyone, nobody (administrators only), \
             group:<id>, user:<id> [default: everyone]",
        ));
    Command::new("openwebui")
        .about("Register this server in Open WebUI")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(register)
        .subcommand(connection)
}

/// Reads what [`command`] describes.
pub(super) fn read(matches: &ArgMatches) -> Result<Action, clap::Error> {
    match matches.subcommand() {
        Some(("register", matches)) => Ok(Action::Register(Box::new(Options {
            url: matches.get_one("url").cloned(),
            admin_token: matches
                .get_one::<String>("admin-token")
                .map(|token| Secret::new(token.trim())),
            connection: connection(matches)?,
            verify: !matches.get_flag("no-verify"),
            dry_run: matches.get_flag("dry-run"),
        }))),
        Some(("connection", matches)) => Ok(Action::Connection(Box::new(connection(matches)?))),
        _ => Err(clap::Error::new(ErrorKind::MissingSubcommand)),
    }
}

fn connection(matches: &ArgMatches) -> Result<ConnectionOptions, clap::Error> {
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let grants = matches.get_many::<Grantee>("grant");
    let grants: Vec<Grantee> = grants.into_iter().flatten().cloned().collect();
    if grants.len() > 1 && grants.contains(&Grantee::Nobody) {
        let text = "`--grant nobody` stands alone\n";
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, text));
    }
    Ok(ConnectionOptions {
        server_url: matches.get_one("server-url").cloned(),
        auth: text("auth").as_deref().and_then(Auth::parse),
        id: text("id").unwrap_or_default(),
        name: text("name"),
        toolset: text("toolset").as_deref().and_then(Toolset::parse),
        grants,
    })
}

/// Runs one of the commands of `fileshed openwebui`.
pub fn run(config: &Config, action: &Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Register(options) => print(&register(config, options)?.join("\n")),
        Action::Connection(options) => {
            let file = connection_file(config, options)?;
            for line in &file.lines {
                tell(line);
            }
            print(&file.json)
        }
    }
}
