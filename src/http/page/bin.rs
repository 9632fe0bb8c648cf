//! `/page/bin`: what was deleted and can be brought back, of who asks.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use fileshed_core::bin::BinEntry;
use fileshed_core::view::View;
use fileshed_core::{Error, diagnostics};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{answer, query};
use crate::http::Server;
use crate::http::call::Call;

/// The bin as the page shows it.
#[derive(Serialize)]
struct PageBin {
    /// Days for which what is deleted waits; 0 where it does not.
    days: u64,
    entries: Vec<PageBinEntry>,
}

/// A row of it.
#[derive(Serialize)]
struct PageBinEntry {
    id: String,
    zone: &'static str,
    /// Where it was.
    path: String,
    #[serde(rename = "type")]
    kind: &'static str,
    size: u64,
    files: u64,
    /// The conversation that deleted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    chat: Option<String>,
    deleted_at: String,
    ends_at: String,
}

impl From<BinEntry> for PageBinEntry {
    fn from(entry: BinEntry) -> Self {
        Self {
            zone: entry.zone.as_str(),
            path: entry.path.as_str().to_owned(),
            kind: if entry.is_directory {
                "directory"
            } else {
                "file"
            },
            size: entry.totals.bytes,
            files: entry.totals.files,
            chat: entry.chat,
            deleted_at: entry.deleted_at.to_string(),
            ends_at: entry.ends_at.to_string(),
            id: entry.id,
        }
    }
}

/// `GET /page/bin`
pub(super) async fn list(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |View { store, caller }, _| {
        let days = store.settings().bin_days;
        let entries = store.bin(caller)?.into_iter();
        Ok(PageBin {
            days: days.map_or(0, std::num::NonZeroU64::get),
            entries: entries.map(PageBinEntry::from).collect(),
        })
    })
    .await
}

/// Which row.
#[derive(Deserialize)]
struct BinQuery {
    id: Option<String>,
}

/// `POST /page/bin/restore`: what has this id is where it was.
pub(super) async fn restore(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |View { store, caller }, id| {
        let id = id.ok_or(BinQueryError)?;
        let back = store.bring_back(caller, &id)?;
        Ok(done(
            &json!({"zone": back.zone.as_str(), "path": back.path.as_str()}),
        ))
    })
    .await
}

/// `POST /page/bin/remove`: what has this id is gone for good; without one, everything is.
pub(super) async fn remove(State(server): State<Arc<Server>>, request: Request) -> Response {
    act(server, request, |View { store, caller }, id| {
        let removed = store.empty_bin(caller, id.as_deref())?;
        Ok(done(&json!({"removed": removed})))
    })
    .await
}

fn done(data: &Value) -> Value {
    json!({"success": true, "data": data})
}

async fn act<T: Serialize>(
    server: Arc<Server>,
    request: Request,
    work: impl FnOnce(View<'_>, Option<String>) -> Result<T, Error> + Send + 'static,
) -> Response {
    let id = |call: &mut Call| Ok(query::<BinQuery, _>(call, BinQueryError)?.id);
    answer(server, request, id, work).await
}

diagnostics! {
    /// A row that cannot be known.
    #[derive(Debug, thiserror::Error)]
    #[error("parameter `id`: which of the bin is not said")]
    pub(in crate::http) struct BinQueryError => {
        code: InvalidParameter,
        hint: "GET /page/bin shows what is in the bin, each with its id",
        details: { "parameter": "id" },
    }
}
