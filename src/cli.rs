//! The command line. Flags are made from [`SETTINGS`], so that none can be forgotten.
//!
//! Answers go to standard output, complaints to standard error; secrets are printed only by
//! `token create`, once, and by `openwebui connection`, which says so.

use std::ffi::OsString;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};
use fileshed_core::store::{Loss, Part};
use fileshed_core::{Check, CheckState, Error, Store, Toolset};

use crate::config::{Config, ConfigError, Effective, Inputs, SETTINGS};
use crate::http::state_name;
use crate::openapi;
use crate::openwebui::health;
use crate::openwebui::register::RegisterError;

mod group;
mod log;
mod loss;
mod openwebui;
mod start;
mod token;
mod user;

pub use group::{Action as GroupAction, run as group};
pub use log::init as log;
pub use loss::Confirmed;
pub use loss::run as accept_loss;
pub use openwebui::{Action as OpenWebUiAction, run as openwebui};
pub use start::{report, report_store};
pub use token::{Action, run as token};
pub use user::{Action as UserAction, run as user};

/// What the program was asked to do.
#[derive(Debug)]
pub enum Task {
    /// Serve until told to stop.
    Serve(Inputs),
    /// Show the effective configuration.
    Config(Inputs),
    /// Print the OpenAPI document.
    Openapi {
        /// Of the small toolset only.
        core: bool,
    },
    /// Look whether everything that is needed is there.
    Doctor(Inputs),
    /// Go on without a part of the store that is lost.
    AcceptLoss(Inputs, Part, Confirmed),
    /// Work on personal tokens.
    Token(Inputs, Action),
    /// Work on the groups of this server.
    Group(Inputs, GroupAction),
    /// Work on users.
    User(Inputs, UserAction),
    /// Work on the connection in Open WebUI.
    OpenWebUi(Inputs, OpenWebUiAction),
    /// Become a confined command.
    Jail,
}

/// Why a task could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The core refused.
    #[error(transparent)]
    Core(#[from] Error),
    /// The store cannot be opened.
    #[error("cannot open the store in `{0}`: {1}")]
    Data(String, #[source] Error),
    /// The address cannot be bound.
    #[error("cannot listen on {0}: {1}")]
    Address(SocketAddr, #[source] std::io::Error),
    /// Open WebUI was not told of this server.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// The output cannot be written.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The document cannot be written.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// No such token.
    #[error("there is no token `{0}`; `fileshed token list` lists them")]
    NoToken(String),
    /// Files would be removed, and nobody said that this is meant.
    #[error("this removes for good: {what}. Add --yes if that is meant")]
    NotConfirmed {
        /// How much, and whose.
        what: String,
    },
    /// Something would be given up, and nobody said that this is meant.
    #[error("without the {} this is lost: {}. Add --yes if that is meant", .0.part.as_str(), .0.text)]
    LossNotConfirmed(Loss),
    /// A date too far away.
    #[error("`--expires-days` is too large")]
    NoSuchDate,
}

/// The flags of all settings: every command takes them.
fn settings() -> impl Iterator<Item = Arg> {
    let config = Config::default();
    SETTINGS.iter().map(move |setting| {
        let help = format!(
            "{} [default: {}] [env: {}]",
            setting.doc,
            setting.shown(&config).trim_matches('"'),
            setting.variable()
        );
        Arg::new(setting.key)
            .long(setting.flag())
            .help(help)
            .global(true)
            .help_heading("Settings")
            .value_name("VALUE")
    })
}

/// A command whose help is its own: the settings that it takes like every other are in that of the
/// server.
fn with_hidden_settings(command: Command) -> Command {
    command
        .args(settings().map(|flag| flag.hide(true)))
        .after_help("Every setting is a flag here too; `fileshed serve --help` lists them.")
}

/// The whole command line.
#[must_use]
pub fn command() -> Command {
    const TWINS: &str =
        "Every variable has a twin with _FILE that names a file with the value, for secrets.";
    let file = Arg::new("config")
        .long("config")
        .help("Configuration file in TOML [default: ./fileshed.toml, if it is there] [env: FILESHED_CONFIG]")
        .global(true)
        .value_name("FILE")
        .value_parser(clap::value_parser!(PathBuf));
    let toolset = Arg::new("toolset")
        .long("toolset")
        .help("Which operations")
        .value_parser(["all", "core"])
        .default_value("all");
    let serve = Command::new("serve")
        .about("Serve until told to stop (the default)")
        .after_help(TWINS);
    let others = [
        Command::new("config").about("Show the effective configuration and where it comes from"),
        Command::new("openapi")
            .about("Print the OpenAPI document")
            .arg(toolset),
        Command::new("doctor").about("Look whether everything that is needed is there"),
        loss::command(),
        token::command(),
        group::command(),
        user::command(),
        openwebui::command(),
    ];
    Command::new("fileshed")
        .about("File workspaces for language models: persistent, versioned, isolated")
        .version(env!("CARGO_PKG_VERSION"))
        .after_help("`fileshed --help` lists the settings, too.")
        .after_long_help(TWINS)
        .arg(file)
        .args(settings().map(|flag| flag.hide_short_help(true)))
        .subcommand(serve)
        .subcommands(others.map(with_hidden_settings))
        .subcommand(Command::new("jail").hide(true))
}

/// Reads the command line; the error is also how help and version are answered.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Task, clap::Error> {
    let matches = command().try_get_matches_from(arguments)?;
    let inputs = |matches: &ArgMatches| Inputs {
        file: matches.get_one::<PathBuf>("config").cloned(),
        flags: SETTINGS
            .iter()
            .filter_map(|setting| {
                let value = matches.get_one::<String>(setting.key)?;
                Some((setting.key.to_owned(), value.clone()))
            })
            .collect(),
        environment: std::env::vars_os().collect(),
    };
    Ok(match matches.subcommand() {
        Some(("config", matches)) => Task::Config(inputs(matches)),
        Some(("openapi", matches)) => Task::Openapi {
            core: matches
                .get_one::<String>("toolset")
                .is_some_and(|toolset| toolset == "core"),
        },
        Some(("doctor", matches)) => Task::Doctor(inputs(matches)),
        Some(("accept-loss", matches)) => {
            let (part, confirmed) = loss::read(matches)?;
            Task::AcceptLoss(inputs(matches), part, confirmed)
        }
        Some(("token", matches)) => Task::Token(inputs(matches), token::read(matches)?),
        Some(("group", matches)) => Task::Group(inputs(matches), group::read(matches)?),
        Some(("user", matches)) => Task::User(inputs(matches), user::read(matches)?),
        Some(("openwebui", matches)) => {
            let (mut inputs, action) = (inputs(matches), openwebui::read(matches)?);
            inputs.flags.extend(action.setting());
            Task::OpenWebUi(inputs, action)
        }
        Some(("jail", _)) => Task::Jail,
        Some((_, matches)) => Task::Serve(inputs(matches)),
        None => Task::Serve(inputs(&matches)),
    })
}

/// Answers a command line that asks for help, or that cannot be read.
#[must_use]
pub fn usage(answer: &clap::Error) -> ExitCode {
    let code = u8::try_from(answer.exit_code()).unwrap_or(2);
    match answer.print() {
        Ok(()) => ExitCode::from(code),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Says why a task could not be done.
#[must_use]
pub fn complain(failure: &Failure) -> ExitCode {
    let mut text = format!("fileshed: {failure}");
    let mut source = std::error::Error::source(failure);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    if let Failure::Data(_, error) | Failure::Core(error) = failure {
        text = format!("{text}\nfileshed: {}", error.hint());
    }
    tell(&text);
    ExitCode::FAILURE
}

/// `fileshed jail`: the zygote, of which each command is a copy.
#[must_use]
pub fn jail() -> ExitCode {
    ExitCode::from(fileshed_core::sandbox::serve(fileshed_core::BUILT_IN_JOBS))
}

/// Opens the store that `config` describes, and makes it where there is none: for the server.
pub fn serve(config: &Config) -> Result<Store, Failure> {
    Store::open(config.core.clone()).map_err(|error| cannot_open(config, error))
}

/// Opens the store that `config` describes, for a command: one that is not there is not made.
pub fn open(config: &Config) -> Result<Store, Failure> {
    name_directory(config);
    Store::open_existing(config.core.clone()).map_err(|error| cannot_open(config, error))
}

fn cannot_open(config: &Config, error: Error) -> Failure {
    let place = config.core.storage_base_path.display().to_string();
    Failure::Data(place, error)
}

/// Says which data directory is used, beside the answer.
fn name_directory(config: &Config) {
    let place = &config.core.storage_base_path;
    let whole = std::path::absolute(place);
    let place = whole.as_ref().unwrap_or(place);
    tell(&format!("data directory: {}", place.display()));
}

/// Writes lines for people. Nobody is left to tell when standard error itself is gone.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// `fileshed config`
pub fn config(effective: &Effective) -> Result<ExitCode, Failure> {
    name_directory(&effective.config);
    if effective.has_secrets() {
        tell("secrets are left out: give them again where this file is used");
    }
    print(&effective.shown())
}

/// `fileshed openapi`
pub fn openapi(core: bool) -> Result<ExitCode, Failure> {
    let toolset = if core { Toolset::Core } else { Toolset::All };
    print(openapi::pretty(toolset)?.trim_end())
}

/// `fileshed doctor`
pub fn doctor(config: &Config) -> Result<ExitCode, Failure> {
    name_directory(config);
    let mut checks = match Store::open_existing(config.core.clone()) {
        Ok(store) => {
            let mut checks = store.check();
            checks.push(store.check_histories());
            checks
        }
        Err(error) => {
            let mut checks = vec![Check::of_store(&error)];
            checks.extend(Store::check_machine(&config.core)?);
            checks
        }
    };
    checks.push(start::links(config, config.bind));
    checks.extend(health::check(config));
    for check in &checks {
        let state = state_name(check.state);
        print(&format!("{state:<7} {}: {}", check.name, check.text))?;
    }
    let failed = checks.iter().any(|check| check.state == CheckState::Failed);
    Ok(ExitCode::from(u8::from(failed)))
}

/// Writes lines. The only place that uses standard output; a reader that went away is no panic.
fn print(text: &str) -> Result<ExitCode, Failure> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}
