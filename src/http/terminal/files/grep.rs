//! `GET /files/grep`: lines of files that match.

use axum::http::Method;
use fileshed_core::Error;
use fileshed_core::search::{self, Globs, Grep};
use fileshed_core::view::View;
use fileshed_core::view::search::pattern;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// The most matches of an answer.
const MOST: i64 = 500;

/// `GET /files/grep`
pub(in crate::http::terminal) struct GrepSearch;

/// What `grep_search` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct Request {
    /// Regular expression, or text.
    query: String,
    /// Directory or file; default: the working directory.
    path: Option<String>,
    /// false: `query` is text as it is.
    regex: Option<bool>,
    /// Default false.
    case_insensitive: Option<bool>,
    /// Only files like these: *.py
    include: Option<Vec<String>>,
    /// false: only names of files.
    match_per_line: Option<bool>,
    /// 1 to 500, default 50.
    max_results: Option<i64>,
}

/// What was found.
#[derive(Serialize)]
pub(in crate::http::terminal) struct Response {
    query: String,
    path: String,
    matches: Vec<MatchedLine>,
    truncated: bool,
}

/// A line, or only its file.
#[derive(Serialize)]
struct MatchedLine {
    file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<String>,
}

impl Endpoint for GrepSearch {
    const ID: &'static str = "grep_search";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/grep";
    const DOC: &'static str = "Search the lines of files.";
    type Request = Request;
    type Response = Response;

    fn run(view: View<'_>, request: Request) -> Result<Response, Error> {
        let text = request.path.as_deref().unwrap_or(".");
        let path = view.path("path", text)?;
        let is_regex = request.regex.unwrap_or(true);
        let ignores_case = request.case_insensitive.unwrap_or(false);
        let include = request.include.unwrap_or_default();
        let each_line = request.match_per_line.unwrap_or(true);
        let grep = Grep {
            pattern: pattern("query", &request.query, is_regex, ignores_case)?,
            include: Globs::new("include", include.iter().map(String::as_str))?,
            each_line,
            most: request.max_results.unwrap_or(50).clamp(1, MOST) as usize,
        };
        let searched = view.searched("path", &path)?;
        let found = search::grep(&searched.trees(), &grep, &view.search_bounds());
        let matches = found.items.into_iter().map(|item| MatchedLine {
            file: item.file,
            line: each_line.then_some(item.line),
            content: each_line.then_some(item.content),
        });
        Ok(Response {
            query: request.query,
            path: path.as_str().to_owned(),
            matches: matches.collect(),
            truncated: found.truncated,
        })
    }
}
