//! `/page/bin`: what was deleted and can be brought back, of who asks.

use fileshed_core::view::View;
use fileshed_core::{Error, diagnostics};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::call::Call;

/// `GET /page/bin`: the days for which what is deleted waits (0 if it does not), and what waits.
pub(super) fn list(view: View<'_>, _: &BinQuery) -> Result<Value, Error> {
    let days = view.store.settings().bin_days;
    let entries = view.store.bin(view.caller)?.into_iter().map(|entry| {
        let mut row = json!({
            "id": entry.id,
            "zone": entry.zone.as_str(),
            "path": entry.path.as_str(),
            "type": if entry.is_directory { "directory" } else { "file" },
            "size": entry.totals.bytes,
            "files": entry.totals.files,
        });
        // The conversation that deleted it.
        if let Some(chat) = entry.chat {
            row["chat"] = chat.into();
        }
        row["deleted_at"] = entry.deleted_at.to_string().into();
        row["ends_at"] = entry.ends_at.to_string().into();
        row
    });
    Ok(json!({
        "days": days.map_or(0, std::num::NonZeroU64::get),
        "entries": entries.collect::<Vec<Value>>(),
    }))
}

/// Which row.
#[derive(Deserialize)]
pub(super) struct BinQuery {
    id: Option<String>,
}

/// Reads which row.
pub(super) fn query(call: &mut Call) -> Result<BinQuery, Error> {
    super::query(call, BinQueryError)
}

/// `POST /page/bin/restore`: what has this id is where it was.
pub(super) fn restore(view: View<'_>, query: &BinQuery) -> Result<Value, Error> {
    let id = query.id.as_deref().ok_or(BinQueryError)?;
    let back = view.store.bring_back(view.caller, id)?;
    let data = json!({"zone": back.zone.as_str(), "path": back.path.as_str()});
    Ok(json!({"success": true, "data": data}))
}

/// `POST /page/bin/remove`: what has this id is gone for good; without one, everything is.
pub(super) fn remove(view: View<'_>, query: &BinQuery) -> Result<Value, Error> {
    let removed = view.store.empty_bin(view.caller, query.id.as_deref())?;
    Ok(json!({"success": true, "data": {"removed": removed}}))
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
