//! Groups of the application that people chat in.
//!
//! It is asked in the caller's name, or with an administrator's key. Where it cannot be asked about
//! members, those count who were seen in the group.

use super::{Directory, Group, GroupError, Headers, Membership};
use crate::frontend::Frontend;
use crate::ledger::Ledger;
use crate::{Caller, Error};

/// See the module.
#[derive(Debug)]
pub(super) struct Remote<'a> {
    frontend: Option<&'a dyn Frontend>,
    ledger: &'a Ledger,
}

impl<'a> Remote<'a> {
    pub(super) fn new(frontend: Option<&'a dyn Frontend>, ledger: &'a Ledger) -> Self {
        Self { frontend, ledger }
    }
}

impl Directory for Remote<'_> {
    fn groups(&self, caller: &Caller) -> Result<Vec<Group>, Error> {
        let asked = self.frontend.map(|frontend| frontend.groups(caller));
        match asked.transpose()?.flatten() {
            Some(mut groups) => {
                groups.sort_by(|a, b| (&a.name, &a.id).cmp(&(&b.name, &b.id)));
                groups.dedup_by(|a, b| a.id == b.id);
                Ok(groups)
            }
            // A link acts without its maker's credential: what was seen last counts.
            None if !caller.groups.is_empty() => Headers::new(self.ledger).groups(caller),
            None => Err(GroupError::Unasked.into()),
        }
    }

    fn members(&self, group: &Group) -> Result<Membership, Error> {
        let asked = self.frontend.map(|frontend| frontend.members(group));
        Ok(match asked.transpose()?.flatten() {
            Some(members) => Membership::all(members),
            None => Membership::some(self.ledger.seen_members(group.id.as_str())?, group),
        })
    }

    fn forget(&self, caller: &Caller) -> bool {
        self.frontend
            .is_some_and(|frontend| frontend.forget_groups(caller))
    }
}
