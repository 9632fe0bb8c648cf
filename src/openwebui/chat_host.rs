//! The core's `ChatHost` trait, implemented by requests to Open WebUI.

use std::collections::HashMap;
use std::io::Read;
use std::sync::atomic::AtomicBool;

use fileshed_core::chat_host::{
    Attached, Attachment, ByteSink, ChatHost, ChatStatusLine, Publication, Published, Task,
};
use fileshed_core::directory::{Group, Member};
use fileshed_core::{Caller, Chat, Error, Secret, UserId};
use serde_json::{Value, json};

use super::chat::{self, TITLED_PAGES_MAX, events, is_id, kept};
use super::client::{CallError, segment};
use super::error::SharedError;
use super::file::{self, MARK, Record};
use super::multipart::{MultipartForm, SizedFile};
use super::status::{ChatEvent, RunningTask, StatusEvent};
use super::upload_notice::UploadNotice;
use super::{ApiCredential, OpenWebUi, OpenWebUiError};

/// The name of the source that links a message to what it changed.
const CHANGES: &str = "Changed files";

/// Bytes of a file that are passed on at once.
const PIECE: usize = 64 * 1024;

impl ChatHost for OpenWebUi {
    /// Asks with the administrator's key. Ids that Open WebUI gives nobody belong to programs.
    fn has_account(&self, user: &UserId) -> Option<bool> {
        let key = self.admin_key().filter(|_| is_id(user.as_str()))?.reveal();
        let asked = self
            .users
            .try_get_with(user.as_str().to_owned(), || self.ask_user(user, key));
        asked
            .inspect_err(
                |error| tracing::debug!(%error, "the presence of a user could not be read"),
            )
            .ok()
    }

    /// Returns those of a user's chats that Open WebUI clearly does not have. An id that it gives no
    /// chat is none of its.
    fn gone_conversations(&self, user: &UserId, mut chats: Vec<Chat>) -> Vec<Chat> {
        chats.retain(|chat| is_id(chat.as_str()));
        let Some(key) = self.admin_key().filter(|_| is_id(user.as_str())) else {
            return Vec::new();
        };
        if chats.is_empty() {
            return chats;
        }
        if let Err(error) = self.retain_gone(user, key, &mut chats) {
            tracing::debug!(%error, "the list of chats could not be read");
            chats.clear();
        }
        chats
    }

    fn titles(&self, caller: &Caller, chats: &[Chat]) -> HashMap<Chat, String> {
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
                tracing::debug!(%error, "the titles of chats could not be read");
            });
            let page = page.unwrap_or_default();
            if page.is_empty() {
                break;
            }
            for chat in page {
                let known = wanted.iter().position(|id| id.as_str() == chat.id);
                if let (Some(at), Some(title)) = (known, chat.shown_title()) {
                    titles.insert(wanted.swap_remove(at).clone(), title);
                }
            }
        }
        titles
    }

    fn groups(&self, caller: &Caller) -> Result<Option<Vec<Group>>, Error> {
        let (Some(user), Some(key)) = (&caller.user, self.key(caller)) else {
            return Ok(None);
        };
        let asked = self.groups.try_get_with(user.as_str().to_owned(), || {
            let groups = self.ask_groups(user, key);
            let groups = groups.map_err(|error| OpenWebUiError::of("your groups", error))?;
            Ok::<_, OpenWebUiError>((self.client.clock.instant(), groups))
        });
        let (_, groups) = asked.map_err(SharedError::from)?;
        Ok(Some(groups))
    }

    /// Forgets the groups of the caller, unless they were asked for just now.
    fn forget_groups(&self, caller: &Caller) -> bool {
        let user = caller.user.as_ref().map_or("", |user| user.as_str());
        let (clock, fresh) = (&self.client.clock, self.client.timings.groups);
        let known = self.groups.get(user);
        let is_old = known.is_some_and(|(asked, _)| clock.elapsed(asked) >= fresh);
        if is_old {
            self.groups.invalidate(user);
        }
        is_old
    }

    fn members(&self, group: &Group) -> Result<Option<Vec<Member>>, Error> {
        let Some(key) = self.admin_key() else {
            return Ok(None);
        };
        let asked = self.members.try_get_with(group.id.as_str().to_owned(), || {
            let members = self.ask_members(&group.id, key);
            members.map_err(|error| OpenWebUiError::of("the members of the group", error))
        });
        Ok(Some(asked.map_err(SharedError::from)?))
    }

    fn attachments(&self, caller: &Caller) -> Result<Attached, Error> {
        let (Some(user), Some(chat)) = (&caller.user, kept(&caller.chat)) else {
            return Ok(Attached::NotKept);
        };
        let Some(key) = self.key(caller) else {
            return Ok(Attached::NoCredential);
        };
        match chat::stored_chat(&self.client, key.reveal(), &chat) {
            Ok(kept) if kept.user_id == user.as_str() => {
                Ok(Attached::Files(chat::files(&kept.chat, &caller.chat)))
            }
            Ok(_) => Ok(Attached::Files(Vec::new())),
            Err(error) if error.is_absence() => {
                tracing::warn!(%error, "Open WebUI does not show the chat");
                Ok(Attached::Files(Vec::new()))
            }
            Err(error) => Err(OpenWebUiError::of("the files of this conversation", error).into()),
        }
    }

    fn fetch(&self, caller: &Caller, file: &Attachment, sink: ByteSink<'_>) -> Result<(), Error> {
        let none = || OpenWebUiError::NoFile(file.name.clone());
        let failed = |error: CallError| match error {
            error if error.is_absence() => none(),
            error => OpenWebUiError::of("the file", error),
        };
        let (key, id) = (self.key(caller), segment(&file.id));
        let (key, id) = key.zip(id).ok_or_else(none)?;
        if let ApiCredential::Admin(_) = key {
            let record = self.record(key, &file.id).map_err(failed)?;
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

    fn can_publish(&self, caller: &Caller) -> bool {
        // The user could not open a file that an administrator's key uploads.
        caller.credential.is_some()
    }

    fn publish(
        &self,
        caller: &Caller,
        file: &Publication<'_>,
        content: &mut (dyn Read + Send),
    ) -> Result<Published, Error> {
        let own = caller.credential.as_ref();
        let own = own.ok_or(OpenWebUiError::NoSession)?.reveal();
        let metadata = json!({MARK: {"source": file.source}});
        let form = MultipartForm::new(file, &metadata);
        let mut content = SizedFile::new(content, file.size);
        // With `process`, Open WebUI extracts its text in its own way, or refuses the file.
        let path = "/api/v1/files/?process=false";
        let body = form.body(&mut content);
        let sent = (self.client).upload::<Record>(own, path, &form.content_type, form.size, body);
        let record = sent.map_err(|error| match error {
            _ if content.is_short => OpenWebUiError::Changed,
            error => OpenWebUiError::unless_away("a link into it", error, OpenWebUiError::NotTaken),
        })?;
        let id = segment(&record.id).ok_or(OpenWebUiError::Unusable)?;
        if let Some(text) = &file.text {
            self.texts.send(StatusEvent::Once(ChatEvent {
                path: format!("/api/v1/files/{id}/data/content/update"),
                key: Secret::new(own),
                body: json!({"content": text}),
            }));
        }
        let attached = self.attach(caller, own, &record.entry());
        Ok(Published { id, attached })
    }

    fn publish_again(
        &self,
        caller: &Caller,
        id: &str,
        sha256: &str,
    ) -> Result<Option<bool>, Error> {
        let own = caller.credential.as_ref();
        let own = own.ok_or(OpenWebUiError::NoSession)?.reveal();
        let record = self.record(ApiCredential::Own(own), id);
        let record = record.map_err(|error| OpenWebUiError::of("the file", error))?;
        let same =
            record.filter(|record| record.is_ours(caller) && record.sha256() == Some(sha256));
        Ok(same.map(|record| {
            let message = self.message(caller, own);
            let hangs = message.is_some_and(|message| file::names(&message.files, &record.id));
            hangs || self.attach(caller, own, &record.entry())
        }))
    }

    fn show_page(&self, caller: &Caller, source: &str, html: &str) -> bool {
        let (Some(path), Some(key)) = (events(caller), self.key(caller)) else {
            return false;
        };
        let mark = file::mark(source);
        let page = Value::from(format!("{mark}{html}"));
        let message = self.message(caller, key.reveal());
        let mut pages = match message.map(|message| message.embeds) {
            Some(Value::Array(pages)) => pages,
            _ => Vec::new(),
        };
        if pages.contains(&page) {
            return true;
        }
        pages.retain(|other| !other.as_str().is_some_and(|html| html.starts_with(&mark)));
        pages.push(page);
        let event = json!({"type": "embeds", "data": {"embeds": pages, "replace": true}});
        self.tell(key.reveal(), &path, &event)
    }

    fn is_published(&self, caller: &Caller, id: &str) -> Result<bool, Error> {
        let key = self.key(caller).ok_or(OpenWebUiError::NoCredential)?;
        let record = self.record(key, id);
        let record = record.map_err(|error| OpenWebUiError::of("the file", error))?;
        Ok(record.is_some_and(|record| record.is_ours(caller)))
    }

    fn address(&self, id: &str) -> String {
        file::address(self.public.as_str(), id)
    }

    fn withdraw(&self, caller: &Caller, id: &str) -> Result<bool, Error> {
        let key = self.key(caller).ok_or(OpenWebUiError::NoCredential)?;
        let failed =
            |error| OpenWebUiError::unless_away("the file", error, OpenWebUiError::NotDeleted);
        let record = self.record(key, id).map_err(failed)?;
        let Some((record, segment)) = record.zip(segment(id)) else {
            return Ok(false);
        };
        if !record.is_ours(caller) {
            return Err(OpenWebUiError::NotOurs.into());
        }
        let path = format!("/api/v1/files/{segment}");
        match self.client.delete(key.reveal(), &path) {
            Ok(()) | Err(CallError::Status(404, _)) => Ok(true),
            // Without a vector database it fails after the file is gone.
            Err(error) if error.passes() => Err(failed(error).into()),
            Err(error) => match self.record(key, id) {
                Ok(None) => Ok(true),
                _ => Err(failed(error).into()),
            },
        }
    }

    /// Reports the files in the last answer of the caller's conversation.
    fn arrived(&self, caller: &Caller, place: &str, names: Vec<String>) {
        let (Some(reporter), Some(key), Some(chat), Some(user)) = (
            self.reporter.as_ref(),
            self.key(caller),
            kept(&caller.chat),
            caller.user.clone(),
        ) else {
            return;
        };
        let now = self.client.clock.instant();
        reporter.send(StatusEvent::Arrived(Box::new(UploadNotice {
            user,
            chat,
            place: place.to_owned(),
            key: Secret::new(key.reveal()),
            names,
            first: now,
            last: now,
        })));
    }

    /// Adds a source to the message, which its page shows below the text.
    fn changed(&self, caller: &Caller) {
        let (Some(reporter), Some(path), Some(key)) =
            (self.reporter.as_ref(), events(caller), self.key(caller))
        else {
            return;
        };
        if self.page.is_empty() || !self.linked.entry(path.clone()).or_insert(()).is_fresh() {
            return;
        }
        let answer = caller.message.as_deref().and_then(segment);
        let link = format!("{}/#/changes/{}", self.page, answer.unwrap_or_default());
        // A source whose own name is an address has its icon fetched from elsewhere.
        let body = json!({"type": "source", "data": {
            "source": {"name": CHANGES, "url": link},
            "document": ["What this answer changed, and the way back."],
            "metadata": [{"source": path, "name": CHANGES}],
        }});
        let key = Secret::new(key.reveal());
        reporter.send(StatusEvent::Once(ChatEvent { path, key, body }));
    }

    /// Returns a line in the caller's conversation, if there is a message to show it in and a credential
    /// to do it with.
    fn line(&self, caller: &Caller, task: Task) -> Option<Box<dyn ChatStatusLine>> {
        let reporter = self.reporter.as_ref()?;
        let work = RunningTask {
            started: self.client.clock.instant(),
            shown: AtomicBool::default(),
            path: events(caller)?,
            key: Secret::new(self.key(caller)?.reveal()),
            task,
        };
        Some(Box::new(reporter.begin(work)))
    }
}
