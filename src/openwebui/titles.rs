//! What chats are called.
//!
//! Open WebUI lists the chats of a person, those that changed last first. Only so many pages are
//! asked for: an older chat is shown by its id.

use std::collections::HashMap;

use fileshed_core::{Caller, Chat, UserId};
use serde::Deserialize;

use super::client::{CallError, segment};
use super::{Key, OpenWebUi};

/// Pages of a list that are asked for.
const PAGES_MAX: usize = 5;

/// Characters of a title that are kept.
const TITLE_MAX: usize = 100;

#[derive(Deserialize)]
struct TitledChat {
    id: String,
    title: String,
}

impl OpenWebUi {
    /// The titles of these chats of the caller, as far as Open WebUI says them.
    pub(super) fn titles_of(&self, caller: &Caller, chats: &[Chat]) -> HashMap<Chat, String> {
        let mut titles = HashMap::new();
        let mut wanted: Vec<&Chat> = chats.iter().collect();
        wanted.retain(|chat| uuid::Uuid::try_parse(chat.as_str()).is_ok());
        let (Some(user), Some(key)) = (&caller.user, self.key(caller)) else {
            return titles;
        };
        for page in 1..=PAGES_MAX {
            if wanted.is_empty() {
                break;
            }
            match self.titled_chats(user, key, page) {
                Ok(listed) if listed.is_empty() => break,
                Ok(listed) => {
                    for chat in listed {
                        let known = wanted.iter().position(|id| id.as_str() == chat.id);
                        let title = readable(&chat.title);
                        if let (Some(at), Some(title)) = (known, title) {
                            titles.insert(wanted.swap_remove(at).clone(), title);
                        }
                    }
                }
                Err(error) => {
                    tracing::debug!(%error, "it is not known what chats are called");
                    break;
                }
            }
        }
        titles
    }

    fn titled_chats(
        &self,
        user: &UserId,
        key: Key<'_>,
        page: usize,
    ) -> Result<Vec<TitledChat>, CallError> {
        let path = match (key, segment(user.as_str())) {
            // What this answers is the caller's in any case.
            (Key::Own(_), _) => {
                format!("/api/v1/chats/list?page={page}&include_pinned=true&include_folders=true")
            }
            (Key::Admin(_), Some(user)) => format!("/api/v1/chats/list/user/{user}?page={page}"),
            (Key::Admin(_), None) => return Ok(Vec::new()),
        };
        self.client.get(key.reveal(), &path)
    }
}

/// A title as it may be shown; nothing where it says nothing.
fn readable(title: &str) -> Option<String> {
    let readable = title.chars().filter(|c| !c.is_control());
    let readable: String = readable.take(TITLE_MAX).collect();
    Some(readable.trim().to_owned()).filter(|title| !title.is_empty())
}
