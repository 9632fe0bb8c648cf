//! Conversations of Open WebUI: the files that are attached to one, and those that it lists.
//!
//! A chat is JSON that its owner may write: it says which files there are, and nothing that it says
//! of them counts. With an administrator's key, whose answers are not held to the caller, chat and
//! files are used only where Open WebUI's own records say that they are the caller's.
//!
//! Open WebUI responds to a request for a deleted chat as to one for a chat that the caller may not see, so
//! one response proves nothing. A chat counts as gone only if the administrator's key confirms it three
//! times: the whole list of its owner's chats does not have it, its id is not found, and the list is still
//! shown after that.

use std::collections::{HashMap, HashSet};

use fileshed_core::chat_host::Attachment;
use fileshed_core::{Caller, Chat, UserId};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::client::{CallError, OpenWebUiClient, segment};
use super::file::{self, FileEntry};
use super::{ApiCredential, OpenWebUi};

/// Files of one chat that are looked at.
const FILES_MAX: usize = 500;

/// Pages of a list that are read to find gone chats; a user with more chats keeps the files of all.
const PAGES_MAX: usize = 1000;

/// Pages that are read to find titles: an older chat is shown by its id.
pub(super) const TITLED_PAGES_MAX: usize = 5;

/// Characters of a title that are kept.
const TITLE_MAX: usize = 100;

#[derive(Deserialize)]
pub(super) struct StoredChat {
    pub(super) user_id: String,
    pub(super) chat: ChatContent,
}

#[derive(Default, Deserialize)]
pub(super) struct ChatContent {
    #[serde(default)]
    history: Option<ChatHistory>,
    #[serde(default)]
    files: Value,
}

#[derive(Default, Deserialize)]
struct ChatHistory {
    #[serde(default, rename = "currentId")]
    current: Value,
    #[serde(default)]
    messages: HashMap<String, ChatMessage>,
}

#[derive(Deserialize)]
pub(super) struct ChatMessage {
    #[serde(default)]
    role: Value,
    #[serde(default, rename = "parentId")]
    parent: Value,
    #[serde(default)]
    timestamp: Value,
    #[serde(default)]
    pub(super) files: Value,
    #[serde(default)]
    pub(super) embeds: Value,
}

/// A chat in a list.
#[derive(Deserialize)]
pub(super) struct ListedChat {
    pub(super) id: String,
    title: Option<String>,
}

impl ListedChat {
    /// Returns the title as it may be shown; `None` if it has no visible characters.
    pub(super) fn shown_title(&self) -> Option<String> {
        let visible = self.title.as_deref()?.chars().filter(|c| !c.is_control());
        let visible: String = visible.take(TITLE_MAX).collect();
        Some(visible.trim().to_owned()).filter(|title| !title.is_empty())
    }
}

impl OpenWebUi {
    /// Returns the message that is being written, as it is kept.
    pub(super) fn message(&self, caller: &Caller, key: &str) -> Option<ChatMessage> {
        let stored = stored_chat(&self.client, key, &kept(&caller.chat)?).ok()?;
        let mut messages = stored.chat.history?.messages;
        messages.remove(caller.message.as_deref()?)
    }

    /// Hangs a file on the answer that is being written. Returns `true` if that worked.
    pub(super) fn attach(&self, caller: &Caller, key: &str, item: &Value) -> bool {
        let Some(path) = events(caller) else {
            return false;
        };
        let tell = |kind: &str, files: &Value| {
            let event = json!({"type": kind, "data": {"files": files}});
            self.tell(key, &path, &event)
        };
        if !tell("files", &json!([item])) {
            return false;
        }
        // The chat keeps the files of all such events, the newest first; a browser that is open
        // shows those of the last one: it is told of all in the order in which they came, and of no
        // file as it was before.
        let message = self.message(caller, key);
        if let Some(Value::Array(mut files)) = message.map(|message| message.files)
            && files.len() > 1
        {
            file::keep_newest(&mut files);
            files.reverse();
            let _only_shown = tell("chat:message:files", &files.into());
        }
        true
    }

    /// Sends an event of a message. Returns `true` if it was taken.
    pub(super) fn tell(&self, key: &str, path: &str, event: &Value) -> bool {
        let told = self.client.post::<Option<bool>>(key, path, event);
        let told =
            told.inspect_err(|error| tracing::debug!(%error, "the message accepts no event"));
        matches!(told, Ok(Some(true)))
    }

    /// Keeps those conversations that are gone.
    pub(super) fn retain_gone(
        &self,
        user: &UserId,
        key: ApiCredential<'_>,
        chats: &mut Vec<Chat>,
    ) -> Result<(), CallError> {
        let listed = self.listed_chats(user, key)?;
        chats.retain(|chat| !listed.contains(chat.as_str()));
        let mut unclear = None;
        chats.retain(|chat| {
            let path = format!("/api/v1/chats/{}", chat.as_str());
            match self.client.get::<Map<String, Value>>(key.reveal(), &path) {
                Ok(_) => false,
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
    fn listed_chats(
        &self,
        user: &UserId,
        key: ApiCredential<'_>,
    ) -> Result<HashSet<String>, CallError> {
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

    /// Returns a page of the list of a user's chats, those that changed last first.
    pub(super) fn chat_page(
        &self,
        user: &UserId,
        key: ApiCredential<'_>,
        number: usize,
    ) -> Result<Vec<ListedChat>, CallError> {
        let path = match (key, segment(user.as_str())) {
            // This endpoint lists the chats of the key's owner in any case.
            (ApiCredential::Own(_), _) => {
                format!("/api/v1/chats/list?page={number}&include_pinned=true&include_folders=true")
            }
            (ApiCredential::Admin(_), Some(user)) => {
                format!("/api/v1/chats/list/user/{user}?page={number}")
            }
            (ApiCredential::Admin(_), None) => return Ok(Vec::new()),
        };
        self.client.get(key.reveal(), &path)
    }
}

/// `true` if Open WebUI gives such ids to chats and users.
pub(super) fn is_id(text: &str) -> bool {
    uuid::Uuid::try_parse(text).is_ok()
}

/// Returns a chat, whose id is a segment of a path.
pub(super) fn stored_chat(
    client: &OpenWebUiClient,
    key: &str,
    chat: &str,
) -> Result<StoredChat, CallError> {
    let chat = client.get(key, &format!("/api/v1/chats/{chat}"));
    chat.inspect_err(|error| tracing::debug!(%error, "the chat could not be read"))
}

/// The last answer in a conversation of this user, as a segment of a path.
pub(super) fn last_answer(
    client: &OpenWebUiClient,
    key: &str,
    chat: &str,
    user: &UserId,
) -> Option<String> {
    let kept = stored_chat(client, key, chat).ok();
    let kept = kept.filter(|kept| kept.user_id == user.as_str())?;
    let mut history = kept.chat.history?;
    let mut id = history.current;
    loop {
        let name = id.as_str()?;
        // A chat may name a circle; none is taken twice.
        let message = history.messages.remove(name)?;
        if message.role == "assistant" {
            return segment(name);
        }
        id = message.parent;
    }
}

/// The conversation as a segment of a path, if Open WebUI keeps it: temporary ones and channels
/// have a prefix.
pub(super) fn kept(chat: &Chat) -> Option<String> {
    let text = chat.as_str();
    let kept = text != Chat::DEFAULT && !text.contains(':');
    kept.then(|| segment(text)).flatten()
}

/// Returns the path for events of the message that is being written; `None` in conversations that
/// are not kept.
pub(super) fn events(caller: &Caller) -> Option<String> {
    let (chat, message) = (kept(&caller.chat)?, segment(caller.message.as_deref()?)?);
    Some(format!("/api/v1/chats/{chat}/messages/{message}/event"))
}

/// Returns all files of a chat, each once, in the order in which they came; of too many the last.
pub(super) fn files(chat: &ChatContent, id: &Chat) -> Vec<Attachment> {
    let messages = chat.history.iter().flat_map(|history| &history.messages);
    let mut messages: Vec<_> = messages.collect();
    messages.sort_by(|(id, one), (other_id, other)| {
        let (one, other) = (one.timestamp.as_f64(), other.timestamp.as_f64());
        let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
        one.total_cmp(&other).then_with(|| id.cmp(other_id))
    });
    let of_messages = messages.into_iter().flat_map(|(_, message)| {
        let by_model = message.role == "assistant";
        let items = list(&message.files).map(FileEntry);
        // Skip files that this server attached to a response: they came from here.
        items.filter(move |item| !(by_model && item.is_ours()))
    });
    let items = of_messages.chain(list(&chat.files).map(FileEntry));
    // A copy of a chat also lists the files that a terminal brought into the original.
    let items = items.filter(|item| !item.is_in_another_chat(id));
    let (mut seen, mut images) = (HashSet::new(), 0);
    let mut files: Vec<Attachment> = items
        .filter_map(|item| item.attachment(&mut seen, &mut images))
        .collect();
    files.split_off(files.len().saturating_sub(FILES_MAX))
}

fn list(files: &Value) -> impl Iterator<Item = &Value> {
    files.as_array().into_iter().flatten()
}
