//! `fileshed openwebui`: this server in Open WebUI.

use std::process::ExitCode;

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command, value_parser};
use fileshed_core::Toolset;
use fileshed_core::settings::PublicUrl;

use super::{Failure, print};
use crate::config::{Config, Secret};
use crate::openwebui::register::{Auth, Grantee, Options, register};

/// What to do with Open WebUI.
#[derive(Debug)]
pub enum Action {
    /// Make or renew the connection to this server.
    Register(Box<Options>),
}

impl Action {
    /// What it says of the configuration, for this run.
    pub(super) fn setting(&self) -> Option<(String, String)> {
        let Self::Register(options) = self;
        let url = options.url.as_ref()?;
        Some(("openwebui_api_url".to_owned(), url.to_string()))
    }
}

/// `openwebui register`
pub(super) fn command() -> Command {
    let url = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .help(help)
            .value_name("URL")
            .value_parser(|text: &str| match text.parse::<PublicUrl>() {
                Ok(url) if url.is_empty() => Err("is empty".to_owned()),
                url => url,
            })
    };
    let text = |name: &'static str, kind: &'static str, help: &'static str| {
        Arg::new(name).long(name).help(help).value_name(kind)
    };
    let flag = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .help(help)
            .action(ArgAction::SetTrue)
    };
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
        .arg(url(
            "server-url",
            "Where Open WebUI reaches this server [default: public_url, else the address of bind]",
        ))
        .arg(
            text(
                "auth",
                "TYPE",
                "With what it calls: the user's own session, or the first of api_keys \
                 [default: bearer if there are api_keys]",
            )
            .value_parser(Auth::NAMES),
        )
        .arg(
            text("id", "ID", "The connection's id")
                .default_value("fileshed")
                .value_parser(NonEmptyStringValueParser::new()),
        )
        .arg(text(
            "name",
            "TEXT",
            "Its name for people [default: its id]",
        ))
        .arg(text("toolset", "SET", "Which operations [default: all]").value_parser(Toolset::NAMES))
        .arg(
            text(
                "grant",
                "WHO",
                "Who may use it, may be repeated: everyone, nobody (administrators only), \
                 group:<id or name>, user:<id or mail address> [default: everyone]",
            )
            .action(ArgAction::Append)
            .value_parser(value_parser!(Grantee)),
        )
        .arg(flag(
            "no-verify",
            "Do not have Open WebUI read this server's document first",
        ))
        .arg(flag(
            "dry-run",
            "Say what would be done, and change nothing",
        ));
    Command::new("openwebui")
        .about("Register this server in Open WebUI")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(register)
}

/// Reads what [`command`] describes.
pub(super) fn read(matches: &ArgMatches) -> Result<Action, clap::Error> {
    let Some(("register", matches)) = matches.subcommand() else {
        return Err(clap::Error::new(ErrorKind::MissingSubcommand));
    };
    let text = |name: &str| matches.get_one::<String>(name).cloned();
    let url = |name: &str| matches.get_one::<PublicUrl>(name).cloned();
    let grants = matches.get_many::<Grantee>("grant");
    let grants: Vec<Grantee> = grants.into_iter().flatten().cloned().collect();
    if grants.len() > 1 && grants.contains(&Grantee::Nobody) {
        let text = "`--grant nobody` stands alone\n";
        return Err(clap::Error::raw(ErrorKind::ArgumentConflict, text));
    }
    Ok(Action::Register(Box::new(Options {
        url: url("url"),
        admin_token: text("admin-token").map(|token| Secret::new(token.trim())),
        server_url: url("server-url"),
        auth: text("auth").as_deref().and_then(Auth::parse),
        id: text("id").unwrap_or_default(),
        name: text("name"),
        toolset: text("toolset").as_deref().and_then(Toolset::parse),
        grants,
        verify: !matches.get_flag("no-verify"),
        dry_run: matches.get_flag("dry-run"),
    })))
}

/// Does it.
pub fn run(config: &Config, action: &Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Register(options) => print(&register(config, options)?.join("\n")),
    }
}
