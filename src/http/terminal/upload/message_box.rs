//! Detection of attachments of a conversation, as opposed to uploads into the file browser.
//!
//! Open WebUI sends both as the same form to the same address, by the same proxy. They differ in how
//! the directory is spelled and in what happened before:
//!
//! | who sends | directory | name | content |
//! | --- | --- | --- | --- |
//! | file browser: drop, dialog | as `/storage` | any | any |
//! | file browser: new file | as `/storage/` | any | empty |
//! | file browser: save | as `/storage/` | there already | any |
//! | message box, the browser was open | as `/storage/`, where the browser is | not in that directory | some |
//! | message box, otherwise | the working directory as it was answered, just listed so | not in that directory | some |
//!
//! The browser itself lists no directory without the slash. `/` has no other spelling: nothing can be
//! put there, but a browser that is still opening sends there what is dropped into it.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use axum::http::header::CONTENT_TYPE;
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method};
use fileshed_core::Timings;
use moka::sync::Cache;

use crate::http::identity::{X_SESSION_ID, X_USER_ID};
use crate::http::terminal::endpoint::query_value;

/// How long after the directory was listed the file may come: a proxy collects all of it first.
const PATIENCE: Duration = Timings::STANDARD.http.message_box;

/// Where directories are listed.
const LIST: &str = "/files/list";

/// Conversations of which a listing is kept.
const LISTINGS: u64 = 10_000;

/// Who sent a file, as far as can be told before it comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sender {
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
            listed: cache.time_to_live(PATIENCE).build(),
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

    /// Who sends a file into a directory. What was listed before counts once.
    pub(super) fn sender(&self, headers: &HeaderMap, directory: &str) -> Sender {
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

/// Whether the path of a directory has no slash behind its name.
fn is_bare(directory: &str) -> bool {
    directory == "/" || !directory.ends_with('/')
}
