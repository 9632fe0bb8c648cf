//! `grep_search`: lines of files.

use std::ops::ControlFlow;

use fileshed_text::line_pattern;
use fileshed_types::Error;
use globset::GlobMatcher;
use regex::bytes::{Regex, RegexBuilder};
use serde::{Deserialize, Serialize};

use super::glob::{below, matcher};
use super::read::decoded;
use super::{Files, is_binary};
use crate::error::ToolError;
use crate::path;
use crate::provider::Named;

/// The longest pattern, in bytes.
const LENGTH: usize = 4096;

/// The most space of a compiled pattern.
const PROGRAM: usize = 1 << 20;

/// Bytes of a line that are shown.
const LINE: usize = 500;

/// What a search answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum OutputMode {
    /// Which files.
    #[default]
    FilesWithMatches,
    /// The lines.
    Content,
    /// How many lines of each file.
    Count,
}

/// What lines are looked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
pub struct GrepSearch {
    /// Text
    pub pattern: String,
    /// Directory or file
    pub path: Option<String>,
    /// Only files like *.py
    pub glob: Option<String>,
    /// Any case
    pub case_insensitive: Option<bool>,
    /// What to answer
    #[cfg_attr(feature = "schema", schema(inline))]
    pub output_mode: Option<OutputMode>,
    /// pattern is a regular expression
    pub is_regex: Option<bool>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Matches {
    /// `ok`
    pub status: &'static str,
    /// As it was given.
    pub pattern: String,
    /// What `matches` are.
    pub output_mode: OutputMode,
    /// Files, lines or counts.
    pub matches: Vec<GrepMatch>,
    /// Whether there may be more.
    pub truncated: bool,
    /// Directories that were not searched to their end.
    pub truncated_branches: Vec<String>,
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
    /// How many lines of a file.
    Count {
        /// The file.
        path: String,
        /// How many.
        count: u64,
    },
}

impl Files<'_> {
    /// Finds lines, in time that is linear in what is searched.
    pub fn grep_search(&self, request: &GrepSearch) -> Result<Matches, Error> {
        let given = request.path.as_deref().unwrap_or("");
        let start = path::parse(given)?;
        let pattern = compiled(request)?;
        let names = match request.glob.as_deref().filter(|glob| !glob.is_empty()) {
            Some(glob) => Some((
                matcher("glob", glob.trim_start_matches('/'))?,
                glob.contains('/'),
            )),
            None => None,
        };
        let mode = request.output_mode.unwrap_or_default();
        let deadline = self.deadline();
        let mut search = Search {
            pattern: &pattern,
            mode,
            matches: Vec::new(),
            most: self.limits.results,
            bytes_left: self.limits.answer_bytes,
            full: false,
        };
        let unseen = self.walk(given, &start, &deadline, |entry| {
            let is_wanted = names
                .as_ref()
                .is_none_or(|names| fits(names, below(&start, &entry.path), entry));
            if entry.is_directory() || !is_wanted {
                return Ok(ControlFlow::Continue(()));
            }
            // What is gone or cannot be read has no lines.
            let at = self.at(&entry.path);
            if let Ok(found) = self.provider.stat(&at)
                && found.size <= self.limits.text_bytes
                && let Ok(content) = self.provider.read(&at, 0..found.size)
                && !is_binary(&content.bytes)
            {
                search.file(entry.path.as_str(), decoded(&content.bytes).as_bytes());
            }
            Ok(if search.full {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            })
        })?;
        Ok(Matches {
            status: "ok",
            pattern: request.pattern.clone(),
            output_mode: mode,
            truncated: unseen.any || search.full,
            matches: search.matches,
            truncated_branches: unseen.branches,
        })
    }
}

/// Whether a pattern of names fits: one without a slash a name at any depth, else a path.
fn fits((glob, is_path): &(GlobMatcher, bool), below: &str, entry: &Named) -> bool {
    let name = entry.path.name().unwrap_or_default();
    glob.is_match(if *is_path { below } else { name })
}

fn compiled(request: &GrepSearch) -> Result<Regex, ToolError> {
    let rejected = |reason: String| ToolError::Regex { reason };
    let pattern = request.pattern.as_str();
    if pattern.is_empty() || pattern.len() > LENGTH {
        return Err(rejected("it must have 1 to 4096 bytes".to_owned()));
    }
    let words = if request.is_regex.unwrap_or(false) {
        line_pattern(pattern).map_err(rejected)?
    } else {
        regex::escape(pattern)
    };
    RegexBuilder::new(&words)
        .case_insensitive(request.case_insensitive.unwrap_or(false))
        .size_limit(PROGRAM)
        .build()
        .map_err(|error| {
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            rejected(last.trim_start_matches("error: ").to_owned())
        })
}

/// What a search has found so far.
struct Search<'s> {
    pattern: &'s Regex,
    mode: OutputMode,
    matches: Vec<GrepMatch>,
    most: usize,
    bytes_left: usize,
    full: bool,
}

impl Search<'_> {
    fn file(&mut self, path: &str, content: &[u8]) {
        let mut count = 0;
        let mut start = 0;
        let ends = memchr::memchr_iter(b'\n', content).chain([content.len()]);
        for (number, end) in (1..).zip(ends) {
            let line = &content[start..end];
            start = end + 1;
            if end == content.len() && line.is_empty() {
                break;
            }
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if !self.pattern.is_match(line) {
                continue;
            }
            count += 1;
            match self.mode {
                OutputMode::FilesWithMatches => break,
                OutputMode::Content => {
                    let text = String::from_utf8_lossy(line);
                    let text = text[..text.floor_char_boundary(LINE)].to_owned();
                    self.add(GrepMatch::Line {
                        path: path.to_owned(),
                        line: number,
                        text,
                    });
                    if self.full {
                        return;
                    }
                }
                OutputMode::Count => {}
            }
        }
        let path = path.to_owned();
        match self.mode {
            OutputMode::FilesWithMatches if count > 0 => self.add(GrepMatch::File(path)),
            OutputMode::Count if count > 0 => self.add(GrepMatch::Count { path, count }),
            _ => {}
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
