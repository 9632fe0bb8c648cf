//! Groups, as one caller may know them.
//!
//! Who is in which group is decided elsewhere: by the registry of this server, by a gateway that
//! names the groups of its caller with each call, or by the application that people chat in. A [`Directory`] answers for one caller. A group
//! that the caller is not in does not exist for it: neither its id nor its name nor its members
//! ever show, and what is suggested is only what the caller has.

mod headers;
mod local;
mod manage;
mod membership;
mod remote;

use crate::{Caller, Code, Error, GroupClaim, Store, UserId};
use fileshed_types::settings::GroupSource;

pub use fileshed_types::group::{Group, GroupError, GroupId, Member, NAME_MAX_BYTES};
use headers::Headers;
use local::Local;
pub use manage::{Groups, GroupsError};
pub use membership::Membership;
use remote::Remote;

/// Who is in which group.
pub trait Directory {
    /// The groups of the caller, by name.
    fn groups(&self, caller: &Caller) -> Result<Vec<Group>, Error>;

    /// The members of a group of the caller, as far as they are known.
    fn members(&self, group: &Group) -> Result<Membership, Error>;

    /// Asks anew next time, if what is known of the caller's groups may be old; whether it will.
    fn forget(&self, _caller: &Caller) -> bool {
        false
    }

    /// Whether the caller may know that there is such a group although it is not in it.
    fn is_public(&self, _caller: &Caller, _name_or_id: &str) -> Result<bool, Error> {
        Ok(false)
    }
}

impl Store {
    /// The directory that the settings name.
    fn directory(&self) -> Box<dyn Directory + '_> {
        let registry = self.registry();
        match self.settings().groups {
            GroupSource::Local => Box::new(Local::new(registry)),
            GroupSource::Headers => Box::new(Headers::new(registry)),
            GroupSource::Openwebui => Box::new(Remote::new(self.chat_host(), registry)),
        }
    }

    /// Remembers the groups that a call of the user named, for calls that cannot name any.
    pub fn remember_groups(&self, user: &UserId, claims: &[GroupClaim]) {
        self.recollection().remember(user, claims);
    }

    /// Groups that the registry keeps, for an administrator.
    #[must_use]
    pub fn local_groups(&self) -> Groups<'_> {
        Groups::new(self.registry(), self.clock())
    }

    /// The groups of the caller, by name.
    pub fn groups(&self, caller: &Caller) -> Result<Vec<Group>, Error> {
        let user = user_of(caller)?;
        let recalled;
        let caller = match self.settings().groups {
            GroupSource::Headers if caller.recalls_groups => {
                let Some(claims) = self.recollection().recall(user) else {
                    return Ok(Vec::new());
                };
                recalled = Caller {
                    groups: claims,
                    ..caller.clone()
                };
                &recalled
            }
            _ => caller,
        };
        let groups = self.asked_groups(caller)?;
        let ids: Vec<&str> = groups.iter().map(|group| group.id.as_str()).collect();
        let name = caller.name.as_deref().unwrap_or_default();
        self.registry().saw(user.as_str(), name, &ids)?;
        Ok(groups)
    }

    /// The groups of the caller, as the directory says.
    pub(crate) fn asked_groups(&self, caller: &Caller) -> Result<Vec<Group>, Error> {
        self.directory().groups(caller)
    }

    /// The groups of the caller for work that can do without them: nothing if there are none, or if
    /// nobody can be asked.
    pub fn known_groups(&self, caller: &Caller) -> Result<Option<Vec<Group>>, Error> {
        match self.groups(caller) {
            Err(error)
                if [Code::GroupNotAvailable, Code::OpenwebuiApiUnavailable]
                    .contains(&error.code()) =>
            {
                Ok(None)
            }
            groups => groups.map(Some),
        }
    }

    /// The group of the caller that the parameter `group` names, by id or by name.
    pub fn group(&self, caller: &Caller, name_or_id: Option<&str>) -> Result<Group, Error> {
        user_of(caller)?;
        let text = name_or_id.map(str::trim).unwrap_or_default();
        if text.is_empty() {
            return Err(GroupError::Missing.into());
        }
        if text.len() > NAME_MAX_BYTES || text.contains('/') || text.chars().any(char::is_control) {
            return Err(GroupError::invalid_id(text).into());
        }
        match self.group_among(caller, text, &self.groups(caller)?) {
            Err(error)
                if error.code() == Code::GroupNotFound && self.directory().forget(caller) =>
            {
                self.group_among(caller, text, &self.groups(caller)?)
            }
            answer => answer,
        }
    }

    fn group_among(&self, caller: &Caller, text: &str, groups: &[Group]) -> Result<Group, Error> {
        if let Some(group) = groups.iter().find(|group| group.id.as_str() == text) {
            return Ok(group.clone());
        }
        let mut same: Vec<&Group> = groups.iter().filter(|group| group.name == text).collect();
        if same.is_empty() {
            let lower = text.to_lowercase();
            same.extend(
                groups
                    .iter()
                    .filter(|group| group.name.to_lowercase() == lower),
            );
        }
        match (same.pop(), same.is_empty()) {
            (Some(group), true) => Ok(group.clone()),
            (Some(_), false) => Err(GroupError::ambiguous(text, groups).into()),
            (None, _) => Err(if self.directory().is_public(caller, text)? {
                GroupError::not_in(text, groups).into()
            } else {
                GroupError::unknown(text, groups).into()
            }),
        }
    }

    /// The members of a group of the caller.
    pub fn members(&self, group: &Group) -> Result<Membership, Error> {
        self.directory().members(group)
    }

    /// How many are in a group of the caller: as many as [`Store::members`] says, unless they cannot
    /// be asked for now.
    #[must_use]
    pub fn member_count(&self, group: &Group) -> u64 {
        let members = self.members(group);
        members.map_or(group.member_count, |members| members.count())
    }
}

/// In shared mode there is nobody to share with.
fn user_of(caller: &Caller) -> Result<&UserId, GroupError> {
    caller.user.as_ref().ok_or(GroupError::Unavailable)
}
