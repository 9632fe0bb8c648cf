//! `GET /page/search`: names and contents of all zones, with the uploads of every conversation, or of
//! a part of one, that hold a text.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use fileshed_core::search::{self, Match, Matches};
use fileshed_core::view::View;
use fileshed_core::view::search::pattern;
use fileshed_core::{Error, diagnostics};
use serde::{Deserialize, Serialize};

use super::{answer, query};
use crate::http::Server;
use crate::http::call::Call;

/// Results of one answer.
const RESULTS: usize = 100;

/// What is looked for.
#[derive(Deserialize)]
struct PageQuery {
    /// What names and lines hold, in any case.
    query: String,
    /// Directory in the tree of all zones.
    #[serde(default)]
    path: String,
}

/// What was found, the nearest first.
#[derive(Serialize)]
struct PageResults {
    results: Vec<PageMatch>,
    /// Whether there is more.
    more: bool,
}

/// An entry whose name or content holds the text.
#[derive(Serialize)]
struct PageMatch {
    /// Where in the tree of all zones.
    path: String,
    /// The conversation, of what is in uploads.
    #[serde(skip_serializing_if = "Option::is_none")]
    chat: Option<String>,
    #[serde(rename = "type")]
    kind: &'static str,
    lines: Vec<PageLine>,
}

/// A line that holds it.
#[derive(Serialize)]
struct PageLine {
    line: u64,
    text: String,
}

/// `GET /page/search`
pub(super) async fn search(State(server): State<Arc<Server>>, request: Request) -> Response {
    let query = |call: &mut Call| query::<PageQuery, _>(call, PageQueryError);
    answer(server, request, query, |view, query| results(view, &query)).await
}

fn results(view: View<'_>, query: &PageQuery) -> Result<PageResults, Error> {
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
        pattern: pattern("query", text, false, true)?,
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
        let chat = item.path.strip_prefix("/uploads").and_then(|below| {
            let below = below.strip_prefix('/').or(below.is_empty().then_some(""))?;
            Some(if is_everywhere {
                of_chat(below)
            } else {
                (caller.chat.as_str().to_owned(), item.path.clone())
            })
        });
        PageMatch::of(item, chat)
    });
    Ok(PageResults {
        results: results.collect(),
        more: page.next_offset.is_some(),
    })
}

/// The conversation of what is found below the uploads of all, and its path as that sees it.
fn of_chat(below: &str) -> (String, String) {
    let (chat, inside) = below.split_once('/').unwrap_or((below, ""));
    let path = format!("/uploads/{inside}");
    (chat.to_owned(), path.trim_end_matches('/').to_owned())
}

impl PageMatch {
    /// What was found; of a conversation's uploads with that and the path there.
    fn of(found: Match, chat: Option<(String, String)>) -> Self {
        let (chat, path) = chat.unzip();
        let lines = found.content_matches.into_iter().map(|found| PageLine {
            line: found.line,
            text: found.text,
        });
        Self {
            path: path.unwrap_or(found.path),
            chat,
            kind: if found.is_directory {
                "directory"
            } else {
                "file"
            },
            lines: lines.collect(),
        }
    }
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
