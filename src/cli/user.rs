//! `fileshed user`: who has something here, and how they end.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use fileshed_core::users::{SpaceSummary, UserSummary};
use fileshed_core::{Store, UserId};

use super::{Failure, print};

/// What to do with users.
#[derive(Debug)]
pub enum Action {
    /// List them.
    List,
    /// Show one.
    Show(UserId),
    /// End the credentials of one; the files stay.
    End(UserId),
    /// Show the space of each user and group.
    Usage,
    /// Refuse whatever comes from one, until that is ended.
    Suspend(UserId),
    /// End that.
    Resume(UserId),
    /// End one and remove the files.
    Delete {
        /// Whose.
        user: UserId,
        /// Who gets the files of groups that the user owns.
        heir: Option<UserId>,
        /// Whether it is meant.
        confirmed: bool,
    },
}

/// `user list`, `user show`, `user usage`, `user suspend`, `user resume`, `user end`, `user delete`
pub(super) fn command() -> Command {
    let id = |name: &'static str, help: &'static str| {
        Arg::new(name)
            .long(name)
            .help(help)
            .value_name("ID")
            .value_parser(|text: &str| UserId::parse(text))
    };
    let user = || id("user", "The user, as `user list` shows it").required(true);
    let heir = id(
        "give-to",
        "Who gets the files of groups that the user owns; without this they stay as they are",
    );
    let yes = Arg::new("yes")
        .long("yes")
        .help("It is meant: without this nothing is removed")
        .action(ArgAction::SetTrue);
    Command::new("user")
        .about("List and suspend users, end their tokens and links, remove their files")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(Command::new("list").about(
            "List the users: id, directory, bytes, files, tokens and links that work, \
                 active or suspended, name",
        ))
        .subcommand(Command::new("show").about("Show one user").arg(user()))
        .subcommand(Command::new("usage").about(
            "List the space of users and groups, the largest first: bytes, quota, percent, files, \
             directory, id, name",
        ))
        .subcommand(
            Command::new("suspend")
                .about("Refuse calls, tokens and links of a user, at once; nothing is removed")
                .arg(user()),
        )
        .subcommand(
            Command::new("resume")
                .about("End a suspension: all is as it was")
                .arg(user()),
        )
        .subcommand(
            Command::new("end")
                .about("End every token and link of a user, at once; the files stay")
                .arg(user()),
        )
        .subcommand(
            Command::new("delete")
                .about("End a user and remove the files of the own zones, history included")
                .args([user(), heir, yes]),
        )
}

/// Reads what [`command`] describes.
pub(super) fn read(matches: &ArgMatches) -> Result<Action, clap::Error> {
    let missing = || clap::Error::new(clap::error::ErrorKind::MissingSubcommand);
    let user = |matches: &ArgMatches| {
        let user = matches.get_one::<UserId>("user");
        user.cloned().ok_or_else(missing)
    };
    match matches.subcommand() {
        Some(("list", _)) => Ok(Action::List),
        Some(("show", matches)) => Ok(Action::Show(user(matches)?)),
        Some(("usage", _)) => Ok(Action::Usage),
        Some(("suspend", matches)) => Ok(Action::Suspend(user(matches)?)),
        Some(("resume", matches)) => Ok(Action::Resume(user(matches)?)),
        Some(("end", matches)) => Ok(Action::End(user(matches)?)),
        Some(("delete", matches)) => Ok(Action::Delete {
            user: user(matches)?,
            heir: matches.get_one::<UserId>("give-to").cloned(),
            confirmed: matches.get_flag("yes"),
        }),
        _ => Err(missing()),
    }
}

/// Runs one of the commands of `fileshed user`.
pub fn run(store: &Store, action: &Action) -> Result<ExitCode, Failure> {
    match action {
        Action::List => {
            for user in store.users()? {
                print(&line(&user))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Show(user) => show(store, &store.user(user)?),
        Action::Usage => {
            for space in store.space()? {
                print(&space_line(&space))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Suspend(user) => suspend(store, user),
        Action::Resume(user) => {
            let what = if store.resume(user)? {
                "resumed"
            } else {
                "is not suspended:"
            };
            print(&format!("{what} {}", user.as_str()))
        }
        Action::End(user) => {
            let ended = store.end_user(user)?;
            print(&format!(
                "ended {} and {} of {}; the files stay",
                counted(ended.tokens, "token"),
                counted(ended.links, "link"),
                user.as_str()
            ))
        }
        Action::Delete {
            user,
            heir,
            confirmed,
        } => delete(store, user, heir.as_ref(), *confirmed),
    }
}

fn suspend(store: &Store, user: &UserId) -> Result<ExitCode, Failure> {
    let is_known = store.user(user).is_ok();
    let id = user.as_str();
    print(&match (store.suspend(user)?, is_known) {
        (false, _) => format!("is suspended: {id}"),
        (true, true) => {
            format!("suspended {id}; what runs for the user now ends by itself, nothing is removed")
        }
        (true, false) => format!("suspended {id}, of whom there is nothing here: is that the id?"),
    })
}

fn delete(
    store: &Store,
    user: &UserId,
    heir: Option<&UserId>,
    confirmed: bool,
) -> Result<ExitCode, Failure> {
    let found = if confirmed {
        store.delete_user(user, heir)?
    } else {
        store.user(user)?
    };
    let id = user.as_str();
    let in_groups = match (found.owned_files, heir) {
        (0, _) => "nothing in groups is the user's".to_owned(),
        (count, Some(heir)) => {
            format!(
                "{} of groups become {}'s",
                counted(count, "file"),
                heir.as_str()
            )
        }
        (count, None) => format!(
            "{} of groups stay {id}'s, --give-to <id> gives them to somebody",
            counted(count, "file")
        ),
    };
    let what = format!("{} of {id}; {in_groups}", what(&found));
    if !confirmed {
        return Err(Failure::NotConfirmed { what });
    }
    print(&format!("removed {what}"))?;
    if found.suspended {
        print(&format!("{id} stays suspended"))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Space for people and for `cut`.
fn space_line(space: &SpaceSummary) -> String {
    let percent = space.bytes.saturating_mul(100) / space.limit.max(1);
    let columns = [
        space.bytes.to_string(),
        space.limit.to_string(),
        format!("{percent}%"),
        space.files.to_string(),
        space.tenant.clone(),
        space.id.clone().unwrap_or_else(|| "-".to_owned()),
        space.name.clone().unwrap_or_default(),
    ];
    columns.join("\t")
}

fn what(user: &UserSummary) -> String {
    format!(
        "{} ({} bytes), {} and {}",
        counted(user.files(), "file"),
        user.bytes(),
        counted(user.credentials.tokens, "token"),
        counted(user.credentials.links, "link")
    )
}

fn counted(count: u64, what: &str) -> String {
    match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}

/// A user for people and for `cut`: tabs, because an id may hold blanks. `-` is an id that nobody
/// has named yet: the directory does not tell it.
fn line(user: &UserSummary) -> String {
    let id = user.user.as_ref().map_or("-", |user| user.as_str());
    let columns = [
        id.to_owned(),
        user.tenant.clone(),
        user.bytes().to_string(),
        user.files().to_string(),
        user.credentials.tokens.to_string(),
        user.credentials.links.to_string(),
        state(user).to_owned(),
        user.name.clone().unwrap_or_default(),
    ];
    columns.join("\t")
}

fn state(user: &UserSummary) -> &'static str {
    if user.suspended {
        "suspended"
    } else {
        "active"
    }
}

fn show(store: &Store, user: &UserSummary) -> Result<ExitCode, Failure> {
    let id = user.user.as_ref().map_or("-", |user| user.as_str());
    print(&format!("user\t{id}"))?;
    print(&format!("name\t{}", user.name.as_deref().unwrap_or("-")))?;
    print(&format!("state\t{}", state(user)))?;
    print(&format!("directory\t{}", user.tenant))?;
    for usage in &user.usage {
        let totals = usage.totals;
        print(&format!(
            "{}\t{} bytes\t{} files",
            usage.zone, totals.bytes, totals.files
        ))?;
    }
    for token in store.tokens().list()? {
        if token.user.as_str() == id && !token.revoked {
            print(&format!("token\t{}\t{}", token.id, token.label))?;
        }
    }
    print(&format!("tokens\t{}", user.credentials.tokens))?;
    print(&format!("links\t{}", user.credentials.links))?;
    print(&format!("files of groups\t{}", user.owned_files))
}
