//! The files that are attached to a conversation.
//!
//! A chat is JSON that its owner may write: it says which files there are, and nothing that it says
//! of them counts. With an administrator's key, whose answers are not held to the caller, chat and
//! files are used only where Open WebUI's own records say that they are the caller's.

use std::collections::{HashMap, HashSet};
use std::io::Read;

use fileshed_core::chat_host::{Attached, Attachment, Sink};
use fileshed_core::{Caller, Chat, Error, UserId};
use serde::Deserialize;
use serde_json::Value;

use super::client::{CallError, Client, segment};
use super::item::FileEntry;
use super::{Key, OpenWebUi, OpenWebUiError};

/// Files of one chat that are looked at.
const FILES_MAX: usize = 500;

/// Bytes that are passed on at once.
const PIECE: usize = 64 * 1024;

#[derive(Deserialize)]
struct StoredChat {
    user_id: String,
    chat: ChatContent,
}

#[derive(Default, Deserialize)]
struct ChatContent {
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
struct ChatMessage {
    #[serde(default)]
    role: Value,
    #[serde(default, rename = "parentId")]
    parent: Value,
    #[serde(default)]
    timestamp: Value,
    #[serde(default)]
    files: Value,
    #[serde(default)]
    embeds: Value,
}

impl OpenWebUi {
    pub(super) fn attachments_of(&self, caller: &Caller) -> Result<Attached, Error> {
        let (Some(user), Some(chat)) = (&caller.user, kept(&caller.chat)) else {
            return Ok(Attached::NotKept);
        };
        let Some(key) = self.key(caller) else {
            return Ok(Attached::NoCredential);
        };
        let path = format!("/api/v1/chats/{chat}");
        match self.client.get::<StoredChat>(key.reveal(), &path) {
            Ok(kept) if kept.user_id == user.as_str() => {
                Ok(Attached::Files(files(&kept.chat, &caller.chat)))
            }
            Ok(_) => Ok(Attached::Files(Vec::new())),
            Err(error) if error.is_absence() => {
                tracing::warn!(%error, "Open WebUI does not show the chat");
                Ok(Attached::Files(Vec::new()))
            }
            Err(error) => Err(OpenWebUiError::of("the files of this conversation", error).into()),
        }
    }

    /// The files that hang on the message that is being written, as it is kept.
    pub(super) fn files_of_message(&self, caller: &Caller, key: &str) -> Option<Value> {
        Some(self.message(caller, key)?.files)
    }

    /// The pages that show at the message that is being written.
    pub(super) fn pages_of_message(&self, caller: &Caller, key: &str) -> Vec<Value> {
        match self.message(caller, key).map(|message| message.embeds) {
            Some(Value::Array(pages)) => pages,
            _ => Vec::new(),
        }
    }

    fn message(&self, caller: &Caller, key: &str) -> Option<ChatMessage> {
        let path = format!("/api/v1/chats/{}", kept(&caller.chat)?);
        let kept = self.client.get::<StoredChat>(key, &path);
        let kept = kept.inspect_err(|error| tracing::debug!(%error, "the chat is not shown"));
        let mut messages = kept.ok()?.chat.history?.messages;
        messages.remove(caller.message.as_deref()?)
    }

    pub(super) fn fetch_file(
        &self,
        caller: &Caller,
        file: &Attachment,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        let none = || OpenWebUiError::NoFile(file.name.clone());
        let failed = |error: CallError| match error {
            error if error.is_absence() => none(),
            error => OpenWebUiError::of("the file", error),
        };
        let (key, id) = (self.key(caller), segment(&file.id));
        let (key, id) = key.zip(id).ok_or_else(none)?;
        if let Key::Admin(_) = key {
            let record = self.record(key, &id).map_err(failed)?;
            let owner = record.map(|record| record.user_id);
            if owner.as_deref() != caller.user.as_ref().map(UserId::as_str) {
                return Err(none().into());
            }
        }
        let path = format!("/api/v1/files/{id}/content");
        let mut content = self.client.bytes(key.reveal(), &path).map_err(failed)?;
        let mut piece = vec![0; PIECE];
        loop {
            let read = content
                .read(&mut piece)
                .map_err(OpenWebUiError::BrokenOff)?;
            if read == 0 {
                return Ok(());
            }
            sink(&piece[..read])?;
        }
    }
}

/// The last answer in a conversation of this user, as a segment of a path.
pub(super) fn last_answer(client: &Client, key: &str, chat: &str, user: &UserId) -> Option<String> {
    let kept = client.get::<StoredChat>(key, &format!("/api/v1/chats/{chat}"));
    let kept = kept.inspect_err(|error| tracing::debug!(%error, "the chat is not shown"));
    let kept = kept.ok().filter(|kept| kept.user_id == user.as_str())?;
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

/// All files of a chat, each once, in the order in which they came; of too many the last.
fn files(chat: &ChatContent, id: &Chat) -> Vec<Attachment> {
    let messages = chat.history.iter().flat_map(|history| &history.messages);
    let mut messages: Vec<_> = messages.collect();
    messages.sort_by(|(id, one), (other_id, other)| {
        let (one, other) = (one.timestamp.as_f64(), other.timestamp.as_f64());
        let (one, other) = (one.unwrap_or_default(), other.unwrap_or_default());
        one.total_cmp(&other).then_with(|| id.cmp(other_id))
    });
    let of_messages = messages.into_iter().flat_map(|(_, message)| {
        let by_model = message.role == "assistant";
        let items = list(&message.files).map(FileEntry::read);
        // What this server hung on an answer came from here.
        items.filter(move |item| !(by_model && item.is_ours()))
    });
    let items = of_messages.chain(list(&chat.files).map(FileEntry::read));
    // A copy of a chat lists what a terminal brought into the other one.
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
