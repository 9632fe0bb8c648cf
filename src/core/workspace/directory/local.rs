//! Groups that the registry of this server keeps.

use super::{Directory, Group, GroupError, GroupId, Membership};
use crate::{Caller, Error};
use fileshed_registry::{LocalGroup, Registry};

/// Groups that the registry keeps.
#[derive(Debug)]
pub(super) struct Local<'a> {
    registry: &'a Registry,
}

impl<'a> Local<'a> {
    pub(super) fn new(registry: &'a Registry) -> Self {
        Self { registry }
    }
}

impl Directory for Local<'_> {
    fn groups(&self, caller: &Caller) -> Result<Vec<Group>, Error> {
        let Some(user) = &caller.user else {
            return Ok(Vec::new());
        };
        let rows = self.registry.local_groups(Some(user.as_str()))?;
        rows.into_iter()
            .map(|row| group_of(row).map_err(Error::from))
            .collect()
    }

    fn members(&self, group: &Group) -> Result<Membership, Error> {
        let members = self.registry.local_members(group.id.as_str())?;
        Ok(Membership::all(members))
    }
}

/// A group of the registry, for who may see it.
pub(super) fn group_of(row: LocalGroup) -> Result<Group, GroupError> {
    Ok(Group {
        id: GroupId::parse(&row.id)?,
        name: row.name,
        description: row.description,
        member_count: row.members,
    })
}
