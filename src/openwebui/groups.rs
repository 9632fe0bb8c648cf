//! Groups of Open WebUI and their members.
//!
//! Answers count for `openwebui_groups_ttl` seconds; a name that is not among them is asked for
//! once more, so that a new member need not wait.

use fileshed_core::UserId;
use fileshed_core::directory::{Group, GroupId, Member};
use serde::Deserialize;
use serde_json::json;

use super::client::{CallError, segment};
use super::{ApiCredential, OpenWebUi};

/// Pages of members that are read, of some thirty each.
const PAGES_MAX: u32 = 100;

/// A group in lists of Open WebUI.
#[derive(Deserialize)]
pub(super) struct ListedGroup {
    pub(super) id: String,
    pub(super) name: String,
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
    pub(super) fn ask_groups(
        &self,
        user: &UserId,
        key: ApiCredential<'_>,
    ) -> Result<Vec<Group>, CallError> {
        let whose = match key {
            ApiCredential::Own(_) => "groups".to_owned(),
            ApiCredential::Admin(_) => {
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

    pub(super) fn ask_members(
        &self,
        group: &GroupId,
        key: ApiCredential<'_>,
    ) -> Result<Vec<Member>, CallError> {
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
