//! `fileshed group`: groups that this server keeps itself.

use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, Command};
use fileshed_core::directory::GroupId;
use fileshed_core::{Store, UserId};

use super::{Failure, print};

/// What to do with groups.
#[derive(Debug)]
pub enum Action {
    /// Make one and print its id.
    Create {
        /// Its directory and its name for good; a new UUID where none is given.
        id: GroupId,
        /// What people call it.
        name: String,
        /// What it is for.
        description: String,
        /// Who is in it.
        members: Vec<UserId>,
    },
    /// Forget one; its files stay on disk.
    Delete(String),
    /// Take users in.
    Add(String, Vec<UserId>),
    /// Take users out.
    Remove(String, Vec<UserId>),
    /// List them with their members.
    List,
}

/// `group create`, `group delete`, `group add`, `group remove`, `group list`
pub(super) fn command() -> Command {
    let group = || {
        Arg::new("group")
            .help("Name or id")
            .required(true)
            .value_name("GROUP")
    };
    let users = |name: &'static str| {
        Arg::new(name)
            .help("User ids, comma-separated")
            .value_name("IDS")
            .value_delimiter(',')
            .action(ArgAction::Append)
            .value_parser(|text: &str| UserId::parse(text))
    };
    let id = Arg::new("id")
        .long("id")
        .help("1 to 64 of A-Z a-z 0-9 . _ -; without this, a new UUID")
        .value_name("ID")
        .value_parser(|text: &str| GroupId::parse(text));
    let name = Arg::new("name")
        .long("name")
        .help("What people call it")
        .required(true)
        .value_name("TEXT");
    let description = Arg::new("description")
        .long("description")
        .help("What it is for")
        .value_name("TEXT")
        .default_value("");
    Command::new("group")
        .about("Make, change and list the groups of this server")
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(
            Command::new("create")
                .about("Make a group and print its id")
                .args([id, name, description, users("members").long("members")]),
        )
        .subcommand(
            Command::new("delete")
                .about("Forget a group; its files stay on disk, and come back with its id")
                .arg(group()),
        )
        .subcommand(
            Command::new("add")
                .about("Take users into a group, at once")
                .args([group(), users("users").required(true)]),
        )
        .subcommand(
            Command::new("remove")
                .about("Take users out of a group, at once")
                .args([group(), users("users").required(true)]),
        )
        .subcommand(Command::new("list").about("List the groups: id, name, members, description"))
}

/// Reads what [`command`] describes.
pub(super) fn read(matches: &ArgMatches) -> Result<Action, clap::Error> {
    let text = |matches: &ArgMatches, name: &str| {
        matches.get_one::<String>(name).cloned().unwrap_or_default()
    };
    let users = |matches: &ArgMatches, name: &str| -> Vec<UserId> {
        let given = matches.get_many::<UserId>(name);
        given.into_iter().flatten().cloned().collect()
    };
    let group = |matches: &ArgMatches| text(matches, "group");
    match matches.subcommand() {
        Some(("create", matches)) => Ok(Action::Create {
            id: match matches.get_one::<GroupId>("id") {
                Some(id) => id.clone(),
                None => GroupId::parse(&uuid::Uuid::new_v4().to_string())
                    .map_err(|_| clap::Error::new(clap::error::ErrorKind::ValueValidation))?,
            },
            name: text(matches, "name"),
            description: text(matches, "description"),
            members: users(matches, "members"),
        }),
        Some(("delete", matches)) => Ok(Action::Delete(group(matches))),
        Some(("add", matches)) => Ok(Action::Add(group(matches), users(matches, "users"))),
        Some(("remove", matches)) => Ok(Action::Remove(group(matches), users(matches, "users"))),
        Some(("list", _)) => Ok(Action::List),
        _ => Err(clap::Error::new(clap::error::ErrorKind::MissingSubcommand)),
    }
}

/// Runs one of the commands of `fileshed group`.
pub fn run(store: &Store, action: &Action) -> Result<ExitCode, Failure> {
    let groups = store.local_groups();
    match action {
        Action::Create {
            id,
            name,
            description,
            members,
        } => {
            groups.create(id, name, description, members)?;
            print(id.as_str())
        }
        Action::Delete(group) => {
            groups.delete(group)?;
            print(&format!("deleted {group}; its files are still there"))
        }
        Action::Add(group, users) => {
            let added = groups.add(group, users)?;
            print(&format!("added {added} to {group}"))
        }
        Action::Remove(group, users) => {
            let removed = groups.remove(group, users)?;
            print(&format!("removed {removed} from {group}"))
        }
        Action::List => {
            for group in groups.list()? {
                let members = groups.members(group.id.as_str())?;
                let members: Vec<String> = members.into_iter().map(|member| member.id).collect();
                let columns = [
                    group.id.as_str(),
                    &group.name,
                    &members.join(","),
                    &group.description,
                ];
                print(&columns.join("\t"))?;
            }
            Ok(ExitCode::SUCCESS)
        }
    }
}
