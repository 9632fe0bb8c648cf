//! Searches in the tree: by glob, by lines, by name, and by both for the search box.

use axum::http::Method;
use fileshed_core::search::{
    Glob, Globs, Grep, Match, Matches, MatchingLine, NamedEntry, Pattern, RankedNames, Wanted,
};
use fileshed_core::view::View;
use fileshed_core::{Error, diagnostics, search};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::terminal::endpoint::Endpoint;

/// Of which kind the entries are that are looked for.
#[derive(Clone, Copy, Default, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum EntryType {
    File,
    Directory,
    #[default]
    Any,
}

impl From<EntryType> for Wanted {
    fn from(wanted: EntryType) -> Self {
        match wanted {
            EntryType::File => Self::Files,
            EntryType::Directory => Self::Directories,
            EntryType::Any => Self::Any,
        }
    }
}

/// The name of a kind in answers.
pub(super) fn name_of(is_directory: bool) -> &'static str {
    if is_directory { "directory" } else { "file" }
}

/// The most matches of an answer.
const GLOB_MOST: i64 = 500;

/// `GET /files/glob`
pub(in crate::http::terminal) struct GlobSearch;

/// What `glob_search` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct GlobRequest {
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
pub(in crate::http::terminal) struct GlobResponse {
    pattern: String,
    path: String,
    matches: Vec<NamedEntry>,
    truncated: bool,
}

impl Endpoint for GlobSearch {
    const ID: &'static str = "glob_search";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/glob";
    const DOC: &'static str = "Find files and directories by name.";
    type Request = GlobRequest;
    type Response = GlobResponse;

    fn run(view: View<'_>, request: GlobRequest) -> Result<GlobResponse, Error> {
        let text = request.path.as_deref().unwrap_or(".");
        let path = view.path("path", text)?;
        let exclude = request.exclude.unwrap_or_default();
        let glob = Glob {
            pattern: Globs::new("pattern", [request.pattern.as_str()])?,
            exclude: Globs::new("exclude", exclude.iter().map(String::as_str))?,
            wanted: request.r#type.unwrap_or_default().into(),
            most: request.max_results.unwrap_or(50).clamp(1, GLOB_MOST) as usize,
        };
        let searched = view.searched("path", &path)?;
        searched.expect_directories()?;
        let found = search::glob(&searched.trees(), &glob, &view.search_bounds());
        Ok(GlobResponse {
            pattern: request.pattern,
            path: path.as_str().to_owned(),
            matches: found.items,
            truncated: found.truncated,
        })
    }
}

/// The most matches of an answer.
const GREP_MOST: i64 = 500;

/// `GET /files/grep`
pub(in crate::http::terminal) struct GrepSearch;

/// What `grep_search` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct GrepRequest {
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
pub(in crate::http::terminal) struct GrepResponse {
    query: String,
    path: String,
    matches: Vec<MatchingLine>,
    truncated: bool,
}

impl Endpoint for GrepSearch {
    const ID: &'static str = "grep_search";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/grep";
    const DOC: &'static str = "Search the lines of files.";
    type Request = GrepRequest;
    type Response = GrepResponse;

    fn run(view: View<'_>, request: GrepRequest) -> Result<GrepResponse, Error> {
        let text = request.path.as_deref().unwrap_or(".");
        let path = view.path("path", text)?;
        let is_regex = request.regex.unwrap_or(true);
        let ignores_case = request.case_insensitive.unwrap_or(false);
        let include = request.include.unwrap_or_default();
        let grep = Grep {
            pattern: Pattern::new("query", &request.query, is_regex, ignores_case)?,
            include: Globs::new("include", include.iter().map(String::as_str))?,
            each_line: request.match_per_line.unwrap_or(true),
            most: request.max_results.unwrap_or(50).clamp(1, GREP_MOST) as usize,
        };
        let searched = view.searched("path", &path)?;
        let found = search::grep(&searched.trees(), &grep, &view.search_bounds());
        Ok(GrepResponse {
            query: request.query,
            path: path.as_str().to_owned(),
            matches: found.items,
            truncated: found.truncated,
        })
    }
}

/// The most results of an answer.
const SEARCH_MOST: i64 = 100;

/// `GET /files/search`
pub(in crate::http::terminal) struct SearchFiles;

/// What `search_files` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct SearchFilesRequest {
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
pub(in crate::http::terminal) struct SearchFilesResponse {
    results: Vec<NamedEntry>,
}

impl Endpoint for SearchFiles {
    const ID: &'static str = "search_files";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/search";
    type Request = SearchFilesRequest;
    type Response = SearchFilesResponse;

    fn run(view: View<'_>, request: SearchFilesRequest) -> Result<SearchFilesResponse, Error> {
        let text = request.path.as_deref().unwrap_or(".");
        let path = view.path("path", text)?;
        let names = RankedNames {
            query: request.query.unwrap_or_default(),
            wanted: request.r#type.unwrap_or_default().into(),
            shows_hidden: request.show_hidden.unwrap_or(false),
            most: request.limit.unwrap_or(20).clamp(1, SEARCH_MOST) as usize,
        };
        let searched = view.searched("path", &path)?;
        searched.expect_directories()?;
        let found = search::ranked_names(&searched.trees(), &names, &view.search_bounds());
        Ok(SearchFilesResponse { results: found })
    }
}

/// The most results of a page.
const PAGE: i64 = 100;

/// `GET /files/matches`
pub(in crate::http::terminal) struct MatchFiles;

/// What `match_files` takes.
#[derive(Deserialize, ToSchema)]
pub(in crate::http::terminal) struct MatchFilesRequest {
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
pub(in crate::http::terminal) struct MatchFilesResponse {
    results: Vec<Match>,
    /// Where the next page begins; null behind the last one.
    next_offset: Option<usize>,
}

impl Endpoint for MatchFiles {
    const ID: &'static str = "match_files";
    const METHOD: Method = Method::GET;
    const PATH: &'static str = "/files/matches";
    type Request = MatchFilesRequest;
    type Response = MatchFilesResponse;

    fn run(view: View<'_>, request: MatchFilesRequest) -> Result<MatchFilesResponse, Error> {
        let query = request.query.trim();
        if query.is_empty() {
            return Err(MatchError.into());
        }
        let text = request.path.as_deref().unwrap_or(".");
        let path = view.path("path", text)?;
        let matches = Matches {
            pattern: Pattern::new("query", query, false, true)?,
            query: query.to_owned(),
            shows_hidden: request.show_hidden.unwrap_or(false),
            offset: request.offset.unwrap_or(0).max(0) as usize,
            most: request.limit.unwrap_or(PAGE).clamp(1, PAGE) as usize,
        };
        let searched = view.searched("path", &path)?;
        searched.expect_directories()?;
        let page = search::matches(&searched.trees(), &matches, &view.search_bounds());
        Ok(MatchFilesResponse {
            results: page.items,
            next_offset: page.next_offset,
        })
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
