//! `fileshed user`: who has something here, and how they end.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use fileshed_core::shed::UserSummary;
use fileshed_core::{Shed, UserId};

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
    /// End one and remove the files.
    Delete {
        /// Whose.
        user: UserId,
        /// Whether it is meant.
        confirmed: bool,
    },
}

/// `user list`, `user show`, `user end`, `user delete`
pub(super) fn command() -> Command {
    let user = || {
        Arg::new("user")
            .long("user")
            .help("The user, as `user list` shows it")
            .required(true)
            .value_name("ID")
            .value_parser(|text: &str| UserId::parse(text))
    };
    let yes = Arg::new("yes")
        .long("yes")
        .help("It is meant: without this nothing is removed")
        .action(ArgAction::SetTrue);
    Command::new("user")
        .about("List users, end their tokens and links, remove their files")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("list")
                .about("List the users: id, directory, bytes, files, tokens and links that work"),
        )
        .subcommand(Command::new("show").about("Show one user").arg(user()))
        .subcommand(
            Command::new("end")
                .about("End every token and link of a user, at once; the files stay")
                .arg(user()),
        )
        .subcommand(
            Command::new("delete")
                .about("End a user and remove the files of the own zones, history included")
                .args([user(), yes]),
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
        Some(("end", matches)) => Ok(Action::End(user(matches)?)),
        Some(("delete", matches)) => Ok(Action::Delete {
            user: user(matches)?,
            confirmed: matches.get_flag("yes"),
        }),
        _ => Err(missing()),
    }
}

/// Does it.
pub fn run(shed: &Shed, action: &Action) -> Result<ExitCode, Failure> {
    match action {
        Action::List => {
            for user in shed.users()? {
                print(&line(&user))?;
            }
            Ok(ExitCode::SUCCESS)
        }
        Action::Show(user) => show(shed, &shed.user(user)?),
        Action::End(user) => {
            let ended = shed.end_user(user)?;
            print(&format!(
                "ended {} and {} of {}; the files stay",
                counted(ended.tokens, "token"),
                counted(ended.links, "link"),
                user.as_str()
            ))
        }
        Action::Delete {
            user,
            confirmed: false,
        } => {
            let found = shed.user(user)?;
            Err(Failure::NotConfirmed {
                what: what(&found),
                user: user.as_str().to_owned(),
            })
        }
        Action::Delete {
            user,
            confirmed: true,
        } => {
            let found = shed.delete_user(user)?;
            print(&format!(
                "removed {} of {}; what is in groups stays there",
                what(&found),
                user.as_str()
            ))
        }
    }
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
        user.home.clone(),
        user.bytes().to_string(),
        user.files().to_string(),
        user.credentials.tokens.to_string(),
        user.credentials.links.to_string(),
    ];
    columns.join("\t")
}

fn show(shed: &Shed, user: &UserSummary) -> Result<ExitCode, Failure> {
    let id = user.user.as_ref().map_or("-", |user| user.as_str());
    print(&format!("user\t{id}"))?;
    print(&format!("directory\t{}", user.home))?;
    for usage in &user.usage {
        let totals = usage.totals;
        print(&format!(
            "{}\t{} bytes\t{} files",
            usage.zone, totals.bytes, totals.files
        ))?;
    }
    for token in shed.tokens().list()? {
        if token.user.as_str() == id && !token.revoked {
            print(&format!("token\t{}\t{}", token.id, token.label))?;
        }
    }
    print(&format!("tokens\t{}", user.credentials.tokens))?;
    print(&format!("links\t{}", user.credentials.links))
}
