//! Chats that Open WebUI has no more.
//!
//! It answers to a chat that was deleted as it does to one that it shows nobody, so one answer says
//! nothing. A chat counts as gone only where the whole list of its owner's chats is shown to the
//! administrator's key and does not have it, it is not shown by its id either, and the list is still
//! shown after that.

use std::collections::HashSet;

use fileshed_core::{Chat, UserId};
use serde::Deserialize;

use super::client::{CallError, segment};
use super::{Key, OpenWebUi};

/// Pages of a list that are asked for; who has more chats keeps what is in them.
const PAGES_MAX: usize = 1000;

#[derive(Deserialize)]
struct ListedChat {
    id: String,
}

#[derive(Deserialize)]
struct AnyChat {}

impl OpenWebUi {
    /// Those of a user's chats that Open WebUI clearly does not have. An id that it gives no chat
    /// is none of its.
    pub(super) fn gone_chats(&self, user: &UserId, chats: Vec<Chat>) -> Vec<Chat> {
        let (Some(Key::Admin(key)), Some(owner)) = (self.admin_key(), id(user.as_str())) else {
            return Vec::new();
        };
        let of_its_own = chats.into_iter().filter(|chat| id(chat.as_str()).is_some());
        let mut chats: Vec<Chat> = of_its_own.collect();
        if chats.is_empty() {
            return chats;
        }
        let kept = self.expect_gone(&owner, key, &mut chats);
        if let Err(error) = kept {
            tracing::debug!(%error, "it is not known which chats are there");
            chats.clear();
        }
        chats
    }

    /// Leaves those that are gone.
    fn expect_gone(&self, owner: &str, key: &str, chats: &mut Vec<Chat>) -> Result<(), CallError> {
        let listed = self.listed_chats(owner, key)?;
        chats.retain(|chat| !listed.contains(chat.as_str()));
        let mut unclear = None;
        chats.retain(|chat| {
            let path = format!("/api/v1/chats/{}", chat.as_str());
            match self.client.get::<AnyChat>(key, &path) {
                Ok(AnyChat {}) => false,
                Err(error) if error.is_absence() => true,
                Err(error) => {
                    unclear = Some(error);
                    false
                }
            }
        });
        if !chats.is_empty() {
            self.page(owner, key, 1)?;
        }
        unclear.map_or(Ok(()), Err)
    }

    /// The ids of all chats of a user, those in the archive too.
    fn listed_chats(&self, owner: &str, key: &str) -> Result<HashSet<String>, CallError> {
        let mut listed = HashSet::new();
        for number in 1..=PAGES_MAX {
            let page = self.page(owner, key, number)?;
            let before = listed.len();
            listed.extend(page.into_iter().map(|chat| chat.id));
            if listed.len() == before {
                return Ok(listed);
            }
        }
        Err(CallError::Unreadable(None))
    }

    fn page(&self, owner: &str, key: &str, number: usize) -> Result<Vec<ListedChat>, CallError> {
        let path = format!("/api/v1/chats/list/user/{owner}?page={number}");
        self.client.get(key, &path)
    }
}

/// What Open WebUI gives chats and users, as a segment of a path.
fn id(text: &str) -> Option<String> {
    uuid::Uuid::try_parse(text).ok()?;
    segment(text)
}
