//! Searches in the tree: by glob, by lines, by name, and by both for the search box.

use fileshed_core::search::{
    Bounds, Documents, Exclusions, Glob, Globs, Grep, Matches, Pattern, RankedNames, SearchRoot,
    Wanted,
};
use fileshed_core::view::ViewPath;
use fileshed_core::{CallerView, Error, SearchedDocuments, diagnostics, search};
use serde::Deserialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

/// The path that a request names, or the working directory.
fn directory(view: CallerView<'_>, named: Option<&str>) -> Result<ViewPath, Error> {
    view.path("path", named.unwrap_or("."))
}

/// Searches below a directory.
fn below<T>(
    view: CallerView<'_>,
    path: &ViewPath,
    search: impl FnOnce(&[SearchRoot<'_>], &Bounds) -> T,
) -> Result<T, Error> {
    let searched = view.searched("path", path)?;
    searched.expect_directories()?;
    Ok(search(&searched.trees(), &view.search_bounds()))
}

/// The number of results that a request asks for, at most `most`.
fn results(asked: Option<i64>, usual: i64, most: i64) -> usize {
    asked.unwrap_or(usual).clamp(1, most) as usize
}

/// Input of `glob_search`.
#[derive(Deserialize, ToSchema)]
pub(super) struct GlobRequest {
    /// As in a shell: *.md, src/**/*.{js,ts}
    pattern: String,
    /// Directory; default: the working directory.
    path: Option<String>,
    /// Names or directories to leave out.
    exclude: Option<Vec<String>>,
    /// Skip files that .gitignore names.
    gitignore: Option<bool>,
    /// Default any.
    #[schema(inline)]
    r#type: Option<Wanted>,
    /// 1 to 500, default 50.
    max_results: Option<i64>,
}

/// `GET /files/glob`
pub(super) fn glob(view: CallerView<'_>, request: &GlobRequest) -> Result<Value, Error> {
    let path = directory(view, request.path.as_deref())?;
    let glob = Glob {
        pattern: Globs::new("pattern", [request.pattern.as_str()])?,
        exclude: Exclusions::new(request.exclude.as_deref(), request.gitignore)?,
        wanted: request.r#type.unwrap_or_default(),
        most: results(request.max_results, 50, 500),
    };
    let found = below(view, &path, |trees, bounds| {
        search::glob(trees, &glob, bounds)
    })?;
    Ok(json!({
        "pattern": request.pattern,
        "path": path.as_str(),
        "matches": found.items,
        "truncated": found.truncated,
    }))
}

/// Input of `grep_search`.
#[derive(Deserialize, ToSchema)]
pub(super) struct GrepRequest {
    /// Regular expression, or text.
    query: String,
    /// Directory or file; default: the working directory.
    path: Option<String>,
    /// false: `query` is literal text.
    regex: Option<bool>,
    /// Default false.
    case_insensitive: Option<bool>,
    /// Only files like these: *.py
    include: Option<Vec<String>>,
    /// Names or directories to leave out.
    exclude: Option<Vec<String>>,
    /// Skip files that .gitignore names.
    gitignore: Option<bool>,
    /// false: only names of files.
    match_per_line: Option<bool>,
    /// 1 to 500, default 50.
    max_results: Option<i64>,
}

/// `GET /files/grep`
pub(super) fn grep(view: CallerView<'_>, request: &GrepRequest) -> Result<Value, Error> {
    let path = directory(view, request.path.as_deref())?;
    let is_regex = request.regex.unwrap_or(true);
    let ignores_case = request.case_insensitive.unwrap_or(false);
    let include = request.include.as_deref().unwrap_or_default();
    let each_line = request.match_per_line.unwrap_or(true);
    let grep = Grep {
        pattern: Pattern::new("query", &request.query, is_regex, ignores_case)?,
        include: Globs::new("include", include.iter().map(String::as_str))?,
        exclude: Exclusions::new(request.exclude.as_deref(), request.gitignore)?,
        each_line,
        most: results(request.max_results, 50, 500),
    };
    let searched = view.searched("path", &path)?;
    let documents = SearchedDocuments::new(&view.core.runs, view.caller);
    let found = search::grep(&searched.trees(), &grep, &view.search_bounds(), &documents);
    let answer = json!({
        "query": request.query,
        "path": path.as_str(),
        "matches": found.items,
        "truncated": found.truncated,
    });
    Ok(noting(answer, &documents))
}

/// Input of `search_files`.
#[derive(Deserialize, ToSchema)]
pub(super) struct SearchRequest {
    /// Text in names, in any case.
    query: Option<String>,
    /// Directory; default: the working directory.
    path: Option<String>,
    /// 1 to 100, default 20.
    limit: Option<i64>,
    /// Default any.
    #[schema(inline)]
    r#type: Option<Wanted>,
    /// Default false.
    show_hidden: Option<bool>,
}

/// `GET /files/search`: the nearest names first.
pub(super) fn search(view: CallerView<'_>, request: &SearchRequest) -> Result<Value, Error> {
    let path = directory(view, request.path.as_deref())?;
    let names = RankedNames {
        query: request.query.clone().unwrap_or_default(),
        wanted: request.r#type.unwrap_or_default(),
        shows_hidden: request.show_hidden.unwrap_or(false),
        most: results(request.limit, 20, 100),
    };
    let found = below(view, &path, |trees, bounds| {
        search::ranked_names(trees, &names, bounds)
    })?;
    Ok(json!({"results": found}))
}

/// Input of `match_files`.
#[derive(Deserialize, ToSchema)]
pub(super) struct MatchRequest {
    /// Text in names or lines, in any case.
    query: String,
    /// Directory; default: the working directory.
    path: Option<String>,
    /// Default false.
    show_hidden: Option<bool>,
    /// Start of the page.
    offset: Option<i64>,
    /// 1 to 100, default 100.
    limit: Option<i64>,
}

/// `GET /files/matches`: a page of names and lines, the nearest first. Columns count UTF-16 units, as
/// browsers do; after the last page the next offset is null.
pub(super) fn matches(view: CallerView<'_>, request: &MatchRequest) -> Result<Value, Error> {
    let query = request.query.trim();
    if query.is_empty() {
        return Err(MatchError.into());
    }
    let path = directory(view, request.path.as_deref())?;
    let matches = Matches {
        pattern: Pattern::new("query", query, false, true)?,
        query: query.to_owned(),
        shows_hidden: request.show_hidden.unwrap_or(false),
        offset: request.offset.unwrap_or(0).max(0) as usize,
        most: results(request.limit, 100, 100),
    };
    let documents = SearchedDocuments::new(&view.core.runs, view.caller);
    let page = below(view, &path, |trees, bounds| {
        search::matches(trees, &matches, bounds, &documents)
    })?;
    let answer = json!({"results": page.items, "next_offset": page.next_offset});
    Ok(noting(answer, &documents))
}

/// An answer that says which documents were not searched, if there are any.
fn noting(mut answer: Value, documents: &dyn Documents) -> Value {
    if let Some(note) = documents.note() {
        answer["message"] = note.into();
    }
    answer
}

diagnostics! {
    /// A search for nothing.
    #[derive(Debug, thiserror::Error)]
    #[error("`query` is blank")]
    pub(super) struct MatchError => {
        code: MissingParameter,
        hint: "give in `query` the text to find in names or lines",
        details: { "parameter": "query" },
    }
}
