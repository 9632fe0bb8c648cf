//! `GET /files/matches`: names and contents that hold what somebody types into the search box.

use axum::http::Method;
use fileshed_core::search::{self, ContentMatch, Matches};
use fileshed_core::view::View;
use fileshed_core::view::search::pattern;
use fileshed_core::{Error, diagnostics};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entry_type::name_of;
use crate::http::terminal::endpoint::Endpoint;

/// The most results of a page.
const PAGE: i64 = 100;

/// `GET /files/matches`
pub(in crate::http::terminal) struct MatchFiles;

/// What `match_files` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// What names and lines hold, in any case.
    query: String,
    /// Directory; default: the working directory.
    path: Option<String>,
    /// Default false.
    show_hidden: Option<bool>,
    /// Where the page begins.
    offset: Option<i64>,
    /// 1 to 100, default 100.
    limit: Option<i64>,
}

/// A page of what was found, the nearest first.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    results: Vec<MatchedEntry>,
    /// Where the next page begins; null behind the last one.
    next_offset: Option<usize>,
}

/// An entry.
#[derive(Serialize)]
struct MatchedEntry {
    path: String,
    relative_path: String,
    name: String,
    r#type: &'static str,
    name_match: bool,
    content_matches: Vec<ContentLine>,
}

/// A line of it.
#[derive(Serialize)]
struct ContentLine {
    line: u64,
    /// In UTF-16 units, as browsers count.
    column: usize,
    text: String,
}

impl Endpoint for MatchFiles {
    const ID: &'static str = "match_files";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/matches";
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let query = request.query.trim();
        if query.is_empty() {
            return Err(MatchError.into());
        }
        let text = request.path.as_deref().unwrap_or(".");
        let path = view.path("path", text)?;
        let matches = Matches {
            pattern: pattern("query", query, false, true)?,
            query: query.to_owned(),
            shows_hidden: request.show_hidden.unwrap_or(false),
            offset: request.offset.unwrap_or(0).max(0) as usize,
            most: request.limit.unwrap_or(PAGE).clamp(1, PAGE) as usize,
        };
        let searched = view.searched("path", &path)?;
        searched.expect_directories()?;
        let page = search::matches(&searched.trees(), &matches, &view.search_bounds());
        let results = page.items.into_iter().map(|item| MatchedEntry {
            path: item.path,
            relative_path: item.relative_path,
            name: item.name,
            r#type: name_of(item.is_directory),
            name_match: item.name_match,
            content_matches: item.content_matches.into_iter().map(line).collect(),
        });
        Ok(Response {
            results: results.collect(),
            next_offset: page.next_offset,
        })
    }
}

fn line(found: ContentMatch) -> ContentLine {
    ContentLine {
        line: found.line,
        column: found.column,
        text: found.text,
    }
}

diagnostics! {
    /// A search for nothing.
    #[derive(Debug, thiserror::Error)]
    #[error("`query` is blank")]
    pub(in crate::http::terminal) struct MatchError => {
        code: MissingParameter,
        hint: "give the text that names or lines hold in `query`",
        details: { "parameter": "query" },
    }
}
