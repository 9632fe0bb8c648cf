//! `GET /page/uploads`: the conversations of who asks that have uploads.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use fileshed_core::chats::ChatUploads;
use fileshed_core::diagnostics;
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};

use super::{answer, query};
use crate::http::Server;
use crate::http::call::Call;

/// Where the list goes on.
#[derive(Deserialize)]
struct UploadsQuery {
    #[serde(default)]
    from: usize,
}

/// Some of the conversations, those in which something came or went last first.
#[derive(Serialize)]
struct PageChats {
    chats: Vec<PageChat>,
    /// Where the next ones begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<usize>,
}

/// A row of the list.
#[derive(Serialize)]
struct PageChat {
    /// What every other request takes as `chat`.
    chat: String,
    /// What Open WebUI calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    files: u64,
    size: u64,
    /// Seconds since 1970.
    modified: i64,
    /// Day on which the files are removed if nothing changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    ends_on: Option<String>,
}

impl From<ChatUploads> for PageChat {
    fn from(uploads: ChatUploads) -> Self {
        Self {
            chat: uploads.chat.as_str().to_owned(),
            title: uploads.title,
            files: uploads.totals.files,
            size: uploads.totals.bytes,
            modified: uploads.last_change.as_second(),
            ends_on: uploads.ends_at.map(|end| end.strftime("%F").to_string()),
        }
    }
}

/// `GET /page/uploads`
pub(super) async fn list(State(server): State<Arc<Server>>, request: Request) -> Response {
    let from = |call: &mut Call| Ok(query::<UploadsQuery, _>(call, UploadsQueryError)?.from);
    answer(server, request, from, |View { store, caller }, from| {
        let page = store.chats_with_uploads(caller, from)?;
        Ok(PageChats {
            chats: page.chats.into_iter().map(PageChat::from).collect(),
            next: page.next,
        })
    })
    .await
}

diagnostics! {
    /// A place in the list that cannot be known.
    #[derive(Debug, thiserror::Error)]
    #[error("parameter `from`: this is no place in the list")]
    pub(in crate::http) struct UploadsQueryError => {
        code: InvalidParameter,
        hint: "leave `from` out, or give the `next` of the answer before",
        details: { "parameter": "from" },
    }
}
