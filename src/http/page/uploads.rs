//! `GET /page/uploads`: the conversations of who asks that have uploads.

use fileshed_core::view::View;
use fileshed_core::{Error, diagnostics};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::call::Call;

/// Where the list goes on.
#[derive(Deserialize)]
pub(super) struct UploadsQuery {
    #[serde(default)]
    from: usize,
}

/// Reads where the list goes on.
pub(super) fn query(call: &mut Call) -> Result<UploadsQuery, Error> {
    super::query(call, UploadsQueryError)
}

/// `GET /page/uploads`: some of the conversations, those in which something came or went last first, and
/// where the next ones begin.
pub(super) fn list(view: View<'_>, query: &UploadsQuery) -> Result<Value, Error> {
    let page = view.store.chats_with_uploads(view.caller, query.from)?;
    let chats = page.chats.into_iter().map(|uploads| {
        // The id is what every other request takes as `chat`; the title is Open WebUI's.
        let mut chat = json!({"chat": uploads.chat.as_str()});
        if let Some(title) = uploads.title {
            chat["title"] = title.into();
        }
        chat["files"] = uploads.totals.files.into();
        chat["size"] = uploads.totals.bytes.into();
        chat["modified"] = uploads.last_change.as_second().into();
        // The day on which the files are removed if nothing changes.
        if let Some(end) = uploads.ends_at {
            chat["ends_on"] = end.strftime("%F").to_string().into();
        }
        chat
    });
    let mut answer = json!({"chats": chats.collect::<Vec<Value>>()});
    if let Some(next) = page.next {
        answer["next"] = next.into();
    }
    Ok(answer)
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
