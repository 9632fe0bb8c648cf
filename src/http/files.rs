//! Files in and out, as they are: `/files/upload`, `/files/uploads`, `/files/content`, `/files/archive` and
//! `/links/…`.
//!
//! Contents flow through in pieces. What arrives goes from the connection over a short channel to
//! a thread that may block, which stages it; what leaves is read a piece ahead of the connection.
//! Nothing here grows with the size of a file, and a client that stops loses its place.

use std::sync::Arc;

use axum::Router;
use axum::extract::Query;
use axum::http::request::Parts;
use axum::routing::{any, get, post};
use fileshed_core::{
    Caller, CallerView, Channel, Chat, Core, Error, Zone, ZoneName, ZonePath, at_once, diagnostics,
};
use percent_encoding::percent_decode_str;
use serde::Deserialize;

use download::{Download, FileDownload};

use super::Server;
use super::call::{Call, Surface};

pub(super) mod archive;
pub(super) mod condition;
pub(super) mod content;
pub(super) mod download;
#[cfg(fuzzing)]
pub mod fuzzing;
mod link;
pub(super) mod member;
pub(super) mod modified;
pub(super) mod multipart;
mod page;
pub(in crate::http) mod resumable;
pub(super) mod thumbnail;

pub(super) use page::{HtmlPage, escaped, is_wanted as is_page_wanted, refused as show_refusal};

/// The addresses of files.
pub(super) fn routes() -> Router<Arc<Server>> {
    Router::new()
        .route("/files/upload", post(SURFACE.handler(content::upload)))
        .route("/files/uploads", any(resumable::uploads))
        .route("/files/uploads/{id}", any(resumable::upload))
        .route("/files/archive", get(SURFACE.handler(archive::selection)))
        .route(
            "/files/content",
            get(SURFACE.handler(content::fetch)).put(SURFACE.handler(content::store)),
        )
        .route("/links/{token}", get(link::open).post(link::bring))
        .route("/links/{token}/list", get(link::list))
        .route("/links/{token}/content", get(link::fetch))
        .route("/links/{token}/password", post(link::enter))
}

/// The query of an address.
#[derive(Default, Deserialize)]
pub(super) struct FileQuery {
    zone: Option<String>,
    path: Option<String>,
    chat: Option<String>,
    group: Option<String>,
    message: Option<String>,
    overwrite: Option<String>,
    inline: Option<String>,
}

impl FileQuery {
    /// Reads the query of a call. A chat in it becomes the caller's, and must be that of the headers
    /// if they name one.
    pub(super) fn of(call: &mut Call) -> Result<Self, Error> {
        let query = Self::read(&call.parts)?;
        if let Some(chat) = Self::given(query.chat.as_ref()) {
            let chat = Chat::parse(chat).ok_or(FileQueryError::Chat)?;
            if !call.caller.enter(chat) {
                return Err(FileQueryError::TwoChats.into());
            }
        }
        Ok(query)
    }

    /// Reads the query of a request.
    fn read(request: &Parts) -> Result<Self, FileQueryError> {
        // Bytes that are not UTF-8 would be read as another name.
        let text = percent_decode_str(request.uri.query().unwrap_or_default());
        let is_utf8 = text.decode_utf8().is_ok();
        match Query::try_from_uri(&request.uri) {
            Ok(Query(query)) if is_utf8 => Ok(query),
            _ => Err(FileQueryError::Unreadable),
        }
    }

    /// The zone that is named; where none is, the one of this name.
    fn zone<'a>(&self, view: CallerView<'a>, default: &str) -> Result<Zone<'a>, Error> {
        let name = Self::given(self.zone.as_ref()).unwrap_or(default);
        let group = Self::given(self.group.as_ref());
        view.core.zone(view.caller, name, group)
    }

    /// The zone that is named, and the path in it.
    pub(super) fn place<'a>(&self, view: CallerView<'a>) -> Result<(Zone<'a>, ZonePath), Error> {
        let zone = self.zone(view, "")?;
        let path = zone.path("path", self.path.as_deref().unwrap_or_default())?;
        Ok((zone, path))
    }

    /// Returns `true` if it names a file or a directory.
    pub(super) fn has_path(&self) -> bool {
        Self::given(self.path.as_ref()).is_some()
    }

    /// The small file that is named, where it can be read without blocking.
    fn file_at_once(&self, core: &Core, caller: &Caller) -> Option<Download> {
        if Self::given(self.group.as_ref()).is_some() {
            return None;
        }
        let zone = ZoneName::parse(self.zone.as_deref()?).ok()?;
        let path = ZonePath::parse("path", self.path.as_deref()?).ok()?;
        let file = at_once::file_at_once(&core.store, caller, zone, &path)?;
        Some(Download::File(FileDownload::of_cached(&path, file)))
    }

    /// A value that is not empty.
    fn given(value: Option<&String>) -> Option<&str> {
        value.map(String::as_str).filter(|text| !text.is_empty())
    }

    fn flag(parameter: &'static str, value: Option<&String>) -> Result<bool, FileQueryError> {
        match Self::given(value) {
            None => Ok(false),
            Some(text) if text.eq_ignore_ascii_case("true") => Ok(true),
            Some(text) if text.eq_ignore_ascii_case("false") => Ok(false),
            Some(text) => Err(FileQueryError::Flag {
                parameter,
                received: text.chars().take(80).collect(),
            }),
        }
    }
}

/// Rules by which requests for files are identified.
pub(super) const SURFACE: Surface = Surface::of_page(Channel::Files);

diagnostics! {
    /// A query that cannot be used.
    #[derive(Debug, thiserror::Error)]
    enum FileQueryError {
        /// A name is repeated, or it is not UTF-8.
        #[error("the part of the address behind `?` cannot be read")]
        Unreadable => {
            code: InvalidParameter,
            hint: "name each parameter once, percent-encoded: ?zone=storage&path=notes%2Fa.md",
        },
        /// A flag is neither true nor false.
        #[error("parameter `{parameter}` must be true or false, got: `{received}`")]
        Flag {
            parameter: &'static str = "overwrite",
            received: String = "maybe".to_owned(),
        } => {
            code: InvalidParameter,
            hint: format!("write {parameter}=true, or leave it out"),
            details: { "parameter": parameter },
        },
        /// The chat is not an identifier.
        #[error("parameter `chat` is not an identifier of at most 256 bytes")]
        Chat => {
            code: InvalidParameter,
            hint: ONE_CHAT,
            details: { "parameter": "chat" },
        },
        /// The headers name another chat.
        #[error("parameter `chat` and the headers name different conversations")]
        TwoChats => {
            code: InvalidParameter,
            hint: ONE_CHAT,
            details: { "parameter": "chat" },
        },
    }
}

const ONE_CHAT: &str = "leave `chat` out, or name the conversation of the headers";
