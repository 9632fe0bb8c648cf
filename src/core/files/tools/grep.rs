//! `grep_search`: lines of files.

use std::borrow::Cow;
use std::ops::ControlFlow;

use fileshed_search::{Pattern, sections};
use fileshed_text::lines;
use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::glob::{NamePattern, excluded};
use super::read::decoded;
use super::{Files, is_binary};
use crate::error::ToolError;
use crate::path;

/// The longest pattern, in bytes.
const LENGTH: usize = 4096;

/// Bytes of a line that are shown.
const LINE: usize = 500;

/// Kind of the results of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// The files.
    #[default]
    FilesWithMatches,
    /// The lines.
    Content,
    /// The number of lines of each file.
    Count,
}

/// Lines to look for.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct GrepSearch {
    /// Text
    pub pattern: String,
    /// Directory or file
    pub path: Option<String>,
    /// Only files like *.py
    pub glob: Option<String>,
    /// Any case
    pub case_insensitive: Option<bool>,
    /// Kind of results
    #[schema(inline)]
    pub output_mode: Option<OutputMode>,
    /// pattern is a regular expression
    pub is_regex: Option<bool>,
    /// Names to leave out
    pub exclude: Option<Vec<String>>,
    /// Skip files .gitignore names
    pub gitignore: Option<bool>,
}

/// Response of `grep_search`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GrepAnswer {
    /// `ok`
    pub status: &'static str,
    /// The pattern received.
    pub pattern: String,
    /// The kind of `matches`.
    pub output_mode: OutputMode,
    /// Files, lines or counts.
    pub matches: Vec<GrepMatch>,
    /// `true` if there may be more.
    pub truncated: bool,
    /// Directories that were not searched to their end.
    pub truncated_branches: Vec<String>,
    /// Documents that were not searched, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// One result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum GrepMatch {
    /// The path of a file.
    File(String),
    /// A line of a file.
    Line {
        /// The file.
        path: String,
        /// Its number, from 1.
        line: u64,
        /// Its text.
        text: String,
    },
    /// Number of matching lines of a file.
    Count {
        /// The file.
        path: String,
        /// The number.
        count: u64,
    },
}

impl Files<'_> {
    /// Finds lines, in time that is linear in what is searched.
    pub fn grep_search(&self, request: &GrepSearch) -> Result<GrepAnswer, Error> {
        let given = request.path.as_deref().unwrap_or("");
        let start = path::parse(given)?;
        let pattern = compiled(request)?;
        let names = request.glob.as_deref().filter(|glob| !glob.is_empty());
        let names = names
            .map(|glob| NamePattern::new("glob", glob.trim_start_matches('/'), !glob.contains('/')))
            .transpose()?;
        let exclude = excluded(request.exclude.as_deref(), request.gitignore)?;
        let mode = request.output_mode.unwrap_or_default();
        let mut search = Search {
            pattern: &pattern,
            mode,
            matches: Vec::new(),
            most: self.limits.results,
            bytes_left: self.limits.answer_bytes,
            full: false,
        };
        let unseen = self.walk(given, &start, &exclude, |entry| {
            let path = entry.path.below(&start);
            let name = entry.path.name().unwrap_or_default();
            let is_wanted = names.as_ref().is_none_or(|names| names.fit(name, path));
            if entry.is_directory() || !is_wanted {
                return Ok(ControlFlow::Continue(()));
            }
            // A file that is gone or cannot be read is passed over.
            let at = self.at(&entry.path);
            if let Ok(found) = self.provider.stat(&at)
                && found.size <= self.limits.text_bytes
                && let Ok(content) = self.provider.read(&at, 0..found.size)
            {
                let path = entry.path.as_str();
                match self.document(path, &content) {
                    Some(Ok(text)) => search.file(path, &text, sections(&text)),
                    None if !is_binary(&content.bytes) => {
                        search.file(path, &decoded(&content.bytes), |_| None);
                    }
                    Some(Err(_)) | None => {}
                }
            }
            Ok(if search.full {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok(GrepAnswer {
            status: "ok",
            pattern: request.pattern.clone(),
            output_mode: mode,
            truncated: unseen.any || search.full,
            matches: search.matches,
            truncated_branches: unseen.branches,
            message: self.documents.note(),
        })
    }
}

fn compiled(request: &GrepSearch) -> Result<Pattern, ToolError> {
    let pattern = request.pattern.as_str();
    if pattern.is_empty() || pattern.len() > LENGTH {
        let reason = "it must have 1 to 4096 bytes".to_owned();
        return Err(ToolError::Regex(reason));
    }
    let is_regex = request.is_regex.unwrap_or(false);
    let ignores_case = request.case_insensitive.unwrap_or(false);
    Pattern::new("pattern", pattern, is_regex, ignores_case)
        .map_err(|error| ToolError::Regex(error.reason()))
}

/// Results of a search so far.
struct Search<'s> {
    pattern: &'s Pattern,
    mode: OutputMode,
    matches: Vec<GrepMatch>,
    most: usize,
    bytes_left: usize,
    full: bool,
}

impl Search<'_> {
    /// Searches a text, of whose lines some belong to a page, slide or sheet.
    fn file<'t>(
        &mut self,
        path: &str,
        content: &str,
        mut section: impl FnMut(u64) -> Option<&'t str>,
    ) {
        let pattern = self.pattern;
        let lines = (1..).zip(lines(content.as_bytes()));
        let mut lines = lines.filter(|(_, line)| pattern.is_match(line));
        match self.mode {
            OutputMode::FilesWithMatches => {
                if lines.next().is_some() {
                    self.add(GrepMatch::File(path.to_owned()));
                }
            }
            OutputMode::Content => {
                for (line, text) in lines {
                    let text = String::from_utf8_lossy(text);
                    let text = match section(line) {
                        Some(section) => Cow::Owned(format!("[{section}] {text}")),
                        None => text,
                    };
                    self.add(GrepMatch::Line {
                        path: path.to_owned(),
                        line,
                        text: text[..text.floor_char_boundary(LINE)].to_owned(),
                    });
                    if self.full {
                        break;
                    }
                }
            }
            OutputMode::Count => {
                let (path, count) = (path.to_owned(), lines.count() as u64);
                if count > 0 {
                    self.add(GrepMatch::Count { path, count });
                }
            }
        }
    }

    /// Adds a result, unless there are enough.
    fn add(&mut self, found: GrepMatch) {
        let bytes = 40
            + match &found {
                GrepMatch::File(path) | GrepMatch::Count { path, .. } => path.len(),
                GrepMatch::Line { path, text, .. } => path.len() + text.len(),
            };
        if self.matches.len() >= self.most || bytes > self.bytes_left {
            self.full = true;
            return;
        }
        self.bytes_left -= bytes;
        self.matches.push(found);
    }
}
