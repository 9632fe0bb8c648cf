//! `fileshed group`: groups that this server keeps itself.

use std::process::ExitCode;

use clap::{Args, Subcommand};
use fileshed_core::directory::GroupId;
use fileshed_core::{Core, Error, UserId};
use serde_json::{Value, json};

use super::table::{ListOptions, print_table};
use super::{CommandFailure, print};

/// Commands for groups.
#[derive(Debug, Subcommand)]
pub enum GroupCommand {
    /// Create a group and print its id
    Create {
        /// Id: 1 to 64 characters of A-Z a-z 0-9 . _ - [default: a new UUID]
        #[arg(long, value_name = "ID", value_parser = GroupId::parse)]
        id: Option<GroupId>,
        /// Display name
        #[arg(long, value_name = "TEXT")]
        name: String,
        /// Purpose, for people
        #[arg(long, value_name = "TEXT", default_value = "")]
        description: String,
        /// User ids, comma-separated
        #[arg(long, value_name = "IDS", value_delimiter = ',', value_parser = UserId::parse)]
        members: Vec<UserId>,
    },
    /// Delete a group; its files stay on disk, and a new group with the same id has them
    Delete {
        /// Name or id
        #[arg(long)]
        group: String,
    },
    /// Add users to a group, with immediate effect
    Add(GroupAndUsers),
    /// Remove users from a group, with immediate effect
    Remove(GroupAndUsers),
    /// List the groups: id, name, members, description
    List(ListOptions),
}

/// Users of one group.
#[derive(Debug, Args)]
pub struct GroupAndUsers {
    /// Name or id
    #[arg(long)]
    group: String,
    /// User ids, comma-separated
    #[arg(long, required = true, value_name = "IDS", value_delimiter = ',', value_parser = UserId::parse)]
    members: Vec<UserId>,
}

impl GroupCommand {
    pub(super) fn run(&self, core: &Core) -> Result<ExitCode, CommandFailure> {
        let groups = core.store.local_groups();
        match self {
            Self::Create {
                id,
                name,
                description,
                members,
            } => {
                let id = match id {
                    Some(id) => id.clone(),
                    None => {
                        GroupId::parse(&uuid::Uuid::new_v4().to_string()).map_err(Error::from)?
                    }
                };
                groups.create(&id, name, description, members)?;
                print(id.as_str())
            }
            Self::Delete { group } => {
                groups.delete(group)?;
                print(&format!("deleted {group}; its files stay on disk"))
            }
            Self::Add(GroupAndUsers { group, members }) => {
                let added = groups.add(group, members)?;
                print(&format!("added {added} to {group}"))
            }
            Self::Remove(GroupAndUsers { group, members }) => {
                let removed = groups.remove(group, members)?;
                print(&format!("removed {removed} from {group}"))
            }
            Self::List(options) => {
                let rows = groups.list()?.into_iter().map(|group| {
                    let members = groups.members(group.id.as_str())?.into_iter();
                    let members: Vec<String> = members.map(|member| member.id).collect();
                    Ok(json!({
                        "id": group.id.as_str(), "name": group.name, "members": members,
                        "description": group.description,
                    }))
                });
                print_table(rows.collect::<Result<Vec<Value>, Error>>()?, *options)
            }
        }
    }
}
