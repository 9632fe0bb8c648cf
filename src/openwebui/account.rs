//! The account behind a credential, and groups with their members.
//!
//! Open WebUI is asked, and its answer counts for 20 seconds, also if nobody has such a credential:
//! a removed user loses access within that time, and a forged credential that is sent again costs
//! nothing. A missing answer is never remembered.
//!
//! Groups count for `openwebui_groups_ttl` seconds; a name that is not among them is asked for once more, so
//! that a new member need not wait.

use fileshed_core::directory::{Group, GroupId, Member};
use fileshed_core::identifier::is_short_text;
use fileshed_core::sign_in::Principal;
use fileshed_core::{Error, Role, UserId};
use serde::Deserialize;
use serde_json::json;
use sha2::{Digest as _, Sha256};

use super::client::{CallError, segment};
use super::error::SharedError;
use super::{ApiCredential, OpenWebUi, OpenWebUiError};

/// Somebody whom Open WebUI knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Account {
    /// The user, as Open WebUI describes them.
    pub(crate) principal: Principal,
    /// `true` until an administrator activates the account.
    pub(crate) is_pending: bool,
}

/// The role that Open WebUI calls so; none for one who waits for an administrator.
pub(crate) fn role(text: &str) -> Option<Role> {
    match text {
        "pending" => None,
        "admin" => Some(Role::Admin),
        _ => Some(Role::User),
    }
}

/// Returns a name or mail address if it may be used in a commit, otherwise `None`.
pub(crate) fn presentable(text: String) -> Option<String> {
    Some(text).filter(|text| !text.is_empty() && is_short_text(text))
}

/// A user in answers of Open WebUI.
#[derive(Deserialize)]
pub(super) struct AccountResponse {
    #[serde(default)]
    pub(super) id: String,
    name: Option<String>,
    pub(super) email: Option<String>,
    role: Option<String>,
}

impl AccountResponse {
    fn account(self) -> Option<Account> {
        let role = role(self.role.as_deref().unwrap_or("user"));
        Some(Account {
            principal: Principal {
                name: self.name.and_then(presentable),
                email: self.email.and_then(presentable),
                role: role.unwrap_or_default(),
                ..Principal::of(UserId::parse(&self.id).ok()?)
            },
            is_pending: role.is_none(),
        })
    }
}

/// Open WebUI has to be asked.
#[derive(Debug)]
pub(crate) struct NotRemembered;

impl OpenWebUi {
    /// Returns the account of a credential, or that it has none, if Open WebUI said so lately.
    pub(crate) fn remembered_account(
        &self,
        credential: &str,
    ) -> Result<Option<Account>, NotRemembered> {
        self.accounts.get(&key(credential)).ok_or(NotRemembered)
    }

    /// Returns the account of a credential; `None` if Open WebUI refuses it. `is_session` is `true` if
    /// it looks like one that a browser has. However many ask at once, Open WebUI is asked once.
    pub(crate) fn account(
        &self,
        credential: &str,
        is_session: bool,
    ) -> Result<Option<Account>, Error> {
        let asked = self.accounts.try_get_with(key(credential), || {
            self.ask_account(credential, is_session)
                .map_err(OpenWebUiError::Unasked)
        });
        Ok(asked.map_err(SharedError::from)?)
    }

    fn ask_account(
        &self,
        credential: &str,
        is_session: bool,
    ) -> Result<Option<Account>, CallError> {
        // Keys and what automations have are taken by the second address only, which an
        // administrator can close.
        let paths: &[&str] = if is_session {
            &["/api/v1/auths/", "/api/v1/users/user/status"]
        } else {
            &["/api/v1/users/user/status"]
        };
        for path in paths {
            match self.client.get::<AccountResponse>(credential, path) {
                Err(CallError::Status(400 | 401 | 403, _)) => {}
                answer => return Ok(answer?.account()),
            }
        }
        Ok(None)
    }

    /// Returns `true` if Open WebUI has this user, and not as one who waits for an administrator.
    pub(super) fn ask_user(&self, user: &UserId, key: &str) -> Result<bool, CallError> {
        if self.is_there(user, key)? {
            return Ok(true);
        }
        // A later version may answer so to everything: of the key's own user it must not.
        let own = self
            .ask_account(key, false)?
            .ok_or(CallError::status(403))?;
        if self.is_there(&own.principal.user, key)? {
            Ok(false)
        } else {
            Err(CallError::Unreadable(None))
        }
    }

    fn is_there(&self, user: &UserId, key: &str) -> Result<bool, CallError> {
        let user = segment(user.as_str()).ok_or(CallError::status(404))?;
        let path = format!("/api/v1/users/{user}");
        match self.client.get::<AccountResponse>(key, &path) {
            Ok(user) => Ok(user.role.as_deref().is_none_or(|text| role(text).is_some())),
            Err(CallError::Status(400 | 404, _)) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn key(credential: &str) -> [u8; 32] {
    Sha256::digest(credential).into()
}

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
struct MemberPage {
    items: Vec<Member>,
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
                let user = segment(user.as_str()).ok_or(CallError::status(404))?;
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
                // A name that no directory can have cannot be a group here.
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
        let group = segment(group.as_str()).ok_or(CallError::status(404))?;
        let mut members: Vec<Member> = Vec::new();
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
                Err(CallError::Status(404 | 405, _) | CallError::Unreadable(None))
                    if number == 1 =>
                {
                    let path = format!("/api/v1/groups/id/{group}/users");
                    members = self.client.post(key.reveal(), &path, &json!({}))?;
                    break;
                }
                Err(error) => return Err(error),
            }
        }
        for member in &mut members {
            member.name.take_if(|name| name.is_empty());
        }
        Ok(members)
    }
}

#[cfg(test)]
mod tests {
    use fileshed_core::timings::OpenWebUiTimings;

    use super::super::remembered;
    use super::*;

    #[test]
    fn answers_count_for_seconds_in_bounded_space() {
        let known = remembered::<String, bool>(OpenWebUiTimings::STANDARD.account);
        let policy = known.policy();
        assert_eq!(
            policy.time_to_live(),
            Some(fileshed_core::timings::seconds(20))
        );
        // Reading an answer does not make it count longer.
        assert_eq!(policy.time_to_idle(), None);
        assert_eq!(policy.max_capacity(), Some(10_000));
    }

    #[test]
    fn an_answer_that_names_nobody_is_nobody() {
        let account = |text: &str| {
            let answer: AccountResponse = serde_json::from_str(text).expect("an answer");
            answer.account()
        };
        for text in ["{}", r#"{"id":""}"#, r#"{"id":" a"}"#] {
            assert_eq!(account(text), None, "{text}");
        }
        let text = r#"{"id":"a","name":"A\nB","email":"a@example.org","role":"pending"}"#;
        let expected = Account {
            principal: Principal {
                email: Some("a@example.org".to_owned()),
                ..Principal::of(UserId::parse("a").expect("an id"))
            },
            is_pending: true,
        };
        assert_eq!(account(text), Some(expected));
    }
}
