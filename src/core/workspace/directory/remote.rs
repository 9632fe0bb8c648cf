//! Groups of the application that people chat in.
//!
//! It is asked in the caller's name, or with an administrator's key. Where it cannot be asked about
//! members, those count who were seen in the group.

use super::{Directory, Group, GroupError, Headers, Membership};
use crate::chat_host::ChatHost;
use crate::{Caller, Error};
use fileshed_registry::Registry;

/// Groups of the application that people chat in.
#[derive(Debug)]
pub(super) struct Remote<'a> {
    chat_host: Option<&'a dyn ChatHost>,
    registry: &'a Registry,
}

impl<'a> Remote<'a> {
    pub(super) fn new(chat_host: Option<&'a dyn ChatHost>, registry: &'a Registry) -> Self {
        Self {
            chat_host,
            registry,
        }
    }
}

impl Directory for Remote<'_> {
    fn groups(&self, caller: &Caller) -> Result<Vec<Group>, Error> {
        let asked = self.chat_host.map(|chat_host| chat_host.groups(caller));
        match asked.transpose()?.flatten() {
            Some(mut groups) => {
                groups.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
                groups.dedup_by(|a, b| a.id == b.id);
                Ok(groups)
            }
            // A link acts without its maker's credential: what was seen last counts.
            None if !caller.groups.is_empty() => Headers::new(self.registry).groups(caller),
            None => Err(GroupError::Unasked.into()),
        }
    }

    fn members(&self, group: &Group) -> Result<Membership, Error> {
        let asked = self.chat_host.map(|chat_host| chat_host.members(group));
        Ok(match asked.transpose()?.flatten() {
            Some(members) => Membership::all(members),
            None => Membership::some(self.registry.seen_members(group.id.as_str())?, group),
        })
    }

    fn forget(&self, caller: &Caller) -> bool {
        self.chat_host
            .is_some_and(|chat_host| chat_host.forget_groups(caller))
    }
}
