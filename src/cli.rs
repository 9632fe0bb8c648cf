//! The program: its command line (`arguments`), and what each command does.
//!
//! Answers go to standard output, complaints to standard error; secrets are printed only by
//! `token create` and `login-link`, once, by `openwebui connection`, which says so, and when the
//! server has made a key for itself, once.

use std::io::{ErrorKind, Write as _};
use std::net::SocketAddr;
use std::process::ExitCode;

use fileshed_core::hint::Person;
use fileshed_core::store::DataPart;
use fileshed_core::tenant_archive::TenantArchiveError;
use fileshed_core::{Check, CheckState, Core, Error, Hint, sandbox};

use crate::config::{Config, ConfigError, Effective};
use crate::http::terminal::document;
use crate::http::{self, McpToolset};
use crate::openapi;
use crate::openwebui::health;
use crate::openwebui::register::RegisterError;

mod arguments;
mod group;
mod mcp;
mod openwebui;
mod start;
mod store;
mod table;
mod tenant;
mod token;
mod user;

pub use arguments::{Command, ProgramArguments, parse};
pub use group::GroupCommand;
pub use mcp::{McpArguments, Serving};
pub use openwebui::OpenWebUiCommand;
pub use start::{log, report, report_store};
pub use store::{DataCommand, RegistryCommand};
pub use tenant::TenantCommand;
pub use token::{LoginLinkArguments, TokenCommand};
pub use user::UserCommand;

/// Why a command could not be carried out.
#[derive(Debug, thiserror::Error)]
pub enum CommandFailure {
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
    /// The server was not registered in Open WebUI.
    #[error(transparent)]
    Register(#[from] RegisterError),
    /// The output cannot be written.
    #[error(transparent)]
    System(#[from] std::io::Error),
    /// The document cannot be written.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The command cannot be carried out as it was given, and the text says why.
    #[error("{0}")]
    Refused(String),
}

/// Answers a command line that asks for help, or that cannot be read.
#[must_use]
pub fn usage(answer: &clap::Error) -> ExitCode {
    let code = u8::try_from(answer.exit_code()).unwrap_or(2);
    match answer.print() {
        Ok(()) => ExitCode::from(code),
        Err(error) if error.kind() == ErrorKind::BrokenPipe => ExitCode::from(NO_READER),
        Err(_) => ExitCode::FAILURE,
    }
}

/// Status of a program whose output nobody reads any more, as if the signal SIGPIPE (13) had ended it.
const NO_READER: u8 = 128 + 13;

/// Returns `true` if the reader of the output went away, such as `head` after its last line.
fn is_unread(failure: &CommandFailure) -> bool {
    let error = match failure {
        CommandFailure::System(error) => Some(error),
        CommandFailure::Core(error) => match error.cause() {
            Some(TenantArchiveError::Output(error)) => Some(error),
            _ => None,
        },
        _ => None,
    };
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Says why a command could not be carried out; nothing if only its reader went away.
#[must_use]
pub fn complain(failure: &CommandFailure) -> ExitCode {
    if is_unread(failure) {
        return ExitCode::from(NO_READER);
    }
    let mut text = format!("fileshed: {}", http::with_causes(failure));
    let next = match failure {
        CommandFailure::Data(_, error) | CommandFailure::Core(error) => Some(advice(error.hint())),
        CommandFailure::Address(..) => Some(
            "stop the program that listens there, or choose another address with --bind".to_owned(),
        ),
        _ => None,
    };
    if let Some(next) = next {
        text = format!("{text}\nfileshed: {next}");
    }
    tell(&text);
    ExitCode::FAILURE
}

/// Advice to callers, and what an administrator does instead.
const ADVICE: [(&str, &str); 6] = [
    ("repeat the call", "run the command again"),
    ("tell the administrator: ", ""),
    ("tell the administrator that ", ""),
    ("tell the administrator", LOOK),
    ("send `quota_mb`", "give --mib"),
    ("or null for", "or --usual for"),
];

const LOOK: &str = "see what `fileshed doctor` says";

/// A hint in words for an administrator.
fn advice(hint: &Hint) -> String {
    let told = hint.offered(&Person);
    let told = told.unwrap_or_else(|| LOOK.to_owned());
    let words = ADVICE.iter();
    words.fold(told, |told, (before, after)| told.replace(before, after))
}

/// Carries out a command that is not the server, which `serve` is.
pub fn run(
    line: ProgramArguments,
    serve: impl FnOnce(&Config, Serving) -> Result<ExitCode, CommandFailure>,
) -> Result<ExitCode, CommandFailure> {
    let ProgramArguments {
        command,
        mut inputs,
    } = line;
    if let Command::Openapi {
        toolset,
        terminal,
        fs,
    } = command
    {
        let document = match (terminal, fs) {
            (true, _) => document::pretty()?,
            (_, true) => http::fs::document::pretty()?,
            _ => openapi::pretty(toolset)?,
        };
        return print(document.trim_end());
    }
    if let Command::Openwebui(command) = &command {
        inputs.flags.extend(command.setting());
    }
    if let Command::Mcp(arguments) = &command {
        arguments.enter()?;
        inputs.flags.extend(arguments.settings());
    }
    let effective = Effective::load(&inputs)?;
    let config = &effective.config;
    match command {
        Command::Serve => serve(config, Serving::Addresses(McpToolset::default())),
        Command::Mcp(arguments) => serve(config, arguments.serving(config)?),
        Command::Config => show_config(&effective),
        Command::Doctor { storage } => doctor(config, storage),
        Command::LoginLink(arguments) => arguments.run(config),
        Command::Token(command) => command.run(&open(config)?),
        Command::Group(command) => command.run(&open(config)?),
        Command::User(command) => command.run(&open(config)?),
        Command::Tenant(command) => command.run(&open(config)?),
        Command::Data(command) => command.run(config),
        Command::Registry(command) => command.run(config),
        Command::Openwebui(command) => {
            let mut config = config.clone();
            if config.keys_to_make().next().is_some() {
                config = with_keys(&config, &open(&config)?)?;
            }
            command.run(&config)
        }
        Command::Openapi { .. } => Ok(ExitCode::SUCCESS),
    }
}

/// Opens the store that `config` describes, and makes it where there is none: for the server.
/// The configuration then has the keys that the server makes for itself.
pub fn serve(config: &Config) -> Result<(Core, Config), CommandFailure> {
    let core = Core::open(config.core.clone());
    let core = core.map_err(|error| cannot_open(config, error))?;
    let config = with_keys(config, &core)?;
    Ok((core, config))
}

/// The configuration with the keys that the server makes for itself; a new one is shown once.
fn with_keys(config: &Config, core: &Core) -> Result<Config, CommandFailure> {
    let mut config = config.clone();
    let place = config.core.storage_base_path.clone();
    for (setting, key) in config.keys_to_make() {
        let made = core.store.generated_key(setting)?;
        if made.is_new {
            tell(&format!(
                "{setting}: created the key {} and stored it in {}; it is not shown again",
                made.key.reveal(),
                place.join(&made.file).display()
            ));
        }
        *key = made.key;
    }
    Ok(config)
}

/// Opens the store that `config` describes, for a command: one that is not there is not made.
fn open(config: &Config) -> Result<Core, CommandFailure> {
    enter(config)?;
    let core = Core::open_existing(config.core.clone());
    let core = core.map_err(|error| cannot_open(config, error))?;
    // The next one who opens it does not know any more.
    let registry = core.admin.check_registry();
    if registry.state == CheckState::Warning {
        tell(&format!("registry: {}", registry.text));
    }
    Ok(core)
}

fn cannot_open(config: &Config, error: Error) -> CommandFailure {
    let place = config.core.storage_base_path.display().to_string();
    CommandFailure::Data(place, error)
}

/// Says which data directory is used. Root works there as the account of the server, which must be able to
/// change the files that the command leaves.
fn enter(config: &Config) -> Result<(), CommandFailure> {
    name_directory(config);
    let directory = &config.core.storage_base_path;
    // A mounted directory may belong to another account than the server's, which makes the pepper.
    let pepper = directory.join(DataPart::Pepper.file());
    let owner = sandbox::become_owner(&[&pepper, directory]);
    let owner = owner.map_err(|error| {
        CommandFailure::Refused(format!(
            "root cannot work as the owner of the data: {error}"
        ))
    })?;
    if let Some(owner) = owner {
        tell(&format!(
            "working as the account {owner}, the owner of the data"
        ));
    }
    Ok(())
}

/// Says which data directory is used, beside the answer.
fn name_directory(config: &Config) {
    let place = &config.core.storage_base_path;
    let whole = std::path::absolute(place);
    let place = whole.as_ref().unwrap_or(place);
    tell(&format!("data directory: {}", place.display()));
}

/// Writes lines for people. If standard error is gone, nobody can be informed.
fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// `fileshed config`
fn show_config(effective: &Effective) -> Result<ExitCode, CommandFailure> {
    name_directory(&effective.config);
    if effective.has_secrets() {
        tell("secrets are left out: set them again where this file is used");
    }
    print(&effective.shown())
}

/// `fileshed doctor`
fn doctor(config: &Config, storage: bool) -> Result<ExitCode, CommandFailure> {
    enter(config)?;
    let mut config = config.clone();
    let mut checks = match Core::open_existing(config.core.clone()) {
        Ok(core) => {
            config = with_keys(&config, &core)?;
            let mut checks = core.admin.check();
            checks.push(core.admin.check_histories());
            checks
        }
        Err(error) => {
            let mut checks = vec![Check::of_store(&error)];
            checks.extend(fileshed_core::Admin::check_machine(&config.core)?);
            checks
        }
    };
    let config = &config;
    checks.push(start::links(config, config.bind));
    checks.extend(start::groups_without_key(config));
    let openwebui = health::check(config);
    let ends = start::ends_of_trust(config, openwebui.as_ref());
    checks.extend(openwebui);
    checks.extend(health::check_connections(config));
    checks.extend(start::weak_keys(config));
    checks.extend(ends);
    if storage {
        checks.extend(fileshed_core::Admin::check_storage(&config.core)?);
    }
    print_all(checks.iter().map(|check| {
        let state = check.state.as_str();
        format!("{state:<7} {}: {}", check.name, check.text)
    }))?;
    let failed = checks.iter().any(|check| check.state == CheckState::Failed);
    Ok(ExitCode::from(u8::from(failed)))
}

/// Returns the state of a user or a tenant.
fn state(is_suspended: bool) -> &'static str {
    if is_suspended { "suspended" } else { "active" }
}

/// Writes lines, one after the other.
fn print_all(lines: impl IntoIterator<Item = String>) -> Result<ExitCode, CommandFailure> {
    for line in lines {
        print(&line)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes lines. But for exports, the only place that uses standard output; a reader that went away is
/// no panic.
fn print(text: &str) -> Result<ExitCode, CommandFailure> {
    writeln!(std::io::stdout().lock(), "{text}")?;
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_administrator_is_told_what_an_administrator_can_do() {
        for (hint, expected) in [
            ("repeat the call", "run the command again"),
            (
                "repeat the call; if it fails again, tell the administrator",
                "run the command again; if it fails again, see what `fileshed doctor` says",
            ),
            (
                "tell the administrator: the registry is restored from a backup",
                "the registry is restored from a backup",
            ),
            ("delete files with shed_delete", LOOK),
            ("see `fileshed group --help`", "see `fileshed group --help`"),
        ] {
            assert_eq!(advice(&Hint::from(hint)), expected);
        }
    }
}
