//! `GET /page/search`: names and contents of all zones, with the uploads of every conversation, or of
//! a part of one, that hold a text.

use fileshed_core::search::{self, Match, Matches, Pattern};
use fileshed_core::view::View;
use fileshed_core::{Error, diagnostics};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::http::call::Call;

/// Results of one answer.
const RESULTS: usize = 100;

/// What is looked for.
#[derive(Deserialize)]
pub(super) struct PageQuery {
    /// What names and lines hold, in any case.
    query: String,
    /// Directory in the tree of all zones.
    #[serde(default)]
    path: String,
}

/// Reads what is looked for.
pub(super) fn query(call: &mut Call) -> Result<PageQuery, Error> {
    super::query(call, PageQueryError)
}

/// `GET /page/search`: what was found, the nearest first, and whether there is more.
pub(super) fn search(view: View<'_>, query: &PageQuery) -> Result<Value, Error> {
    let text = query.query.trim();
    if text.is_empty() {
        return Err(PageQueryError.into());
    }
    let mut caller = view.caller.clone();
    caller.names_zones = true;
    let view = View {
        caller: &caller,
        ..view
    };
    let is_everywhere = matches!(query.path.as_str(), "" | "/");
    let matches = Matches {
        pattern: Pattern::new("query", text, false, true)?,
        query: text.to_owned(),
        shows_hidden: true,
        offset: 0,
        most: RESULTS,
    };
    let searched = if is_everywhere {
        view.searched_in_all_chats("path")?
    } else {
        view.searched("path", &view.path("path", &query.path)?)?
    };
    searched.expect_directories()?;
    let page = search::matches(&searched.trees(), &matches, &view.search_bounds());
    let results = page.items.into_iter().map(|item| {
        let below = item.path.strip_prefix("/uploads");
        let below =
            below.and_then(|below| below.strip_prefix('/').or(below.is_empty().then_some("")));
        let chat = below.map(|below| {
            if is_everywhere {
                of_chat(below)
            } else {
                (caller.chat.as_str().to_owned(), item.path.clone())
            }
        });
        result(item, chat)
    });
    Ok(json!({
        "results": results.collect::<Vec<Value>>(),
        "more": page.next_offset.is_some(),
    }))
}

/// The conversation of what is found below the uploads of all, and its path as that sees it.
fn of_chat(below: &str) -> (String, String) {
    let (chat, inside) = below.split_once('/').unwrap_or((below, ""));
    let path = format!("/uploads/{inside}");
    (chat.to_owned(), path.trim_end_matches('/').to_owned())
}

/// An entry; one of a conversation's uploads with that and the path there.
fn result(found: Match, chat: Option<(String, String)>) -> Value {
    let (chat, path) = chat.unzip();
    let lines = found.content_matches.into_iter();
    let lines = lines.map(|found| json!({"line": found.line, "text": found.text}));
    let mut result = json!({"path": path.unwrap_or(found.path)});
    if let Some(chat) = chat {
        result["chat"] = chat.into();
    }
    result["type"] = found.kind.into();
    result["lines"] = lines.collect();
    result
}

diagnostics! {
    /// A search for nothing.
    #[derive(Debug, thiserror::Error)]
    #[error("parameter `query` is required")]
    struct PageQueryError => {
        code: MissingParameter,
        hint: "give the text that names or lines hold: ?query=budget&path=/documents",
        details: { "parameter": "query" },
    }
}
