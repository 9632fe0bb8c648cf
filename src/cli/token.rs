//! `fileshed token`: personal tokens.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command, value_parser};
use fileshed_core::tokens::Token;
use fileshed_core::{Scope, Store, UserId};
use jiff::{SignedDuration, Timestamp};

use super::{Failure, print};

/// What to do with tokens.
#[derive(Debug)]
pub enum Action {
    /// Make one and print it.
    Create {
        /// Whose it will be.
        user: UserId,
        /// What it will allow.
        scope: Scope,
        /// Days after which it ends.
        expires_days: Option<u32>,
        /// What it is for.
        label: String,
    },
    /// List them, without secrets.
    List,
    /// Take one back.
    Revoke(String),
}

/// `token create`, `token list`, `token revoke`
pub(super) fn command() -> Command {
    let user = Arg::new("user")
        .long("user")
        .help("The user whose workspace the token opens")
        .required(true)
        .value_name("ID")
        .value_parser(|text: &str| UserId::parse(text));
    let scope = Arg::new("scope")
        .long("scope")
        .help("What it allows")
        .value_parser(["read", "write"])
        .default_value("write");
    let days = Arg::new("expires-days")
        .long("expires-days")
        .help("Days after which it ends; without this, never")
        .value_name("N")
        .value_parser(value_parser!(u32).range(1..));
    let label = Arg::new("label")
        .long("label")
        .help("What it is for")
        .value_name("TEXT")
        .default_value("");
    let id = Arg::new("id")
        .help("As `token list` shows it")
        .required(true)
        .value_name("ID");
    Command::new("token")
        .about("Make, list and take back personal tokens")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("create")
                .about("Make a token and print it: it is not shown again")
                .args([user, scope, days, label]),
        )
        .subcommand(Command::new("list").about("List the tokens, without their secrets"))
        .subcommand(
            Command::new("revoke")
                .about("Take a token back, at once")
                .arg(id),
        )
}

/// Reads what [`command`] describes.
pub(super) fn read(matches: &ArgMatches) -> Result<Action, clap::Error> {
    let text = |matches: &ArgMatches, name: &str| {
        matches.get_one::<String>(name).cloned().unwrap_or_default()
    };
    let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
    match matches.subcommand() {
        Some(("create", matches)) => Ok(Action::Create {
            user: matches
                .get_one::<UserId>("user")
                .cloned()
                .ok_or_else(missing)?,
            scope: Scope::parse(&text(matches, "scope")).unwrap_or_default(),
            expires_days: matches.get_one("expires-days").copied(),
            label: text(matches, "label"),
        }),
        Some(("list", _)) => Ok(Action::List),
        Some(("revoke", matches)) => Ok(Action::Revoke(text(matches, "id"))),
        _ => Err(missing()),
    }
}

/// Runs one of the commands of `fileshed token`.
pub fn run(store: &Store, action: &Action) -> Result<ExitCode, Failure> {
    match action {
        Action::Create {
            user,
            scope,
            expires_days,
            label,
        } => {
            let expires_at = expires_days
                .map(|days| {
                    let span = SignedDuration::from_hours(i64::from(days) * 24);
                    store.clock().now().checked_add(span)
                })
                .transpose()
                .map_err(|_| Failure::NoSuchDate)?;
            let token = store.tokens().create(user, *scope, expires_at, label)?;
            print(&token.secret)
        }
        Action::List => {
            let now = store.clock().now();
            for token in store.tokens().list()? {
                print(&line(&token, now))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Revoke(id) => {
            if store.tokens().revoke(id)? {
                print(&format!("revoked {id}"))
            } else {
                Err(Failure::NoToken(id.clone()))
            }
        }
    }
}

/// A token for people and for `cut`: tabs, because a user id or a label may hold blanks.
fn line(token: &Token, now: Timestamp) -> String {
    let state = match token.expires_at {
        _ if token.revoked => "revoked".to_owned(),
        Some(end) if end <= now => format!("expired {}", day(end)),
        Some(end) => format!("until {}", day(end)),
        None => "valid".to_owned(),
    };
    let columns = [
        token.id.as_str(),
        token.user.as_str(),
        token.scope.as_str(),
        &day(token.created_at),
        &state,
        &token.label,
    ];
    columns.join("\t")
}

fn day(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%d").to_string()
}
