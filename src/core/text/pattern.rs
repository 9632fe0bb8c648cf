//! Searches by pattern, with bounded time and memory.
//!
//! Most patterns run in linear time in the `regex` engine. Look-around, backreferences and `$` need
//! backtracking, which can take exponential time, so every search has a budget: [`Meter`] counts the
//! engine's accesses to the text and has a deadline. The size of the compiled program is bounded too,
//! and so is that of the text, because linear time is the size of the text times the size of the
//! program.

use std::borrow::Cow;
use std::cell::{Cell, OnceCell};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use fancy_regex::{Captures, CompileError, Error, Input, Regex, RegexBuilder, RegexInput};
use fileshed_types::{Clock, Timings};

use super::TextError;
use super::dialect::{self, DialectError};
use super::excerpt::beginning;

/// The longest pattern, in bytes.
const PATTERN_LIMIT: usize = 4096;
/// The largest compiled part of a pattern, in bytes.
const PROGRAM_LIMIT: usize = 512 << 10;
/// The largest text that is searched, in bytes.
const TEXT_LIMIT: u64 = 8 << 20;
/// Most bytes of text times atoms of the pattern: every byte may be compared with all of them.
const WORK_LIMIT: u64 = 1 << 30;
/// The most bytes of text times groups: backtracking may remember all groups at every byte.
const MEMORY_LIMIT: u64 = 16 << 20;
/// The most instructions of the backtracking part of a pattern.
const INSTRUCTION_LIMIT: usize = 16_384;
/// Most accesses of one search to the text.
const STEP_LIMIT: u32 = 32_000_000;
/// Limit on the time of all searches of an edit.
const TIME_LIMIT: Duration = Timings::STANDARD.work.edit;

const TOO_LARGE: &str = "it compiles to too large a program";
const OUT_OF_BUDGET: &str = "the search takes too many steps";

/// Translates a pattern for an engine that searches line by line in linear time. That engine itself
/// refuses syntax that it does not know (look-around, backreferences). Returns the reason if the pattern
/// is invalid.
pub fn line_pattern(pattern: &str) -> Result<String, String> {
    dialect::translate(pattern, true)
        .map(|translated| translated.pattern)
        .map_err(|refusal| match refusal {
            DialectError::Invalid(reason) => reason,
            DialectError::Expensive(reason) => reason.to_owned(),
        })
}

/// A compiled pattern.
pub(super) struct CompiledPattern<'p> {
    source: &'p str,
    regex: Regex,
    atoms: u64,
    /// The same pattern without its empty matches, compiled when an empty match was found.
    non_empty: OnceCell<Option<Regex>>,
    non_empty_builder: RegexBuilder,
}

impl<'p> CompiledPattern<'p> {
    /// Compiles a pattern. With `crlf`, lines end at CRLF too: `$` with the flag m matches before
    /// it, and `.` matches neither half of it. The engine then takes a lone CR for a line end.
    pub(super) fn compile(source: &'p str, flags: &str, crlf: bool) -> Result<Self, TextError> {
        if let Some(flag) = flags.chars().find(|flag| !matches!(flag, 'i' | 'm' | 's')) {
            return Err(TextError::UnknownFlag {
                value: flags.to_owned(),
                flag,
            });
        }
        if source.len() > PATTERN_LIMIT {
            return Err(expensive(source, "it is longer than 4096 bytes"));
        }
        let translated =
            dialect::translate(source, flags.contains('m')).map_err(|refusal| match refusal {
                DialectError::Invalid(reason) => invalid(source, reason),
                DialectError::Expensive(reason) => expensive(source, reason),
            })?;
        let mut builder = builder(&translated.pattern, flags, crlf);
        let regex = guarded(source, || builder.build())?;
        builder.find_not_empty(true);
        Ok(Self {
            source,
            regex,
            atoms: translated.atoms,
            non_empty: OnceCell::new(),
            non_empty_builder: builder,
        })
    }

    /// Returns the number of groups, without the whole match.
    pub(super) fn groups(&self) -> usize {
        self.regex.captures_len() - 1
    }

    /// Returns the number of the group of this name.
    pub(super) fn group_named(&self, name: &str) -> Option<usize> {
        self.regex
            .capture_names()
            .position(|group| group == Some(name))
    }

    /// Returns a budget for all searches in a text.
    pub(super) fn meter(&self, text: &[u8]) -> Result<Meter, TextError> {
        let size = text.len() as u64;
        let limit = TEXT_LIMIT
            .min(MEMORY_LIMIT / self.regex.captures_len() as u64)
            .min(WORK_LIMIT / self.atoms.max(1));
        if size > limit {
            return Err(TextError::TextTooLargeForPattern { size, limit });
        }
        Ok(Meter {
            steps: Cell::new(0),
            deadline: Clock::SYSTEM.instant() + TIME_LIMIT,
        })
    }

    /// Returns `true` if the pattern occurs in a text.
    pub(super) fn occurs_in(&self, text: &[u8], meter: &Meter) -> Result<bool, TextError> {
        let subject = SearchedText::new(text);
        let haystack = Haystack {
            text: &subject.text,
            meter,
        };
        let input = RegexInput::new(&haystack);
        Ok(self.run(meter, || self.regex.find_input(input))?.is_some())
    }

    /// Returns all matches in a text, one after the other.
    pub(super) fn matches<'s>(
        &'s self,
        subject: &'s SearchedText<'s>,
        meter: &'s Meter,
    ) -> PatternMatches<'s> {
        let haystack = Haystack {
            text: &subject.text,
            meter,
        };
        PatternMatches {
            pattern: self,
            subject,
            haystack,
            at: 0,
            behind_empty: false,
        }
    }

    /// Returns the counts of lines and matches. Fails for a pattern that occurs nowhere.
    pub(super) fn counted(&self, lines: u64, matches: u64) -> Result<(u64, u64), TextError> {
        if matches > 0 {
            return Ok((lines, matches));
        }
        Err(TextError::NotFound {
            parameter: "pattern",
            value: beginning(self.source),
            closest: None,
        })
    }

    fn non_empty(&self) -> Option<&Regex> {
        let build = || guarded(self.source, || self.non_empty_builder.build()).ok();
        self.non_empty.get_or_init(build).as_ref()
    }

    fn run<T>(
        &self,
        meter: &Meter,
        search: impl FnOnce() -> fancy_regex::Result<T>,
    ) -> Result<T, TextError> {
        if Clock::SYSTEM.instant() >= meter.deadline {
            return Err(expensive(self.source, OUT_OF_BUDGET));
        }
        meter.steps.set(0);
        guarded(self.source, search)
    }
}

fn builder(translated: &str, flags: &str, crlf: bool) -> RegexBuilder {
    let mut builder = RegexBuilder::new(translated);
    builder
        .case_insensitive(flags.contains('i'))
        .multi_line(flags.contains('m'))
        .dot_matches_new_line(flags.contains('s'))
        .crlf(crlf)
        .backtrack_limit(STEP_LIMIT as usize)
        .delegate_size_limit(PROGRAM_LIMIT)
        .delegate_dfa_size_limit(PROGRAM_LIMIT)
        .delegate_dfa_skip_cache_capacity_check(false)
        .max_prog_size(INSTRUCTION_LIMIT);
    builder
}

/// Runs the engine, which ends by unwinding when the budget is used up.
///
/// The engine has no other way to be stopped between two steps. It is not used after unwinding.
fn guarded<T>(
    source: &str,
    engine: impl FnOnce() -> fancy_regex::Result<T>,
) -> Result<T, TextError> {
    match catch_unwind(AssertUnwindSafe(engine)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(refused(source, &error)),
        Err(reason) if reason.is::<OutOfBudget>() => Err(expensive(source, OUT_OF_BUDGET)),
        Err(_) => Err(invalid(source, "the engine cannot work with it".into())),
    }
}

fn refused(source: &str, error: &Error) -> TextError {
    let reason = match error {
        Error::RuntimeError(_) => return expensive(source, OUT_OF_BUDGET),
        Error::CompileError(error) => match &**error {
            CompileError::InnerError(error) if error.size_limit().is_some() => {
                return expensive(source, TOO_LARGE);
            }
            CompileError::PatternTooComplex | CompileError::DfaBuildError(..) => {
                return expensive(source, TOO_LARGE);
            }
            error => error.to_string(),
        },
        Error::ParseError(_, error) => error.to_string(),
        error => error.to_string(),
    };
    // The explanation of a syntax error is a drawing; its last line is the text.
    let reason = reason
        .lines()
        .rfind(|line| !line.trim().is_empty())
        .unwrap_or_default();
    invalid(
        source,
        reason.trim().trim_start_matches("error: ").to_owned(),
    )
}

fn invalid(source: &str, reason: String) -> TextError {
    TextError::InvalidPattern {
        pattern: source.to_owned(),
        reason,
    }
}

fn expensive(source: &str, reason: &'static str) -> TextError {
    TextError::ExpensivePattern {
        pattern: source.chars().take(200).collect(),
        reason,
    }
}

/// The budget of the searches in a text.
pub(super) struct Meter {
    steps: Cell<u32>,
    deadline: Instant,
}

struct OutOfBudget;

impl Meter {
    fn step(&self) {
        let steps = self.steps.get() + 1;
        self.steps.set(steps);
        // One look may be a search through the whole text, so the clock is read often.
        if steps > STEP_LIMIT
            || steps.is_multiple_of(16) && Clock::SYSTEM.instant() >= self.deadline
        {
            resume_unwind(Box::new(OutOfBudget));
        }
    }
}

/// A text as the engine sees it: every look at it is a step.
struct Haystack<'t> {
    text: &'t str,
    meter: &'t Meter,
}

impl Input for Haystack<'_> {
    type Match<'t>
        = Range<usize>
    where
        Self: 't;

    fn len(&self) -> usize {
        self.text.len()
    }

    fn as_bytes(&self) -> &[u8] {
        self.meter.step();
        self.text.as_bytes()
    }

    fn is_char_boundary(&self, at: usize) -> bool {
        self.text.is_char_boundary(at)
    }

    fn is_ascii(&self) -> bool {
        self.text.is_ascii()
    }

    fn prev_codepoint_ix(&self, at: usize) -> usize {
        self.text.prev_codepoint_ix(at)
    }

    fn make_match(&self, start: usize, end: usize) -> Range<usize> {
        start..end
    }

    fn advance_position(&self, at: usize) -> usize {
        self.text.advance_position(at)
    }
}

/// A text made valid UTF-8.
///
/// Every byte that belongs to no character is searched as a private character of its own, which is
/// three bytes longer; with the places of these stand-ins, every place in the searched text maps
/// back to one place in the file.
pub(super) struct SearchedText<'t> {
    text: Cow<'t, str>,
    stand_ins: Vec<usize>,
}

impl<'t> SearchedText<'t> {
    pub(super) fn new(bytes: &'t [u8]) -> Self {
        if let Ok(text) = str::from_utf8(bytes) {
            return Self {
                text: text.into(),
                stand_ins: Vec::new(),
            };
        }
        let mut text = String::with_capacity(bytes.len());
        let mut stand_ins = Vec::new();
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for &byte in chunk.invalid() {
                stand_ins.push(text.len());
                text.push(stand_in(byte));
            }
        }
        Self {
            text: text.into(),
            stand_ins,
        }
    }

    /// Maps a place in the searched text to its place in the file.
    fn original(&self, at: usize) -> usize {
        at - 3 * self.stand_ins.partition_point(|&stand_in| stand_in < at)
    }
}

/// Returns one of the last private characters, all of which have four bytes.
fn stand_in(byte: u8) -> char {
    char::from_u32(0x0010_FF00 + u32::from(byte)).unwrap_or(char::MAX)
}

/// The matches in a text, one after the other, as `re.sub` of Python finds them.
pub(super) struct PatternMatches<'s> {
    pattern: &'s CompiledPattern<'s>,
    subject: &'s SearchedText<'s>,
    haystack: Haystack<'s>,
    at: usize,
    behind_empty: bool,
}

/// A match: its groups, where they took part, as ranges of the file; the first is the whole match.
pub(super) struct PatternMatch {
    pub(super) whole: Range<usize>,
    groups: Vec<Option<Range<usize>>>,
}

impl PatternMatch {
    pub(super) fn group(&self, number: usize) -> Range<usize> {
        self.groups.get(number).cloned().flatten().unwrap_or(0..0)
    }
}

impl PatternMatches<'_> {
    pub(super) fn next(&mut self) -> Result<Option<PatternMatch>, TextError> {
        let Some(captures) = self.search()? else {
            return Ok(None);
        };
        let Some(whole) = captures.get(0) else {
            return Ok(None);
        };
        let original = |range: Range<usize>| {
            self.subject.original(range.start)..self.subject.original(range.end)
        };
        let found = PatternMatch {
            whole: original(whole.clone()),
            groups: captures.iter().map(|group| group.map(original)).collect(),
        };
        drop(captures);
        self.behind_empty = whole.is_empty();
        self.at = whole.end;
        Ok(Some(found))
    }

    /// Searches from the end of the last match on. After an empty match, the next one may begin at the
    /// same place, but must not be empty.
    fn search(&self) -> Result<Option<Captures<'_, Haystack<'_>>>, TextError> {
        let meter = self.haystack.meter;
        let input = RegexInput::new(&self.haystack).from_pos(self.at);
        if !self.behind_empty {
            return self
                .pattern
                .run(meter, || self.pattern.regex.captures_input(input));
        }
        if let Some(regex) = self.pattern.non_empty() {
            let here = input.clone().anchored(true);
            let found = self.pattern.run(meter, || regex.captures_input(here))?;
            if found.is_some() {
                return Ok(found);
            }
        }
        match self.subject.text[self.at..].chars().next() {
            None => Ok(None),
            Some(character) => {
                let input = input.from_pos(self.at + character.len_utf8());
                self.pattern
                    .run(meter, || self.pattern.regex.captures_input(input))
            }
        }
    }
}
