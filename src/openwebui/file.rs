//! Files of the caller in Open WebUI: the ones that this server put there, and no others.
//!
//! They are the caller's own files over there, marked in their metadata. They hang on the answer
//! that is being written, where that is known; a link to one works by itself as well.

use std::io::Read;

use fileshed_core::chat_host::{Publication, Published};
use fileshed_core::{Caller, Error};
use serde_json::{Value, json};

use super::chat::events;
use super::client::{CallError, segment};
use super::multipart::MultipartForm;
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
        let mut body = form.body(content);
        let sent = self.client.upload::<Record>(
            own.reveal(),
            // Without `process`, no text is taken out of it and indexed.
            "/api/v1/files/?process=false",
            form.content_type(),
            form.size(),
            &mut body,
        );
        let record = match sent {
            Ok(record) => record,
            Err(_) if body.is_short() => return Err(OpenWebUiError::Changed.into()),
            Err(error) => return Err(OpenWebUiError::not_taken(error).into()),
        };
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
        let same = record.filter(|record| {
            record.is_of(caller) && record.is_marked() && record.sha256() == Some(sha256)
        });
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
        Ok(record.is_some_and(|record| record.is_of(caller) && record.is_marked()))
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
        if !record.is_of(caller) || !record.is_marked() {
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

    /// What Open WebUI has under an id, a segment of a path; nothing where it shows nothing.
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
            let told = self.client.post::<Option<bool>>(key, &path, &event);
            told.inspect_err(|error| tracing::debug!(%error, "no file on the message"))
        };
        if !matches!(tell("files", &json!([item])), Ok(Some(true))) {
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
}

/// Where a browser opens a file.
pub(super) fn address(base: &str, id: &str) -> String {
    format!("{base}/api/v1/files/{id}/content")
}
