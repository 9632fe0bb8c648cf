//! Groups that a gateway names with each call.
//!
//! The gateway says which groups its caller is in, and nothing about anybody else. Members are
//! those who were seen in the group; who calls without it is forgotten.

use super::{Directory, Group, Membership};
use crate::{Caller, Error};
use fileshed_registry::Registry;

/// Groups as the gateway names them.
#[derive(Debug)]
pub(super) struct Headers<'a> {
    registry: &'a Registry,
}

impl<'a> Headers<'a> {
    pub(super) fn new(registry: &'a Registry) -> Self {
        Self { registry }
    }
}

impl Directory for Headers<'_> {
    fn groups(&self, caller: &Caller) -> Result<Vec<Group>, Error> {
        let user = caller.user.as_ref().map_or("", |user| user.as_str());
        let mut groups = Vec::new();
        for claim in &caller.groups {
            let seen = self.registry.seen_members(claim.id.as_str())?;
            let new = !seen.iter().any(|member| member.id == user);
            groups.push(Group {
                id: claim.id.clone(),
                name: claim
                    .name
                    .clone()
                    .unwrap_or_else(|| claim.id.as_str().to_owned()),
                description: String::new(),
                member_count: seen.len() as u64 + u64::from(new),
            });
        }
        groups.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
        groups.dedup_by(|a, b| a.id == b.id);
        Ok(groups)
    }

    fn members(&self, group: &Group) -> Result<Membership, Error> {
        let seen = self.registry.seen_members(group.id.as_str())?;
        Ok(Membership::all(seen))
    }
}
