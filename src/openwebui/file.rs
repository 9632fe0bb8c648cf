//! Files of the caller in Open WebUI: the ones that this server put there, and no others; and pages
//! that show at an answer.
//!
//! They are the caller's own files over there, marked in their metadata. They hang on the answer
//! that is being written, where that is known; a link to one works by itself as well. Open WebUI shows
//! pages in a frame that is kept apart from its own page. They are part of the message, which shows
//! the page as it was then.

use std::io::Read;

use fileshed_core::chat_host::{Publication, Published};
use fileshed_core::{Caller, Error};
use serde_json::{Value, json};

use super::chat::events;
use super::client::{CallError, segment};
use super::multipart::{MultipartForm, SizedFile};
use super::record::{MARK, Record};
use super::{Key, OpenWebUi, OpenWebUiError, item};

impl OpenWebUi {
    pub(super) fn publish_file(
        &self,
        caller: &Caller,
        file: &Publication<'_>,
        content: &mut (dyn Read + Send),
    ) -> Result<Published, Error> {
        // What an administrator's key puts there, the user cannot open.
        let own = caller.credential.as_ref();
        let own = own.ok_or(OpenWebUiError::NoSession)?;
        let metadata = json!({MARK: {"source": file.source}});
        let form = MultipartForm::new(file, &metadata);
        let mut content = SizedFile::new(content, file.size);
        // Without `process`, Open WebUI does not extract and index its text.
        let path = "/api/v1/files/?process=false";
        let (key, body) = (own.reveal(), form.body(&mut content));
        let sent = (self.client).upload::<Record>(key, path, &form.content_type, form.size, body);
        let record = sent.map_err(|error| match error {
            _ if content.is_short => OpenWebUiError::Changed,
            error => OpenWebUiError::not_taken(error),
        })?;
        let id = segment(&record.id).ok_or(OpenWebUiError::Unusable)?;
        let item = item::of_record(&id, &address("", &id), &record);
        let attached = self.attach(caller, own.reveal(), &item);
        Ok(Published { id, attached })
    }

    pub(super) fn publish_file_again(
        &self,
        caller: &Caller,
        id: &str,
        sha256: &str,
    ) -> Result<Option<bool>, Error> {
        let own = caller.credential.as_ref();
        let own = own.ok_or(OpenWebUiError::NoSession)?.reveal();
        let Some(id) = segment(id) else {
            return Ok(None);
        };
        let record = self.record(Key::Own(own), &id);
        let record = record.map_err(|error| OpenWebUiError::of("the file", error))?;
        let same =
            record.filter(|record| record.is_ours(caller) && record.sha256() == Some(sha256));
        Ok(same.map(|record| {
            let hangs = self.files_of_message(caller, own);
            let hangs = hangs.is_some_and(|files| item::names(&files, &record.id));
            let item = item::of_record(&id, &address("", &id), &record);
            hangs || self.attach(caller, own, &item)
        }))
    }

    pub(super) fn has_published(&self, caller: &Caller, id: &str) -> Result<bool, Error> {
        let key = self.key(caller).ok_or(OpenWebUiError::NoCredential)?;
        let Some(id) = segment(id) else {
            return Ok(false);
        };
        let record = self.record(key, &id);
        let record = record.map_err(|error| OpenWebUiError::of("the file", error))?;
        Ok(record.is_some_and(|record| record.is_ours(caller)))
    }

    pub(super) fn withdraw_file(&self, caller: &Caller, id: &str) -> Result<bool, Error> {
        let key = self.key(caller).ok_or(OpenWebUiError::NoCredential)?;
        let Some(id) = segment(id) else {
            return Ok(false);
        };
        let record = self.record(key, &id).map_err(OpenWebUiError::not_deleted)?;
        let Some(record) = record else {
            return Ok(false);
        };
        if !record.is_ours(caller) {
            return Err(OpenWebUiError::NotOurs.into());
        }
        let path = format!("/api/v1/files/{id}");
        match self.client.delete(key.reveal(), &path) {
            Ok(()) | Err(CallError::Status(404)) => Ok(true),
            // Without a vector database it fails after the file is gone.
            Err(error) if error.passes() => Err(OpenWebUiError::not_deleted(error).into()),
            Err(error) => match self.record(key, &id) {
                Ok(None) => Ok(true),
                _ => Err(OpenWebUiError::not_deleted(error).into()),
            },
        }
    }

    /// Returns the record of an id, a segment of a path; `None` if Open WebUI shows none.
    pub(super) fn record(&self, key: Key<'_>, id: &str) -> Result<Option<Record>, CallError> {
        let path = format!("/api/v1/files/{id}");
        match self.client.get::<Option<Record>>(key.reveal(), &path) {
            Err(CallError::Status(404)) => Ok(None),
            answer => answer,
        }
    }

    /// Hangs a file on the answer that is being written; whether that worked.
    fn attach(&self, caller: &Caller, key: &str, item: &Value) -> bool {
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
        // shows those of the last one: it is told of all, and of no file as it was before.
        if let Some(Value::Array(mut files)) = self.files_of_message(caller, key)
            && files.len() > 1
        {
            item::keep_newest(&mut files);
            let _only_shown = tell("chat:message:files", &files.into());
        }
        true
    }

    /// Sends an event of a message. Returns `true` if it was taken.
    fn tell(&self, key: &str, path: &str, event: &Value) -> bool {
        let told = self.client.post::<Option<bool>>(key, path, event);
        let told = told.inspect_err(|error| tracing::debug!(%error, "the message takes no event"));
        matches!(told, Ok(Some(true)))
    }

    pub(super) fn embed(&self, caller: &Caller, source: &str, html: &str) -> bool {
        let (Some(path), Some(key)) = (events(caller), self.key(caller)) else {
            return false;
        };
        let mark = mark(source);
        let page = Value::from(format!("{mark}{html}"));
        let mut pages = self.pages_of_message(caller, key.reveal());
        if pages.contains(&page) {
            return true;
        }
        pages.retain(|other| !other.as_str().is_some_and(|html| html.starts_with(&mark)));
        pages.push(page);
        let event = json!({"type": "embeds", "data": {"embeds": pages, "replace": true}});
        self.tell(key.reveal(), &path, &event)
    }
}

/// Returns the address at which a browser opens a file.
pub(super) fn address(base: &str, id: &str) -> String {
    format!("{base}/api/v1/files/{id}/content")
}

/// Returns the beginning of a page, by which it is found again.
fn mark(source: &str) -> String {
    let source = source.replace(['<', '>'], "").replace("--", "- -");
    format!("<!-- fileshed {source} -->\n")
}

#[cfg(test)]
mod tests {
    use super::mark;

    #[test]
    fn a_mark_stays_a_comment() {
        assert_eq!(mark("storage:a.html"), "<!-- fileshed storage:a.html -->\n");
        assert_eq!(mark("x--><script>"), "<!-- fileshed x- -script -->\n");
    }
}
