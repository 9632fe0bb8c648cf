//! `POST /files/upload`: a file that a person or a program sends, or one from a URL.

use std::hash::{BuildHasher as _, RandomState};

use axum::Json;
use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::response::{IntoResponse as _, Response};
use fileshed_core::transfer::{OnConflict, TransferPermit, Upload, UploadError};
use fileshed_core::view::{Resolved, ViewError, ViewPlace};
use fileshed_core::zone::portable_name;
use fileshed_core::{CallerView, Error, Timings, Zone, ZoneName, ZonePath, command};
use moka::sync::Cache;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

use super::endpoint::{query_value, required_value};
use crate::http::call::Call;
use crate::http::files::multipart::{FormFile, MultipartReader};
use crate::http::identity::{X_SESSION_ID, X_USER_ID};

/// Name of the operation in intents, for repairs.
const OPERATION: &str = "terminal/upload";

/// Directory of a conversation's attachments.
const UPLOADS: &str = "/uploads";

/// Name of a file whose URL has none.
const NAMELESS: &str = "download";

/// `POST /files/upload`
pub(super) async fn upload(mut call: Call) -> Result<Response, Error> {
    let directory = required_value(&call.parts.uri, "directory")?;
    let stored = if let Some(url) = query_value(&call.parts.uri, "url") {
        let permit = call.admit().await?;
        let fetched = call.run(permit, move |view, _| fetch(view, &directory, &url));
        fetched.await?.0?
    } else {
        let permit = call.transfer_permit(None).await?;
        let sender = call.server.listings.sender(&call.parts.headers, &directory);
        let received = call.receive(move |view, parts, reader| {
            let form = MultipartReader::new(&parts.headers, reader)?;
            store_files(view, &directory, sender, permit, form)
        });
        received.await?
    };
    Ok(Json(stored).into_response())
}

/// Fetches a file into a directory, as commands fetch files: confined, and as far as the network mode
/// lets them.
fn fetch(view: CallerView<'_>, directory: &str, url: &str) -> Result<Value, Error> {
    let found = to_fill(view, directory)?;
    found.explained(|| {
        let path = found.zone.path_below("url", &found.path, &name_at(url))?;
        let size = command::fetch(&view.core.runs, &found.zone, &path, url, OPERATION)?;
        if found.zone.name == ZoneName::Uploads {
            view.core
                .transfer
                .uploaded_by_terminal(view.caller, &path)?;
        }
        let path = found.at.root().join(path.as_str());
        Ok(json!({"path": path.as_str(), "size": size}))
    })
}

/// The name that an address gives to its file.
fn name_at(url: &str) -> String {
    let path = url.split(['?', '#']).next().unwrap_or_default();
    let path = path.split_once("://").map_or(path, |(_, rest)| rest);
    let name = path.split('/').skip(1).last().unwrap_or_default();
    match &*percent_decode_str(name).decode_utf8_lossy() {
        "" => NAMELESS.to_owned(),
        name => portable_name(name),
    }
}

/// Stores every file of a form; returns the first.
///
/// Attachments of a conversation go into its uploads, under a name that is free. Other files go into
/// the given directory, and replace files of the same name.
fn store_files(
    view: CallerView<'_>,
    directory: &str,
    sender: Sender,
    transfer_permit: TransferPermit,
    mut form: MultipartReader<'_>,
) -> Result<Value, Error> {
    let mut sent = None;
    let is_attached = match sender {
        Sender::MessageBox => true,
        Sender::Other => false,
        Sender::Page => {
            form.begin()?;
            sent = form.file()?;
            let is_new = |file: &FormFile| !is_there(view, directory, &file.name);
            sent.as_ref().is_some_and(is_new) && !form.is_empty()?
        }
    };
    let (directory, existing) = if is_attached {
        (UPLOADS, OnConflict::Rename)
    } else {
        (directory, OnConflict::Replace)
    };
    let found = to_fill(view, directory)?;
    found.explained(|| {
        let mut upload =
            Upload::into_directory(&found.zone, found.path.clone(), existing, transfer_permit)?;
        if sender != Sender::Page {
            form.begin()?;
            sent = form.file()?;
        }
        while let Some(FormFile { name, modified }) = sent {
            let name = name.rsplit('/').next().unwrap_or_default();
            let nearest = nearest(&found.zone, &found.path, name);
            let mut file = upload.file_as(name, nearest.as_deref())?;
            file.set_modified(modified);
            form.content(|piece| file.write(piece))?;
            upload = file.finish()?;
            sent = form.file()?;
        }
        let stored = upload.store(OPERATION, None)?;
        let first = stored.first().ok_or(UploadError::Nothing)?;
        if found.zone.name == ZoneName::Uploads {
            for file in &stored {
                view.core
                    .transfer
                    .uploaded_by_terminal(view.caller, &file.path)?;
            }
        }
        let path = found.at.root().join(first.path.as_str());
        Ok(json!({"path": path.as_str(), "size": first.size}))
    })
}

/// Returns `true` if a directory has an entry of this name.
fn is_there(view: CallerView<'_>, directory: &str, name: &str) -> bool {
    let found = view.resolve("directory", directory);
    found.is_ok_and(|found| found.zone.data.entry(&found.path.join(name)).is_ok())
}

/// Resolves the directory of a parameter, which need not exist yet.
pub(super) fn to_fill<'a>(view: CallerView<'a>, directory: &str) -> Result<Resolved<'a>, Error> {
    const PARAMETER: &str = "directory";
    let at = view.path(PARAMETER, directory)?;
    match at.place() {
        ViewPlace::Top | ViewPlace::Groups | ViewPlace::Chats => {
            return Err(ViewError::Top(at.to_string()).into());
        }
        ViewPlace::Logs(_) => return Err(ViewError::ReadOnly(at.to_string()).into()),
        ViewPlace::Zone(..) | ViewPlace::Nowhere => {}
    }
    let Resolved { at, zone, path } = view.resolve(PARAMETER, at.as_str())?;
    let zone = zone.made()?;
    let found = Resolved { at, zone, path };
    found.explained(|| {
        let directory = found.path.display();
        found.zone.directory_to_fill(PARAMETER, directory).map(drop)
    })?;
    Ok(found)
}

/// Returns the nearest name that is valid on every system; `None` if that is the one that was sent, or
/// if a file of the sent name exists already.
fn nearest(zone: &Zone<'_>, directory: &ZonePath, sent: &str) -> Option<String> {
    let is_there = !sent.is_empty() && zone.data.entry(&directory.join(sent)).is_ok();
    Some(portable_name(sent)).filter(|name| !is_there && name != sent)
}

/// Path of the endpoint that lists directories.
const LIST: &str = "/files/list";

/// Most conversations of which a listing is kept.
const LISTINGS: u64 = 10_000;

/// The sender of a file, as far as it is known before the file comes.
///
/// Open WebUI sends attachments of a conversation, and uploads into the file browser, as the same form
/// to the same URL, by the same proxy. They differ in the spelling of the directory and in the requests
/// before:
///
/// | sender | directory | name | content |
/// | --- | --- | --- | --- |
/// | file browser: drop, dialog | as `/storage` | any | any |
/// | file browser: new file | as `/storage/` | any | empty |
/// | file browser: save | as `/storage/` | there already | any |
/// | message box, the browser was open | as `/storage/`, where the browser is | not in that directory | some |
/// | message box, otherwise | the working directory as it was answered, just listed so | not in that directory | some |
///
/// The browser itself lists no directory without the slash. `/` has no other spelling: nothing can be
/// put there, but a browser that is still opening sends there what is dropped into it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sender {
    /// The message box of a conversation.
    MessageBox,
    /// The message box where the file is new and not empty, else the file browser.
    Page,
    /// The file browser, or a program that knows where it wants the file.
    Other,
}

/// The directory without a slash behind its name that a page listed last, by user and conversation. All
/// of it is hashed. On a server that did not see the listing, a file goes where it says.
#[derive(Debug)]
pub(in crate::http) struct Listings {
    hasher: RandomState,
    listed: Cache<u64, u64>,
}

impl Listings {
    pub(in crate::http) fn new() -> Self {
        let cache = Cache::builder().max_capacity(LISTINGS);
        Self {
            hasher: RandomState::new(),
            listed: cache
                .time_to_live(Timings::STANDARD.http.message_box)
                .build(),
        }
    }

    /// Looks at a call of a known user. Pages list without naming a type of content, tools of models
    /// name one.
    pub(in crate::http::terminal) fn notice(&self, parts: &Parts) {
        let headers = &parts.headers;
        if parts.method != Method::GET
            || !parts.uri.path().ends_with(LIST)
            || !headers.contains_key(X_USER_ID)
            || headers.contains_key(CONTENT_TYPE)
        {
            return;
        }
        let conversation = self.conversation(headers);
        match query_value(&parts.uri, "directory") {
            Some(directory) if is_bare(&directory) => {
                let directory = self.hasher.hash_one(directory);
                self.listed.insert(conversation, directory);
            }
            _ => self.listed.invalidate(&conversation),
        }
    }

    /// Returns the sender of a file into a directory. A remembered listing is used once.
    fn sender(&self, headers: &HeaderMap, directory: &str) -> Sender {
        if !headers.contains_key(X_USER_ID) {
            return Sender::Other;
        }
        if !is_bare(directory) {
            return Sender::Page;
        }
        let listed = self.listed.remove(&self.conversation(headers));
        if listed == Some(self.hasher.hash_one(directory)) {
            Sender::MessageBox
        } else {
            Sender::Other
        }
    }

    fn conversation(&self, headers: &HeaderMap) -> u64 {
        let name = |header| headers.get(header).map(HeaderValue::as_bytes);
        self.hasher.hash_one((name(X_USER_ID), name(X_SESSION_ID)))
    }
}

/// Returns `true` if the path of a directory has no slash behind its name.
fn is_bare(directory: &str) -> bool {
    directory == "/" || !directory.ends_with('/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_called_as_its_address_ends() {
        for (url, name) in [
            ("https://example.org/data.csv", "data.csv"),
            ("https://example.org/a/b%20c.md?x=/y#z", "b c.md"),
            ("https://example.org/", "download"),
            ("https://example.org", "download"),
            ("https://example.org/a/..%2f..%2fetc%2fpasswd", "passwd"),
        ] {
            assert_eq!(name_at(url), name, "{url}");
        }
    }
}
