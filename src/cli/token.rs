//! `fileshed token` and `fileshed login-link`: personal tokens, and links that sign a user in on the page.

use std::process::ExitCode;

use clap::{Args, Subcommand, value_parser};
use fileshed_core::sign_in::Principal;
use fileshed_core::tokens::Token;
use fileshed_core::{Core, Role, Scope, UserId, timings};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::table::{ListOptions, print_table};
use super::{CommandFailure, open, print};
use crate::config::{Config, local_address, one_of};

/// Commands for tokens.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Create a token and print it; it is not shown again
    Create {
        /// The user whose workspace the token opens
        #[arg(long, value_name = "ID", value_parser = UserId::parse)]
        user: UserId,
        /// Scope; `admin` may write and administer this server
        #[arg(
            long,
            value_name = "scope",
            default_value = "write",
            value_parser = one_of(&["read", "write", "admin"], rights)
        )]
        scope: (Scope, Role),
        /// Days until the token expires [default: never]
        #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..))]
        expires_days: Option<u32>,
        /// Purpose, for people
        #[arg(long, value_name = "TEXT", default_value = "")]
        label: String,
    },
    /// List the tokens, without their secrets: id, user, scope, day of creation, state, label
    List(ListOptions),
    /// Revoke a token, with immediate effect
    Revoke {
        /// The token, as `token list` shows it
        #[arg(long, value_name = "ID")]
        id: String,
    },
}

impl TokenCommand {
    pub(super) fn run(&self, core: &Core) -> Result<ExitCode, CommandFailure> {
        match self {
            Self::Create {
                user,
                scope,
                expires_days,
                label,
            } => {
                let span = expires_days.map(|days| timings::hours(u64::from(days) * 24));
                let expires_at = span.map(|span| core.store.clock.now().checked_add(span));
                let expires_at = expires_at.transpose();
                let too_late =
                    |_| CommandFailure::Refused("`--expires-days` is too large".to_owned());
                let expires_at = expires_at.map_err(too_late)?;
                let tokens = core.store.tokens();
                let token = tokens.create_with_role(user, *scope, expires_at, label)?;
                print(&token.secret)
            }
            Self::List(options) => {
                let (now, tokens) = (core.store.clock.now(), core.store.tokens().list()?);
                print_table(tokens.iter().map(|token| row(token, now)), *options)
            }
            Self::Revoke { id } => {
                if core.store.tokens().revoke(id)? {
                    print(&format!("revoked {id}"))
                } else {
                    Err(CommandFailure::Refused(format!(
                        "there is no token `{id}`; `fileshed token list` lists them"
                    )))
                }
            }
        }
    }
}

/// Returns the rights of a scope's name.
fn rights(name: &str) -> Option<(Scope, Role)> {
    match name {
        "admin" => Some((Scope::Write, Role::Admin)),
        name => Some((Scope::parse(name)?, Role::User)),
    }
}

fn row(token: &Token, now: Timestamp) -> Value {
    let state = match token.expires_at {
        _ if token.revoked => "revoked".to_owned(),
        Some(end) if end <= now => format!("expired {}", day(end)),
        Some(end) => format!("until {}", day(end)),
        None => "valid".to_owned(),
    };
    json!({
        "id": token.id, "user": token.user.as_str(), "scope": token.scope_name(),
        "created": day(token.created_at), "state": state, "label": token.label,
    })
}

fn day(moment: Timestamp) -> String {
    moment.strftime("%Y-%m-%d").to_string()
}

/// Whom the link signs in.
#[derive(Debug, Args)]
pub struct LoginLinkArguments {
    /// The user whose files it opens
    #[arg(long, value_name = "ID", value_parser = UserId::parse)]
    user: UserId,
}

impl LoginLinkArguments {
    pub(super) fn run(&self, config: &Config) -> Result<ExitCode, CommandFailure> {
        let core = open(config)?;
        let running = core.store.instance.address().unwrap_or(config.bind);
        core.store.listens_at(local_address(running));
        let principal = Principal::of(self.user.clone());
        print(&core.admin.sign_in_link_of(&principal)?.url)
    }
}
