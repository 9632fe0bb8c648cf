//! `GET /files/glob`: files and directories whose names fit a pattern.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::search::{self, Glob, Globs, NamedEntry};
use fileshed_core::view::View;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::entry_type::{EntryType, name_of};
use crate::http::terminal::endpoint::Endpoint;

/// The most matches of an answer.
const MOST: i64 = 500;

/// `GET /files/glob`
pub(in crate::http::terminal) struct GlobSearch;

/// What `glob_search` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// As in a shell: *.md, src/**/*.{js,ts}
    pattern: String,
    /// Directory; default: the working directory.
    path: Option<String>,
    /// Names or directories to leave out.
    exclude: Option<Vec<String>>,
    /// Default any.
    #[schema(inline)]
    r#type: Option<EntryType>,
    /// 1 to 500, default 50.
    max_results: Option<i64>,
}

/// What was found.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    pattern: String,
    path: String,
    matches: Vec<MatchedName>,
    truncated: bool,
}

/// An entry, with its path below the directory that was searched.
#[derive(Serialize)]
struct MatchedName {
    path: String,
    r#type: &'static str,
    size: u64,
    /// Seconds since 1970.
    modified: f64,
}

impl Endpoint for GlobSearch {
    const ID: &'static str = "glob_search";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/glob";
    const DOC: &'static str = "Find files and directories by name.";
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let text = request.path.as_deref().unwrap_or(".");
        let path = view.path("path", text)?;
        let exclude = request.exclude.unwrap_or_default();
        let glob = Glob {
            pattern: Globs::new("pattern", [request.pattern.as_str()])?,
            exclude: Globs::new("exclude", exclude.iter().map(String::as_str))?,
            wanted: request.r#type.unwrap_or_default().into(),
            most: request.max_results.unwrap_or(50).clamp(1, MOST) as usize,
        };
        let searched = view.searched("path", &path)?;
        searched.expect_directories()?;
        let found = search::glob(&searched.trees(), &glob, &view.search_bounds());
        Ok(Response {
            pattern: request.pattern,
            path: path.as_str().to_owned(),
            matches: found.items.into_iter().map(shown).collect(),
            truncated: found.truncated,
        })
    }
}

fn shown(entry: NamedEntry) -> MatchedName {
    MatchedName {
        path: entry.path,
        r#type: name_of(entry.is_directory),
        size: entry.size,
        modified: entry.modified,
    }
}
