//! `/page/bin`: what was deleted and can be brought back, of who asks.

use std::sync::Arc;

use axum::extract::{Query, Request, State};
use axum::response::Response;
use fileshed_core::bin::BinEntry;
use fileshed_core::{Caller, Channel, Error, Store, diagnostics};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::read;
use crate::http::{Server, envelope, route};

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
    act(server, request, |store, caller, _| {
        let entries = store.bin(caller)?.into_iter();
        Ok(PageBin {
            days: store
                .settings()
                .bin_days
                .map_or(0, std::num::NonZeroU64::get),
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
    act(server, request, |store, caller, id| {
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
    act(server, request, |store, caller, id| {
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
    work: impl FnOnce(&Arc<Store>, &Caller, Option<String>) -> Result<T, Error> + Send + 'static,
) -> Response {
    let (parts, _body) = request.into_parts();
    let asked = async {
        let caller = route::identify_person(&server, &parts, Channel::Page).await?;
        let query = Query::<BinQuery>::try_from_uri(&parts.uri).map_err(|_| BinQueryError)?;
        Ok::<_, Error>((caller, query.0.id))
    };
    match asked.await {
        Ok((caller, id)) => read(&server, caller, |store, caller| work(store, caller, id)).await,
        Err(error) => envelope::failure(error),
    }
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
