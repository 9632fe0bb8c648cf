//! Management of the groups of this server by an administrator.

use super::{Group, GroupId, Member, NAME_MAX_BYTES};
use crate::store::Store;
use fileshed_registry::{LocalGroup, Registry};
use fileshed_types::{Error, UserId, diagnostics};

/// The groups that the registry keeps.
#[derive(Debug)]
pub struct Groups<'a>(pub(super) &'a Store);

impl Groups<'_> {
    /// Returns all groups, by name.
    pub fn list(&self) -> Result<Vec<Group>, Error> {
        groups_of(&self.0.registry, None)
    }

    /// Returns the members of the group of this id or name.
    pub fn members(&self, group: &str) -> Result<Vec<Member>, Error> {
        let group = self.find(group)?;
        Ok(self.0.registry.local_members(&group.id)?)
    }

    /// Makes a group.
    pub fn create(
        &self,
        id: &GroupId,
        name: &str,
        description: &str,
        members: &[UserId],
    ) -> Result<(), Error> {
        if name.is_empty()
            || name.len() > NAME_MAX_BYTES
            || name.trim() != name
            || name.contains('/')
            || name.chars().any(char::is_control)
        {
            return Err(GroupsError::Name(name.to_owned()).into());
        }
        for taken in [id.as_str(), name] {
            if self.0.registry.local_group(taken)?.is_some() {
                return Err(GroupsError::Taken(taken.to_owned()).into());
            }
        }
        let group = LocalGroup {
            id: id.as_str().to_owned(),
            name: name.to_owned(),
            description: description.to_owned(),
            members: 0,
        };
        let now = self.0.clock.now().as_second();
        self.0.registry.add_group(&group, now)?;
        for member in members {
            self.0.registry.add_member(&group.id, member.as_str())?;
        }
        Ok(())
    }

    /// Forgets a group and its members. Its files stay on disk.
    pub fn delete(&self, group: &str) -> Result<(), Error> {
        let group = self.find(group)?;
        Ok(self.0.registry.remove_group(&group.id)?)
    }

    /// Takes users into a group; how many were not in it.
    pub fn add(&self, group: &str, users: &[UserId]) -> Result<usize, Error> {
        let group = self.find(group)?;
        let mut added = 0;
        for user in users {
            added += usize::from(self.0.registry.add_member(&group.id, user.as_str())?);
        }
        Ok(added)
    }

    /// Takes users out of a group; how many were in it.
    pub fn remove(&self, group: &str, users: &[UserId]) -> Result<usize, Error> {
        let group = self.find(group)?;
        let mut removed = 0;
        for user in users {
            removed += usize::from(self.0.registry.remove_member(&group.id, user.as_str())?);
        }
        Ok(removed)
    }

    fn find(&self, group: &str) -> Result<LocalGroup, Error> {
        let found = self.0.registry.local_group(group)?;
        Ok(found.ok_or_else(|| GroupsError::Unknown(group.to_owned()))?)
    }
}

/// Returns the groups of a user that the registry keeps, by name; all of them if no user is named.
pub(super) fn groups_of(registry: &Registry, user: Option<&UserId>) -> Result<Vec<Group>, Error> {
    let rows = registry.local_groups(user.map(UserId::as_str))?;
    let groups = rows.into_iter().map(|row| {
        Ok(Group {
            id: GroupId::parse(&row.id)?,
            name: row.name,
            description: row.description,
            member_count: row.members,
        })
    });
    groups.collect()
}

diagnostics! {
    /// A request of an administrator about groups that cannot be carried out.
    #[derive(Debug, thiserror::Error)]
    pub enum GroupsError {
        /// No such group.
        #[error("there is no group `{0}`; `fileshed group list` lists them")]
        Unknown(group: String) => {
            code: GroupNotFound,
            hint: "see `fileshed group --help`",
        },
        /// The id or name of another group.
        #[error("a group with the id or name `{0}` already exists")]
        Taken(name: String) => {
            code: InvalidParameter,
            hint: "see `fileshed group --help`",
        },
        /// No name for a group.
        #[error(
            "`{0}` cannot be the name of a group: give 1 to 256 bytes without slashes and control \
             characters, and without blanks at the ends"
        )]
        Name(name: String) => {
            code: InvalidParameter,
            hint: "see `fileshed group --help`",
        },
    }
}
