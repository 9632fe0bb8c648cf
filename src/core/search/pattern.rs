//! Patterns of lines and of names.

use std::borrow::Cow;

use fileshed_text::{beginning, line_pattern};
use globset::{Candidate, GlobBuilder, GlobSet, GlobSetBuilder};
use grep_matcher::Matcher as _;
use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};

use crate::SearchError;

/// The longest pattern of lines, in bytes.
const PATTERN: usize = 4096;

/// The most space of a compiled pattern, and of what each thread remembers of it.
const PROGRAM: usize = 1 << 20;
const MEMORY: usize = 8 << 20;

/// Deepest nesting of groups.
const DEPTH: u32 = 100;

/// The longest pattern of names, in bytes, and the most of them.
const GLOB: usize = 1024;
const GLOBS: usize = 100;

/// A text or a regular expression that is held against lines, in linear time.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(crate) matcher: RegexMatcher,
}

impl Pattern {
    /// The value of `parameter` as it is, or as a regular expression of Python's `re`.
    pub fn new(
        parameter: &'static str,
        text: &str,
        is_regex: bool,
        ignores_case: bool,
    ) -> Result<Self, SearchError> {
        let rejected = |reason: String| SearchError::Pattern {
            parameter,
            reason,
            pattern: beginning(text),
        };
        let words = if is_regex {
            Cow::Owned(line_pattern(text).map_err(rejected)?)
        } else {
            Cow::Borrowed(text)
        };
        if text.len() > PATTERN {
            let reason = "it has more than 4096 bytes";
            return Err(SearchError::TooLarge { parameter, reason });
        }
        let built = RegexMatcherBuilder::new()
            .fixed_strings(!is_regex)
            .case_insensitive(ignores_case)
            .multi_line(true)
            .size_limit(PROGRAM)
            .dfa_size_limit(MEMORY)
            .nest_limit(DEPTH)
            .crlf(true)
            .build(&words);
        let matcher = built.map_err(|error| match error.kind() {
            ErrorKind::NotAllowed(_) => SearchError::LineEnd { parameter },
            ErrorKind::Regex(reason) if reason.contains("size limit") => {
                let reason = "it compiles to too large a program";
                SearchError::TooLarge { parameter, reason }
            }
            // The last line says what is wrong, below a drawing of where.
            _ => {
                let text = error.to_string();
                let last = text.lines().last().unwrap_or_default();
                rejected(last.trim_start_matches("error: ").to_owned())
            }
        })?;
        Ok(Self { matcher })
    }

    /// `true` if it occurs in a line.
    pub fn is_match(&self, line: &[u8]) -> bool {
        self.matcher.is_match(line).unwrap_or(false)
    }
}

/// Patterns of which one must fit: `*`, `?`, `[…]`, `{a,b}`, and `**/` for any directories. One
/// without a slash is held against names, at any depth; one with a slash against paths, where `*`
/// stays within a name.
#[derive(Clone, Debug)]
pub struct Globs {
    names: GlobSet,
    paths: GlobSet,
}

impl Globs {
    /// The values of `parameter`.
    pub fn new<'t>(
        parameter: &'static str,
        patterns: impl IntoIterator<Item = &'t str>,
    ) -> Result<Self, SearchError> {
        let rejected = |error: &globset::Error, pattern: &str| SearchError::Glob {
            parameter,
            reason: error.kind().to_string(),
            pattern: beginning(pattern),
        };
        let (mut names, mut paths) = (GlobSetBuilder::new(), GlobSetBuilder::new());
        for (count, pattern) in patterns.into_iter().enumerate() {
            if pattern.len() > GLOB || count >= GLOBS {
                let reason = "more than 100 patterns, or one of more than 1024 bytes";
                return Err(SearchError::TooLarge { parameter, reason });
            }
            let plain = pattern.trim_start_matches("./").trim_end_matches('/');
            let glob = GlobBuilder::new(plain)
                .literal_separator(true)
                .allow_unclosed_class(true)
                .build()
                .map_err(|error| rejected(&error, pattern))?;
            if plain.contains('/') {
                paths.add(glob);
            } else {
                names.add(glob);
            }
        }
        let built = |set: &GlobSetBuilder| {
            let built = set.build();
            built.map_err(|error| rejected(&error, error.glob().unwrap_or_default()))
        };
        Ok(Self {
            names: built(&names)?,
            paths: built(&paths)?,
        })
    }

    /// `true` if there is none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.paths.is_empty()
    }

    /// `true` if one fits an entry: its name, or its path, which is asked for only where that matters.
    pub fn fit(&self, name: &str, path: impl FnOnce() -> String) -> bool {
        self.names
            .is_match_candidate(&Candidate::from_bytes(name.as_bytes()))
            || (!self.paths.is_empty() && self.paths.is_match(path()))
    }
}
