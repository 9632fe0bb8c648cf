//! `GET /page/search`: names and contents of all zones, or of a part of one, that hold a text.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use fileshed_core::search::{self, Matches};
use fileshed_core::view::View;
use fileshed_core::view::search::pattern;
use fileshed_core::{Caller, Channel, Error, Store, diagnostics};
use serde::{Deserialize, Serialize};

use super::read;
use crate::http::{Server, envelope, route};

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
    let (parts, _body) = request.into_parts();
    let found = async {
        let caller = route::identify_person(&server, &parts, Channel::Page).await?;
        let query = axum::extract::Query::<PageQuery>::try_from_uri(&parts.uri);
        let query = query.map_err(|_| PageQueryError)?.0;
        Ok::<_, Error>((caller, query))
    };
    match found.await {
        Ok((caller, query)) => {
            read(&server, caller, move |store, caller| {
                results(store, caller, &query)
            })
            .await
        }
        Err(error) => envelope::failure(error),
    }
}

fn results(store: &Arc<Store>, caller: &Caller, query: &PageQuery) -> Result<PageResults, Error> {
    let text = query.query.trim();
    if text.is_empty() {
        return Err(PageQueryError.into());
    }
    let mut caller = caller.clone();
    caller.names_zones = true;
    let view = View {
        store,
        caller: &caller,
    };
    let path = if query.path.is_empty() {
        "/"
    } else {
        query.path.as_str()
    };
    let path = view.path("path", path)?;
    let matches = Matches {
        pattern: pattern("query", text, false, true)?,
        query: text.to_owned(),
        shows_hidden: true,
        offset: 0,
        most: RESULTS,
    };
    let searched = view.searched("path", &path)?;
    searched.expect_directories()?;
    let page = search::matches(&searched.trees(), &matches, &view.search_bounds());
    let results = page.items.into_iter().map(|item| PageMatch {
        path: item.path,
        kind: if item.is_directory {
            "directory"
        } else {
            "file"
        },
        lines: item
            .content_matches
            .into_iter()
            .map(|found| PageLine {
                line: found.line,
                text: found.text,
            })
            .collect(),
    });
    Ok(PageResults {
        results: results.collect(),
        more: page.next_offset.is_some(),
    })
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
