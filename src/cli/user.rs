//! `fileshed user`: lists, suspends and removes users.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use fileshed_core::administration::TenantSummary;
use fileshed_core::chat_host::counted;
use fileshed_core::{Core, UserId};
use serde_json::{Value, json};

use super::table::{ListOptions, print_table};
use super::{CommandFailure, print, print_all, state};

/// Commands for users.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List the users: id, directory, bytes, files, tokens and links that work, active or
    /// suspended, name
    List(ListOptions),
    /// Show one user
    Show(OneUser),
    /// List the space of users and groups, the largest first: bytes, quota, percent, files,
    /// directory, id, name
    Usage(ListOptions),
    /// Refuse calls, tokens and links of a user, with immediate effect; nothing is removed
    Suspend(OneUser),
    /// End a suspension, which restores access with all tokens and links
    Resume(OneUser),
    /// Revoke every token and link of a user, with immediate effect; the files stay
    End(OneUser),
    /// Remove a user and the files of the user's own zones, with their history
    Delete {
        /// The user to be removed
        #[command(flatten)]
        user: OneUser,
        /// New owner of the user's files in groups; without this they stay as they are
        #[arg(long, value_name = "ID", value_parser = UserId::parse)]
        give_to: Option<UserId>,
        /// Confirm: without this flag nothing is removed
        #[arg(long)]
        yes: bool,
    },
}

/// The user whom a command is about.
#[derive(Debug, Args)]
pub struct OneUser {
    /// The user, as `user list` shows it
    #[arg(id = "user", long = "user", value_name = "ID", value_parser = UserId::parse)]
    id: UserId,
}

impl UserCommand {
    pub(super) fn run(&self, core: &Core) -> Result<ExitCode, CommandFailure> {
        match self {
            Self::List(options) => print_table(core.admin.users()?.iter().map(row), *options),
            Self::Show(OneUser { id: user }) => show(core, &core.admin.user(user)?),
            Self::Usage(options) => print_table(
                core.admin.tenant_summaries()?.iter().map(space_row),
                *options,
            ),
            Self::Suspend(OneUser { id: user }) => suspend(core, user),
            Self::Resume(OneUser { id: user }) => {
                let what = if core.admin.resume(user)? {
                    "resumed"
                } else {
                    "is not suspended:"
                };
                print(&format!("{what} {}", user.as_str()))
            }
            Self::End(OneUser { id: user }) => {
                let ended = core.admin.end_user(user)?;
                print(&format!(
                    "ended {}, {} and {} of {}; the files stay",
                    counted(ended.tokens, "token"),
                    counted(ended.links, "link"),
                    counted(ended.sessions, "session"),
                    user.as_str()
                ))
            }
            Self::Delete { user, give_to, yes } => delete(core, &user.id, give_to.as_ref(), *yes),
        }
    }
}

fn suspend(core: &Core, user: &UserId) -> Result<ExitCode, CommandFailure> {
    let is_known = core.admin.user(user).is_ok();
    let id = user.as_str();
    print(&match (core.admin.suspend(user)?, is_known) {
        (false, _) => format!("is suspended: {id}"),
        (true, true) => {
            format!(
                "suspended {id}; the user's running commands end by themselves, nothing is removed"
            )
        }
        (true, false) => {
            format!("suspended {id}, but the server has no data of this user: check the id")
        }
    })
}

fn delete(
    core: &Core,
    user: &UserId,
    heir: Option<&UserId>,
    confirmed: bool,
) -> Result<ExitCode, CommandFailure> {
    let found = if confirmed {
        core.admin.delete_user(user, heir)?
    } else {
        core.admin.user(user)?
    };
    let id = user.as_str();
    let files = counted(found.owned_files, "file");
    let in_groups = match (found.owned_files, heir) {
        (0, _) => "the user owns no files of groups".to_owned(),
        (_, Some(heir)) => format!("{files} of groups will belong to {}", heir.as_str()),
        (_, None) => {
            format!("{files} of groups stay {id}'s; --give-to <id> gives them to another user")
        }
    };
    let what = format!("{} of {id}; {in_groups}", what(&found));
    if !confirmed {
        return Err(CommandFailure::Refused(format!(
            "this permanently removes {what}. Add --yes to confirm"
        )));
    }
    print(&format!("removed {what}"))?;
    if found.suspended {
        print(&format!("{id} stays suspended"))?;
    }
    Ok(ExitCode::SUCCESS)
}

fn space_row(space: &TenantSummary) -> Value {
    let percent = space.bytes.saturating_mul(100) / space.limit.max(1);
    json!({
        "bytes": space.bytes, "quota": space.limit, "percent": format!("{percent}%"), "files": space.files,
        "directory": space.tenant, "id": space.id, "name": space.name.as_deref().unwrap_or_default(),
    })
}

fn what(user: &TenantSummary) -> String {
    format!(
        "{} ({} bytes), {} and {}",
        counted(user.files, "file"),
        user.bytes,
        counted(user.credentials.tokens, "token"),
        counted(user.credentials.links, "link")
    )
}

/// A user; no id is one that nobody has named yet: the directory does not tell it.
fn row(user: &TenantSummary) -> Value {
    json!({
        "id": user.id, "directory": user.tenant, "bytes": user.bytes, "files": user.files,
        "tokens": user.credentials.tokens, "links": user.credentials.links,
        "state": state(user.suspended), "name": user.name.as_deref().unwrap_or_default(),
    })
}

fn show(core: &Core, user: &TenantSummary) -> Result<ExitCode, CommandFailure> {
    let id = user.id.as_deref().unwrap_or("-");
    let row = |name: &str, value: &dyn std::fmt::Display| format!("{name}\t{value}");
    let mut rows = vec![
        row("user", &id),
        row("name", &user.name.as_deref().unwrap_or("-")),
        row("state", &state(user.suspended)),
        row("directory", &user.tenant),
    ];
    rows.extend(user.usage.iter().map(|usage| {
        let totals = usage.totals;
        let files = totals.files;
        format!("{}\t{} bytes\t{files} files", usage.zone, totals.bytes)
    }));
    let tokens = core.store.tokens().list()?.into_iter();
    let own = tokens.filter(|token| token.user.as_str() == id && !token.revoked);
    rows.extend(own.map(|token| format!("token\t{}\t{}", token.id, token.label)));
    rows.extend([
        row("tokens", &user.credentials.tokens),
        row("links", &user.credentials.links),
        row("sessions", &user.credentials.sessions),
        row("files of groups", &user.owned_files),
    ]);
    print_all(rows)
}
