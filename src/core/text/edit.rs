//! Edits of text by line or by pattern.

use std::ops::Range;

use super::TextError;
use super::lines::{self, LineEnd, line_count};
use super::pattern::{Pattern, Subject};
use super::template::{self, Piece};

/// Where the content of an edit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// Before everything.
    Start,
    /// Behind everything.
    End,
    /// As lines of its own before a line.
    Before,
    /// As lines of its own behind a line.
    After,
    /// In the place of lines, or of what a pattern matches.
    Replace,
}

impl Position {
    const ALL: &[&str] = &["start", "end", "before", "after", "replace"];

    /// Reads the parameter `position`.
    pub fn parse(value: &str) -> Result<Self, TextError> {
        match value.trim().to_ascii_lowercase().as_str() {
            "start" => Ok(Self::Start),
            "end" => Ok(Self::End),
            "before" => Ok(Self::Before),
            "after" => Ok(Self::After),
            "replace" => Ok(Self::Replace),
            _ => Err(TextError::UnknownWord {
                parameter: "position",
                value: value.to_owned(),
                allowed: Self::ALL,
            }),
        }
    }

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
            Self::Before => "before",
            Self::After => "after",
            Self::Replace => "replace",
        }
    }
}

/// A change of a text at a place.
#[derive(Clone, Copy, Debug)]
pub struct TextEdit<'a> {
    /// Where.
    pub position: Position,
    /// The new text; with `replace` and a pattern it may refer to groups.
    pub content: &'a str,
    /// The line of `before`, `after` and `replace`, from 1.
    pub line: Option<i64>,
    /// The last line of `replace`, when it takes more than one.
    pub end_line: Option<i64>,
    /// A regular expression instead of a line.
    pub pattern: Option<&'a str>,
    /// Any of `i`, `m` and `s`.
    pub regex_flags: &'a str,
    /// Whether to edit at every match of the pattern instead of the first one.
    pub match_all: bool,
}

/// A text after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub bytes: Vec<u8>,
    /// The lines inserted, or the lines replaced.
    pub lines_affected: u64,
    /// The matches that were edited; 0 without a pattern.
    pub pattern_matches: u64,
}

/// The place of an edit, read from its parameters.
enum Place<'a> {
    Start,
    End,
    BeforeLine(Line),
    AfterLine(Line),
    Lines(Line, Line),
    BeforeMatch(Pattern<'a>),
    AfterMatch(Pattern<'a>),
    Matches(Pattern<'a>, Vec<Piece>),
}

impl TextEdit<'_> {
    /// Whether the edit makes no sense without a file.
    #[must_use]
    pub fn needs_file(&self) -> bool {
        !matches!(self.position, Position::Start | Position::End)
    }

    /// Refuses whatever can be refused without knowing the text.
    pub fn check(&self) -> Result<(), TextError> {
        self.place(false).map(|_| ())
    }

    /// The text after the edit, unless it would be larger than `max_bytes`.
    pub fn apply(&self, text: &[u8], max_bytes: u64) -> Result<Edited, TextError> {
        let has_crlf = text.windows(2).any(|pair| pair == b"\r\n");
        let place = self.place(has_crlf)?;
        let mut draft = Draft::new(text, self.content, max_bytes);
        let (lines_affected, pattern_matches) = match place {
            Place::Start => (draft.insert_raw(0)?, 0),
            Place::End => (draft.insert_raw(text.len())?, 0),
            Place::BeforeLine(line) => {
                let at = line.range(text, 1)?.start;
                (draft.insert_lines(at)?, 0)
            }
            Place::AfterLine(line) => {
                let at = line.range(text, 0)?.end;
                (draft.insert_lines(at)?, 0)
            }
            Place::Lines(first, last) => {
                let range = first.range(text, 0)?.start..last.range(text, 0)?.end;
                (draft.replace_lines(range)?, 0)
            }
            Place::BeforeMatch(pattern) => {
                draft.insert_at_matches(&pattern, self.match_all, |line| line.start)?
            }
            Place::AfterMatch(pattern) => {
                draft.insert_at_matches(&pattern, self.match_all, |line| line.end)?
            }
            Place::Matches(pattern, pieces) => {
                draft.replace_matches(&pattern, &pieces, self.match_all)?
            }
        };
        Ok(Edited {
            bytes: draft.finish()?,
            lines_affected,
            pattern_matches,
        })
    }

    fn place(&self, has_crlf: bool) -> Result<Place<'_>, TextError> {
        if !self.needs_file() {
            return Ok(if self.position == Position::Start {
                Place::Start
            } else {
                Place::End
            });
        }
        let line = self.line.map(|line| Line::new("line", line)).transpose()?;
        let last = self
            .end_line
            .map(|line| Line::new("end_line", line))
            .transpose()?;
        if let Some(end_line) = self.end_line {
            match self.line {
                Some(line) if self.position == Position::Replace => {
                    if end_line < line {
                        return Err(TextError::EndBeforeLine { line, end_line });
                    }
                }
                _ => return Err(TextError::EndLineWithoutRange { end_line }),
            }
        }
        match (line, self.pattern) {
            (None, None) => Err(TextError::NoPlace {
                position: self.position.as_str(),
            }),
            (Some(line), Some(pattern)) => Err(TextError::TwoPlaces {
                line: line.number,
                pattern: pattern.to_owned(),
            }),
            (Some(line), None) => Ok(match self.position {
                Position::Before => Place::BeforeLine(line),
                Position::After => Place::AfterLine(line),
                _ => Place::Lines(line, last.unwrap_or(line)),
            }),
            (None, Some(pattern)) => self.match_place(pattern, has_crlf),
        }
    }

    fn match_place<'a>(&self, pattern: &'a str, has_crlf: bool) -> Result<Place<'a>, TextError> {
        // Lines are searched one by one, without their ends.
        let crlf = has_crlf && self.position == Position::Replace;
        let pattern = Pattern::compile(pattern, self.regex_flags, crlf)?;
        Ok(match self.position {
            Position::Before => Place::BeforeMatch(pattern),
            Position::After => Place::AfterMatch(pattern),
            _ => {
                let pieces = template::parse(self.content, &pattern)?;
                Place::Matches(pattern, pieces)
            }
        })
    }
}

/// A line number from 1, and the parameter it came from.
#[derive(Clone, Copy)]
struct Line {
    parameter: &'static str,
    number: i64,
}

impl Line {
    fn new(parameter: &'static str, number: i64) -> Result<Self, TextError> {
        if number < 1 {
            return Err(TextError::LineBelowOne {
                parameter,
                value: number,
            });
        }
        Ok(Self { parameter, number })
    }

    /// Where the line is, with its end. The `spare` lines behind the last one are empty.
    fn range(self, text: &[u8], spare: u64) -> Result<Range<usize>, TextError> {
        let index = self.number as u64 - 1;
        if let Some(range) = lines::ranges(text).nth(index as usize) {
            return Ok(range);
        }
        let lines = line_count(text);
        if index < lines + spare {
            return Ok(text.len()..text.len());
        }
        Err(TextError::LineBeyondEnd {
            parameter: self.parameter,
            value: self.number,
            lines,
        })
    }
}

/// The new text while it is written from front to back.
struct Draft<'a> {
    text: &'a [u8],
    content: &'a [u8],
    line_end: LineEnd,
    limit: u64,
    out: Vec<u8>,
    /// Up to here the text was kept or left out.
    done: usize,
}

impl<'a> Draft<'a> {
    fn new(text: &'a [u8], content: &'a str, limit: u64) -> Self {
        let out = Vec::with_capacity(text.len() + content.len());
        let line_end = LineEnd::of(text);
        Self {
            text,
            content: content.as_bytes(),
            line_end,
            limit,
            out,
            done: 0,
        }
    }

    fn keep_up_to(&mut self, end: usize) {
        self.out.extend_from_slice(&self.text[self.done..end]);
        self.done = end;
    }

    fn insert(&mut self, new: &[u8]) -> Result<(), TextError> {
        self.line_end.push(&mut self.out, new);
        self.check_limit()
    }

    fn check_limit(&self) -> Result<(), TextError> {
        if self.out.len() as u64 > self.limit {
            return Err(TextError::TooLarge { limit: self.limit });
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<u8>, TextError> {
        self.keep_up_to(self.text.len());
        self.check_limit()?;
        Ok(self.out)
    }

    fn insert_raw(&mut self, at: usize) -> Result<u64, TextError> {
        self.keep_up_to(at);
        self.insert(self.content)?;
        Ok(line_count(self.content))
    }

    fn insert_lines(&mut self, at: usize) -> Result<u64, TextError> {
        self.replace_lines(at..at)?;
        Ok(line_count(self.content))
    }

    /// Replaces whole lines with the content as whole lines, and counts the lines replaced.
    fn replace_lines(&mut self, range: Range<usize>) -> Result<u64, TextError> {
        let (content, replaced) = (self.content, &self.text[range.clone()]);
        self.keep_up_to(range.start);
        if !content.is_empty() {
            if !lines::is_complete(&self.text[..range.start]) {
                self.out.extend_from_slice(self.line_end.as_bytes());
            }
            self.insert(content)?;
            if !lines::is_complete(content) && lines::is_complete(replaced) {
                self.out.extend_from_slice(self.line_end.as_bytes());
            }
        }
        self.done = range.end;
        Ok(line_count(replaced))
    }

    /// Inserts the content at the place of every matching line, and counts lines and matches.
    fn insert_at_matches(
        &mut self,
        pattern: &Pattern<'_>,
        all: bool,
        place: fn(Range<usize>) -> usize,
    ) -> Result<(u64, u64), TextError> {
        let meter = pattern.meter(self.text)?;
        let (mut lines, mut matches) = (0, 0);
        for line in lines::ranges(self.text) {
            if pattern.occurs_in(lines::without_end(&self.text[line.clone()]), &meter)? {
                lines += self.insert_lines(place(line))?;
                matches += 1;
                if !all {
                    break;
                }
            }
        }
        if matches == 0 {
            Err(pattern.not_found())
        } else {
            Ok((lines, matches))
        }
    }

    /// Replaces what the pattern matches, and counts lines and matches.
    fn replace_matches(
        &mut self,
        pattern: &Pattern<'_>,
        pieces: &[Piece],
        all: bool,
    ) -> Result<(u64, u64), TextError> {
        let meter = pattern.meter(self.text)?;
        let subject = Subject::new(self.text);
        let mut found = pattern.matches(&subject, &meter);
        let (mut lines, mut matches) = (0, 0);
        while let Some(found) = found.next()? {
            self.keep_up_to(found.whole.start);
            for piece in pieces {
                match piece {
                    Piece::Literal(literal) => self.insert(literal.as_bytes())?,
                    Piece::Group(number) => {
                        self.out.extend_from_slice(&self.text[found.group(*number)]);
                        self.check_limit()?;
                    }
                }
            }
            lines += line_count(&self.text[found.whole.clone()]).max(1);
            matches += 1;
            self.done = found.whole.end;
            if !all {
                break;
            }
        }
        if matches == 0 {
            Err(pattern.not_found())
        } else {
            Ok((lines, matches))
        }
    }
}

#[cfg(test)]
mod tests;
