//! Chats that Open WebUI lists: their titles, and those that it has no more.
//!
//! It answers to a chat that was deleted as it does to one that it shows nobody, so one answer says
//! nothing. A chat counts as gone only where the whole list of its owner's chats is shown to the
//! administrator's key and does not have it, it is not shown by its id either, and the list is still
//! shown after that.

use std::collections::{HashMap, HashSet};

use fileshed_core::{Caller, Chat, UserId};
use serde::Deserialize;

use super::client::{CallError, segment};
use super::{Key, OpenWebUi};

/// Pages of a list that are read to find gone chats; a user with more chats keeps the files of all.
const PAGES_MAX: usize = 1000;

/// Pages that are read to find titles: an older chat is shown by its id.
const TITLED_PAGES_MAX: usize = 5;

/// Characters of a title that are kept.
const TITLE_MAX: usize = 100;

#[derive(Deserialize)]
struct ListedChat {
    id: String,
    title: Option<String>,
}

#[derive(Deserialize)]
struct AnyChat {}

impl OpenWebUi {
    /// Returns those of a user's chats that Open WebUI clearly does not have. An id that it gives no
    /// chat is none of its.
    pub(super) fn gone_chats(&self, user: &UserId, mut chats: Vec<Chat>) -> Vec<Chat> {
        chats.retain(|chat| is_id(chat.as_str()));
        let Some(key) = self.admin_key().filter(|_| is_id(user.as_str())) else {
            return Vec::new();
        };
        if chats.is_empty() {
            return chats;
        }
        if let Err(error) = self.retain_gone(user, key, &mut chats) {
            tracing::debug!(%error, "it is not known which chats are there");
            chats.clear();
        }
        chats
    }

    /// Leaves those that are gone.
    fn retain_gone(
        &self,
        user: &UserId,
        key: Key<'_>,
        chats: &mut Vec<Chat>,
    ) -> Result<(), CallError> {
        let listed = self.listed_chats(user, key)?;
        chats.retain(|chat| !listed.contains(chat.as_str()));
        let mut unclear = None;
        chats.retain(|chat| {
            let path = format!("/api/v1/chats/{}", chat.as_str());
            match self.client.get::<AnyChat>(key.reveal(), &path) {
                Ok(AnyChat {}) => false,
                Err(error) if error.is_absence() => true,
                Err(error) => {
                    unclear = Some(error);
                    false
                }
            }
        });
        if !chats.is_empty() {
            self.chat_page(user, key, 1)?;
        }
        unclear.map_or(Ok(()), Err)
    }

    /// Returns the ids of all chats of a user, those in the archive too.
    fn listed_chats(&self, user: &UserId, key: Key<'_>) -> Result<HashSet<String>, CallError> {
        let mut listed = HashSet::new();
        for number in 1..=PAGES_MAX {
            let page = self.chat_page(user, key, number)?;
            let before = listed.len();
            listed.extend(page.into_iter().map(|chat| chat.id));
            if listed.len() == before {
                return Ok(listed);
            }
        }
        Err(CallError::Unreadable(None))
    }

    /// Returns the titles of these chats of the caller, as far as Open WebUI says them.
    pub(super) fn titles_of(&self, caller: &Caller, chats: &[Chat]) -> HashMap<Chat, String> {
        let mut titles = HashMap::new();
        let mut wanted: Vec<&Chat> = chats.iter().collect();
        wanted.retain(|chat| is_id(chat.as_str()));
        let (Some(user), Some(key)) = (&caller.user, self.key(caller)) else {
            return titles;
        };
        for number in 1..=TITLED_PAGES_MAX {
            if wanted.is_empty() {
                break;
            }
            let page = self.chat_page(user, key, number);
            let page = page.inspect_err(|error| {
                tracing::debug!(%error, "it is not known what chats are called");
            });
            let page = page.unwrap_or_default();
            if page.is_empty() {
                break;
            }
            for chat in page {
                let known = wanted.iter().position(|id| id.as_str() == chat.id);
                if let (Some(at), Some(title)) = (known, chat.title.as_deref().and_then(readable)) {
                    titles.insert(wanted.swap_remove(at).clone(), title);
                }
            }
        }
        titles
    }

    /// Returns a page of the list of a user's chats, those that changed last first.
    fn chat_page(
        &self,
        user: &UserId,
        key: Key<'_>,
        number: usize,
    ) -> Result<Vec<ListedChat>, CallError> {
        let path = match (key, segment(user.as_str())) {
            // This endpoint lists the chats of the key's owner in any case.
            (Key::Own(_), _) => {
                format!("/api/v1/chats/list?page={number}&include_pinned=true&include_folders=true")
            }
            (Key::Admin(_), Some(user)) => format!("/api/v1/chats/list/user/{user}?page={number}"),
            (Key::Admin(_), None) => return Ok(Vec::new()),
        };
        self.client.get(key.reveal(), &path)
    }
}

/// `true` if Open WebUI gives such ids to chats and users.
fn is_id(text: &str) -> bool {
    uuid::Uuid::try_parse(text).is_ok()
}

/// Returns a title as it may be shown; `None` if it has no visible characters.
fn readable(title: &str) -> Option<String> {
    let readable = title.chars().filter(|c| !c.is_control());
    let readable: String = readable.take(TITLE_MAX).collect();
    Some(readable.trim().to_owned()).filter(|title| !title.is_empty())
}
