//! What is searched for in a line.

use grep_regex::{ErrorKind, RegexMatcher, RegexMatcherBuilder};

use crate::SearchError;
use crate::error::beginning;

/// The longest pattern, in bytes.
const LENGTH: usize = 4096;

/// The most space of a compiled pattern, and of what each thread remembers of it.
const PROGRAM: usize = 1 << 20;
const MEMORY: usize = 8 << 20;

/// How deep groups may lie in each other.
const DEPTH: u32 = 100;

/// A text or a regular expression that is held against lines, in linear time.
#[derive(Clone, Debug)]
pub struct Pattern {
    pub(crate) matcher: RegexMatcher,
}

impl Pattern {
    /// The value of `parameter` as it is.
    pub fn literal(
        parameter: &'static str,
        text: &str,
        ignores_case: bool,
    ) -> Result<Self, SearchError> {
        let build = |builder: &mut RegexMatcherBuilder| builder.fixed_strings(true).build(text);
        Self::compile(parameter, text, ignores_case, build)
    }

    /// The value of `parameter` as a regular expression, which `words` says in the engine's words or
    /// gives the reason why it is none.
    pub fn regex(
        parameter: &'static str,
        text: &str,
        words: Result<String, String>,
        ignores_case: bool,
    ) -> Result<Self, SearchError> {
        let words = words.map_err(|reason| SearchError::Pattern {
            parameter,
            reason,
            pattern: beginning(text),
        })?;
        let build = |builder: &mut RegexMatcherBuilder| builder.build(&words);
        Self::compile(parameter, text, ignores_case, build)
    }

    fn compile(
        parameter: &'static str,
        text: &str,
        ignores_case: bool,
        build: impl Fn(&mut RegexMatcherBuilder) -> Result<RegexMatcher, grep_regex::Error>,
    ) -> Result<Self, SearchError> {
        if text.len() > LENGTH {
            let reason = "it has more than 4096 bytes";
            return Err(SearchError::TooLarge { parameter, reason });
        }
        let mut builder = RegexMatcherBuilder::new();
        builder
            .case_insensitive(ignores_case)
            .multi_line(true)
            .size_limit(PROGRAM)
            .dfa_size_limit(MEMORY)
            .nest_limit(DEPTH)
            .crlf(true);
        let matcher = build(&mut builder).map_err(|error| match error.kind() {
            ErrorKind::NotAllowed(_) => SearchError::LineEnd { parameter },
            ErrorKind::Regex(reason) if reason.contains("size limit") => {
                let reason = "it compiles to too large a program";
                SearchError::TooLarge { parameter, reason }
            }
            _ => SearchError::Pattern {
                parameter,
                reason: reason(&error.to_string()),
                pattern: beginning(text),
            },
        })?;
        Ok(Self { matcher })
    }
}

/// What is wrong, without the drawing around it.
fn reason(text: &str) -> String {
    let last = text.lines().last().unwrap_or_default();
    last.trim_start_matches("error: ").to_owned()
}
