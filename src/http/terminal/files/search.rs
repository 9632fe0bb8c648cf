//! `GET /files/search`: names that hold what somebody types behind an @.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::search::{self, RankedEntry, RankedNames};
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entry_type::{EntryType, name_of};
use crate::http::terminal::endpoint::Endpoint;

/// The most results of an answer.
const MOST: i64 = 100;

/// `GET /files/search`
pub(in crate::http::terminal) struct SearchFiles;

/// What `search_files` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// What names hold, in any case.
    query: Option<String>,
    /// Directory; default: the working directory.
    path: Option<String>,
    /// 1 to 100, default 20.
    limit: Option<i64>,
    /// Default any.
    #[schema(inline)]
    r#type: Option<EntryType>,
    /// Default false.
    show_hidden: Option<bool>,
}

/// What was found, the nearest first.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    results: Vec<FoundEntry>,
}

/// An entry.
#[derive(Serialize)]
struct FoundEntry {
    path: String,
    name: String,
    r#type: &'static str,
    size: u64,
    /// Seconds since 1970.
    modified: f64,
}

impl Endpoint for SearchFiles {
    const ID: &'static str = "search_files";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/search";
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let text = request.path.as_deref().unwrap_or(".");
        let path = view.path("path", text)?;
        let names = RankedNames {
            query: request.query.unwrap_or_default(),
            wanted: request.r#type.unwrap_or_default().into(),
            shows_hidden: request.show_hidden.unwrap_or(false),
            most: request.limit.unwrap_or(20).clamp(1, MOST) as usize,
        };
        let searched = view.searched("path", &path)?;
        searched.expect_directories()?;
        let found = search::ranked_names(&searched.trees(), &names, &view.search_bounds());
        Ok(Response {
            results: found.into_iter().map(shown).collect(),
        })
    }
}

fn shown(entry: RankedEntry) -> FoundEntry {
    FoundEntry {
        path: entry.path,
        name: entry.name,
        r#type: name_of(entry.is_directory),
        size: entry.size,
        modified: entry.modified,
    }
}
