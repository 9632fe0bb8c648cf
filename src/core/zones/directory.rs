//! Groups, as one caller may know them.
//!
//! The members of groups are decided elsewhere: by the registry of this server, by a gateway that
//! names the groups of its caller with each call, or by the application that people chat in, which is
//! asked in the caller's name or with an administrator's key. A group that the caller is not in does not
//! exist for it: neither its id nor its name nor its members ever show, and suggestions name only groups of
//! the caller.

mod manage;
mod membership;

use crate::store::Store;
use fileshed_text::without_accents;
use fileshed_types::settings::GroupSource;
use fileshed_types::{Caller, Code, Error, UserId};

pub use fileshed_types::group::{Group, GroupError, GroupId, Member, NAME_MAX_BYTES};
pub use manage::{Groups, GroupsError};
pub use membership::Membership;

impl Store {
    /// Groups that the registry keeps, for an administrator.
    #[must_use]
    pub fn local_groups(&self) -> Groups<'_> {
        Groups(self)
    }

    /// Returns the groups of the caller, by name.
    pub fn groups(&self, caller: &Caller) -> Result<Vec<Group>, Error> {
        let user = user_of(caller)?;
        let recalled;
        let caller = match self.settings.groups {
            GroupSource::Headers if caller.recalls_groups => {
                let Some(claims) = self.group_claims.recall(user) else {
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
        self.registry.saw(user.as_str(), name, &ids)?;
        Ok(groups)
    }

    /// Returns the groups of the caller, as the source that the settings name has them.
    pub(crate) fn asked_groups(&self, caller: &Caller) -> Result<Vec<Group>, Error> {
        match self.settings.groups {
            GroupSource::Local => match &caller.user {
                Some(user) => manage::groups_of(&self.registry, Some(user)),
                None => Ok(Vec::new()),
            },
            GroupSource::Headers => self.claimed_groups(caller),
            GroupSource::Openwebui => {
                let asked = self.chat_host().map(|chat_host| chat_host.groups(caller));
                match asked.transpose()?.flatten() {
                    Some(groups) => Ok(in_order(groups)),
                    // A link acts without its maker's credential: the groups that were seen last count.
                    None if !caller.groups.is_empty() => self.claimed_groups(caller),
                    None => Err(GroupError::Unasked.into()),
                }
            }
        }
    }

    /// Returns the groups that a gateway names, which says nothing about anybody else: members are
    /// those who were seen in a group.
    fn claimed_groups(&self, caller: &Caller) -> Result<Vec<Group>, Error> {
        let user = caller.user.as_ref().map_or("", |user| user.as_str());
        let mut groups = Vec::new();
        for claim in &caller.groups {
            let id = claim.id.as_str();
            let seen = self.registry.seen_members(id)?;
            let is_new = !seen.iter().any(|member| member.id == user);
            groups.push(Group {
                id: claim.id.clone(),
                name: claim.name.clone().unwrap_or_else(|| id.to_owned()),
                description: String::new(),
                member_count: seen.len() as u64 + u64::from(is_new),
            });
        }
        Ok(in_order(groups))
    }

    /// Discards the cached groups of the caller, if they may be old. Returns `true` if the next request
    /// asks again.
    fn forgets_groups(&self, caller: &Caller) -> bool {
        self.settings.groups == GroupSource::Openwebui
            && self
                .chat_host()
                .is_some_and(|chat_host| chat_host.forget_groups(caller))
    }

    /// Returns the groups of the caller for work that can do without them; `None` if there are no groups
    /// on this server, or if they cannot be asked for.
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

    /// Returns the group of the caller that the parameter `group` names, by id or by name.
    pub fn group(&self, caller: &Caller, name_or_id: Option<&str>) -> Result<Group, Error> {
        user_of(caller)?;
        let text = name_or_id.map(str::trim).unwrap_or_default();
        if text.is_empty() {
            return Err(GroupError::Missing.into());
        }
        if text.len() > NAME_MAX_BYTES || text.contains('/') || text.chars().any(char::is_control) {
            return Err(GroupError::invalid_id(text).into());
        }
        match group_among(text, &self.groups(caller)?) {
            Err(error) if error.code() == Code::GroupNotFound && self.forgets_groups(caller) => {
                group_among(text, &self.groups(caller)?)
            }
            answer => answer,
        }
    }

    /// Returns the members of a group of the caller. If the application that people chat in cannot be
    /// asked about them, those count who were seen in the group.
    pub fn members(&self, group: &Group) -> Result<Membership, Error> {
        let (registry, id) = (&self.registry, group.id.as_str());
        Ok(match self.settings.groups {
            GroupSource::Local => Membership::all(registry.local_members(id)?),
            GroupSource::Headers => Membership::all(registry.seen_members(id)?),
            GroupSource::Openwebui => {
                let asked = self.chat_host().map(|chat_host| chat_host.members(group));
                match asked.transpose()?.flatten() {
                    Some(members) => Membership::all(members),
                    None => Membership::some(registry.seen_members(id)?, group),
                }
            }
        })
    }

    /// Returns the number of members of a group of the caller: that of [`Store::members`], or the
    /// group's own count if the members cannot be listed now.
    #[must_use]
    pub fn member_count(&self, group: &Group) -> u64 {
        let members = self.members(group);
        members.map_or(group.member_count, |members| members.count)
    }
}

/// Returns the user; fails in shared mode, which has nobody to share with.
fn user_of(caller: &Caller) -> Result<&UserId, GroupError> {
    caller.user.as_ref().ok_or(GroupError::Unavailable)
}

/// Returns groups by name, each once.
fn in_order(mut groups: Vec<Group>) -> Vec<Group> {
    groups.sort_by_cached_key(|group| (without_accents(&group.name), group.id.clone()));
    groups.dedup_by(|a, b| a.id == b.id);
    groups
}

/// Returns the one of these groups that has an id or a name.
fn group_among(text: &str, groups: &[Group]) -> Result<Group, Error> {
    if let Some(group) = groups.iter().find(|group| group.id.as_str() == text) {
        return Ok(group.clone());
    }
    let called = |name: &dyn Fn(&str) -> bool| -> Vec<&Group> {
        groups.iter().filter(|group| name(&group.name)).collect()
    };
    let mut same = called(&|name| name == text);
    if same.is_empty() {
        let lower = text.to_lowercase();
        same = called(&|name| name.to_lowercase() == lower);
    }
    match same.as_slice() {
        [group] => Ok((*group).clone()),
        [] => Err(GroupError::unknown(text, groups).into()),
        _ => Err(GroupError::ambiguous(text, groups).into()),
    }
}
