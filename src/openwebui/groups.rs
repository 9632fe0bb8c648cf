//! Groups of Open WebUI and their members.
//!
//! Answers count for `openwebui_groups_ttl` seconds; a name that is not among them is asked for
//! once more, so that a new member need not wait.

use fileshed_core::directory::{Group, GroupId, Member};
use fileshed_core::{Caller, Error, UserId};
use serde::Deserialize;
use serde_json::json;

use super::client::{CallError, segment};
use super::error::SharedError;
use super::{Key, OpenWebUi, OpenWebUiError};

/// Pages of members that are read, of some thirty each.
const PAGES_MAX: u32 = 100;

#[derive(Deserialize)]
struct ListedGroup {
    id: String,
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    member_count: Option<u64>,
}

#[derive(Deserialize)]
struct ListedMember {
    id: String,
    name: Option<String>,
}

#[derive(Deserialize)]
struct MemberPage {
    items: Vec<ListedMember>,
    total: u64,
}

impl OpenWebUi {
    /// The groups of the caller; nothing where there is no credential to ask with.
    pub(super) fn groups_of(&self, caller: &Caller) -> Result<Option<Vec<Group>>, Error> {
        let (Some(user), Some(key)) = (&caller.user, self.key(caller)) else {
            return Ok(None);
        };
        let asked = self.groups.try_get_with(user.as_str().to_owned(), || {
            let groups = self.ask_groups(user, key).map_err(away("your groups"))?;
            Ok::<_, OpenWebUiError>((self.clock.instant(), groups))
        });
        let (_, groups) = asked.map_err(SharedError::from)?;
        Ok(Some(groups))
    }

    /// Forgets the groups of the caller, unless they were asked for just now.
    pub(super) fn forget_groups_of(&self, caller: &Caller) -> bool {
        let user = caller.user.as_ref().map_or("", |user| user.as_str());
        let known = self.groups.get(user);
        let is_old =
            known.is_some_and(|(asked, _)| self.clock.elapsed(asked) >= self.timings.groups);
        if is_old {
            self.groups.invalidate(user);
        }
        is_old
    }

    /// The members of a group; nothing without an administrator's key.
    pub(super) fn members_of(&self, group: &Group) -> Result<Option<Vec<Member>>, Error> {
        let Some(key) = self.admin_key() else {
            return Ok(None);
        };
        let asked = self.members.try_get_with(group.id.as_str().to_owned(), || {
            let members = self.ask_members(&group.id, key);
            members.map_err(away("the members of the group"))
        });
        Ok(Some(asked.map_err(SharedError::from)?))
    }

    fn ask_groups(&self, user: &UserId, key: Key<'_>) -> Result<Vec<Group>, CallError> {
        let whose = match key {
            Key::Own(_) => "groups".to_owned(),
            Key::Admin(_) => {
                let user = segment(user.as_str()).ok_or(CallError::Status(404))?;
                format!("{user}/groups")
            }
        };
        let path = format!("/api/v1/users/{whose}?include_inherited=true");
        let listed: Vec<ListedGroup> = self.client.get(key.reveal(), &path)?;
        // Only this list has numbers; without them the groups are still the groups.
        let counted = self.client.get(key.reveal(), "/api/v1/groups/");
        let counted: Vec<ListedGroup> = counted.unwrap_or_default();
        let count = |id: &str| {
            let same = counted.iter().find(|group| group.id == id);
            same.and_then(|group| group.member_count)
        };
        let group = |listed: ListedGroup| {
            Some(Group {
                // What cannot name a directory cannot be a group here.
                id: GroupId::parse(&listed.id).ok()?,
                member_count: count(&listed.id).unwrap_or(1),
                name: Some(listed.name.trim().to_owned())
                    .filter(|name| !name.is_empty())
                    .unwrap_or(listed.id),
                description: listed.description.unwrap_or_default(),
            })
        };
        Ok(listed.into_iter().filter_map(group).collect())
    }

    fn ask_members(&self, group: &GroupId, key: Key<'_>) -> Result<Vec<Member>, CallError> {
        let group = segment(group.as_str()).ok_or(CallError::Status(404))?;
        let mut members: Vec<ListedMember> = Vec::new();
        for number in 1..=PAGES_MAX {
            let path =
                format!("/api/v1/groups/id/{group}/members?membership=effective&page={number}");
            match self.client.get::<MemberPage>(key.reveal(), &path) {
                Ok(page) => {
                    let last = page.items.is_empty();
                    members.extend(page.items);
                    if last || members.len() as u64 >= page.total {
                        break;
                    }
                }
                // Before 0.10 there are only members that are in the group itself.
                Err(CallError::Status(404 | 405) | CallError::Unreadable(None)) if number == 1 => {
                    let path = format!("/api/v1/groups/id/{group}/users");
                    members = self.client.post(key.reveal(), &path, &json!({}))?;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        let member = |listed: ListedMember| Member {
            id: listed.id,
            name: listed.name.filter(|name| !name.is_empty()),
        };
        Ok(members.into_iter().map(member).collect())
    }
}

fn away(what: &'static str) -> impl Fn(CallError) -> OpenWebUiError {
    move |error| OpenWebUiError::of(what, error)
}
