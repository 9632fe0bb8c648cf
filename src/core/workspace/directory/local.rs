//! Groups that the registry of this server keeps.

use super::{Directory, Group, GroupId, Membership};
use crate::registry::{LocalGroup, Registry};
use crate::{Caller, Error};

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
            .map(|row| Group::try_from(row).map_err(Error::from))
            .collect()
    }

    fn members(&self, group: &Group) -> Result<Membership, Error> {
        let members = self.registry.local_members(group.id.as_str())?;
        Ok(Membership::all(members))
    }
}

impl TryFrom<LocalGroup> for Group {
    type Error = super::GroupError;

    fn try_from(row: LocalGroup) -> Result<Self, Self::Error> {
        Ok(Self {
            id: GroupId::parse(&row.id)?,
            name: row.name,
            description: row.description,
            member_count: row.members,
        })
    }
}
