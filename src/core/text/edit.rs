//! Edits of text: at a line, at literal text, or by pattern.

mod draft;
mod position;
mod substitution;

use std::ops::Range;

use draft::Draft;
pub use position::Position;
pub use substitution::substitute;

use super::TextError;
use super::closest::{alike_place, closest};
use super::encoding::Encoding;
use super::excerpt::{beginning, excerpt};
use super::lines::{self, LineEnds, line_count};
use super::literal::{Literal, line_number};
use super::pattern::CompiledPattern;
use super::template;

/// Most bytes of UTF-8 for one byte of another encoding.
const UTF8_GROWTH: u64 = 3;

/// A change of a text at a place.
#[derive(Clone, Copy, Debug)]
pub struct TextEdit<'a> {
    /// The position.
    pub position: Position,
    /// The new text; with `replace` and a pattern that has groups it may refer to them.
    pub content: &'a str,
    /// The line of `before`, `after` and `replace`, from 1; of literal text the line it begins in.
    pub line: Option<i64>,
    /// The last line of `replace`, or of those that literal text may begin in.
    pub end_line: Option<i64>,
    /// Literal text, which stands in the file once unless `match_all`.
    pub find: Option<&'a str>,
    /// A regular expression.
    pub pattern: Option<&'a str>,
    /// Any of `i`, `m` and `s`.
    pub regex_flags: &'a str,
    /// `true` to edit at every match of the pattern or the text instead of one.
    pub match_all: bool,
    /// `true` if a place is accepted that only reads as `find` does, if it is the only one. It may
    /// differ in white space at the ends of lines, and in blanks, quotes, dashes and accents.
    pub finds_alike: bool,
}

/// A text after an edit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// The whole text.
    pub bytes: Vec<u8>,
    /// The lines inserted, or the lines replaced.
    pub lines_affected: u64,
    /// The places of the text or the pattern that were edited; 0 without one.
    pub matches: u64,
    /// A few lines around the places that were edited, numbered.
    pub lines: String,
    /// The leniency with which the place was found.
    pub leniency: Option<Leniency>,
}

/// A way in which a place is found that is not exactly the one of the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leniency {
    /// The pattern is no regular expression that can be searched, but the file has it as literal text.
    InvalidPattern,
    /// The pattern matches nothing, but the file has it as literal text.
    UnmatchedPattern,
    /// The only place that reads as the text of `find`, in other characters.
    Alike,
}

/// The place of an edit, read from its parameters.
enum EditPlace<'a> {
    Start,
    End,
    Lines(LineParameter, LineParameter),
    Text(&'a str, Option<(LineParameter, LineParameter)>),
    Pattern(&'a str),
}

/// The lines and the matches that an edit changed.
type EditCounts = (u64, u64);

impl TextEdit<'_> {
    /// Returns `true` if the edit needs an existing file.
    pub fn needs_file(&self) -> bool {
        !matches!(self.position, Position::Start | Position::End)
    }

    /// Refuses every edit that can be refused without knowing the text.
    pub fn check(&self) -> Result<(), TextError> {
        let place = self.place()?;
        if let EditPlace::Pattern(pattern) = place
            && let Err(error) = self.compiled(pattern, false)
            && Leniency::of(&error).is_none()
        {
            return Err(error);
        }
        Ok(())
    }

    /// Returns the text after the edit, unless it would be larger than `max_bytes`. A file in another
    /// encoding than UTF-8 is edited as the text that readers see, and keeps its encoding.
    pub fn apply(&self, bytes: &[u8], max_bytes: u64) -> Result<Edited, TextError> {
        let encoding = Encoding::of(bytes, true);
        // Without NUL bytes the mark of UTF-16 is a text's first bytes and nothing more.
        let is_marked_only = !encoding.has_line_bytes() && !bytes.contains(&0);
        if !encoding.is_encoded() || is_marked_only {
            return self.apply_to_bytes(bytes, max_bytes);
        }
        let text = encoding.decode(bytes);
        let most = max_bytes.saturating_mul(UTF8_GROWTH);
        let mut edited = self.apply_to_bytes(text.as_bytes(), most)?;
        let new = String::from_utf8_lossy(&edited.bytes);
        let encoded = match encoding.encode_like(&new, bytes) {
            // A changed line that has bytes without characters: they stay, and are none of those
            // that the edit is about.
            Err(_) if encoding.has_line_bytes() && self.is_ascii() => {
                return self.apply_to_bytes(bytes, max_bytes);
            }
            encoded => encoded?,
        };
        if encoded.len() as u64 > max_bytes {
            return Err(TextError::TooLarge { limit: max_bytes });
        }
        edited.bytes = encoded;
        Ok(edited)
    }

    fn is_ascii(&self) -> bool {
        let mut looked_for = [self.find, self.pattern].into_iter().flatten();
        self.content.is_ascii() && looked_for.all(str::is_ascii)
    }

    fn apply_to_bytes(&self, text: &[u8], max_bytes: u64) -> Result<Edited, TextError> {
        let mut draft = Draft::new(text, self.content, max_bytes);
        let mut leniency = None;
        let (lines_affected, matches) = match self.place()? {
            EditPlace::Start => (draft.insert_raw(0)?, 0),
            EditPlace::End => (draft.append()?, 0),
            EditPlace::Lines(first, last) => (self.at_lines(&mut draft, first, last)?, 0),
            EditPlace::Text(find, within) => {
                self.at_text(&mut draft, find, within, &mut leniency)?
            }
            EditPlace::Pattern(pattern) => match self.at_pattern(&mut draft, pattern) {
                Ok(counts) => counts,
                Err(error) => {
                    let reason = Leniency::of(&error);
                    let place = reason.and_then(|_| Literal::new(text, pattern).only_place());
                    let Some(edit) = self.edits(text, place.into_iter()).next() else {
                        return Err(error.near(|| closest(text, pattern)));
                    };
                    leniency = reason;
                    draft = Draft::new(text, self.content, max_bytes);
                    (self.at_edit(&mut draft, edit)?, 1)
                }
            },
        };
        let (bytes, places) = draft.finish()?;
        Ok(Edited {
            lines: excerpt(&bytes, &places),
            bytes,
            lines_affected,
            matches,
            leniency,
        })
    }

    fn place(&self) -> Result<EditPlace<'_>, TextError> {
        if !self.needs_file() {
            return match self.find {
                Some(_) => Err(TextError::FindWithoutPlace {
                    position: self.position.as_str(),
                }),
                None if self.position == Position::Start => Ok(EditPlace::Start),
                None => Ok(EditPlace::End),
            };
        }
        match (self.lines()?, self.find, self.pattern) {
            (None, None, None) => Err(TextError::NoPlace {
                position: self.position.as_str(),
            }),
            (_, Some(find), Some(pattern)) => Err(TextError::TwoPlaces {
                names: ["find", "pattern"],
                values: [find.to_owned(), pattern.to_owned()],
            }),
            (Some((line, _)), None, Some(pattern)) => Err(TextError::TwoPlaces {
                names: ["line", "pattern"],
                values: [line.number.to_string(), pattern.to_owned()],
            }),
            (within, Some(find), None) => Ok(EditPlace::Text(find, within)),
            (Some((first, last)), None, None) => Ok(EditPlace::Lines(first, last)),
            (None, None, Some(pattern)) => Ok(EditPlace::Pattern(pattern)),
        }
    }

    /// Returns the first and the last line of the place.
    fn lines(&self) -> Result<Option<(LineParameter, LineParameter)>, TextError> {
        let line = |parameter, number: Option<i64>| {
            let line = number.map(|number| LineParameter::new(parameter, number));
            line.transpose()
        };
        let (first, last) = (line("line", self.line)?, line("end_line", self.end_line)?);
        let is_range = self.position == Position::Replace || self.find.is_some();
        match (self.line, self.end_line) {
            (Some(line), Some(end_line)) if is_range && end_line < line => {
                Err(TextError::EndBeforeLine { line, end_line })
            }
            (line, Some(end_line)) if !is_range || line.is_none() => {
                Err(TextError::EndLineWithoutRange { end_line })
            }
            _ => Ok(first.map(|first| (first, last.unwrap_or(first)))),
        }
    }

    fn at_lines(
        &self,
        draft: &mut Draft<'_>,
        first: LineParameter,
        last: LineParameter,
    ) -> Result<u64, TextError> {
        let text = draft.text;
        match self.position {
            Position::Before => draft.insert_lines(first.range(text, 1)?.start),
            Position::After => draft.insert_lines(first.range(text, 0)?.end),
            _ => draft.replace_lines(first.range(text, 0)?.start..last.range(text, 0)?.end),
        }
    }

    fn at_text(
        &self,
        draft: &mut Draft<'_>,
        find: &str,
        within: Option<(LineParameter, LineParameter)>,
        leniency: &mut Option<Leniency>,
    ) -> Result<EditCounts, TextError> {
        let text = draft.text;
        let literal = Literal::new(text, find);
        let bounds = match within {
            Some((first, last)) => first.range(text, 0)?.start..last.range(text, 0)?.end,
            None => 0..text.len(),
        };
        let places = || {
            let places = literal.places();
            places.filter(|place| bounds.contains(&place.start))
        };
        let edits = || self.edits(text, places());
        match edits().count() as u64 {
            0 => {
                let alike = self.finds_alike.then(|| alike_place(text, find, &bounds));
                let Some(edit) = self.edits(text, alike.flatten().into_iter()).next() else {
                    return Err(self.not_found(text, &literal, find));
                };
                *leniency = Some(Leniency::Alike);
                Ok((self.at_edit(draft, edit)?, 1))
            }
            count if count > 1 && !self.match_all => Err(TextError::FoundSeveral {
                find: beginning(find),
                count,
                lines: some_lines(text, places()),
            }),
            matches => {
                let mut lines = 0;
                for edit in edits() {
                    lines += self.at_edit(draft, edit)?;
                }
                Ok((lines, matches))
            }
        }
    }

    /// Returns the range that is replaced at each place of a text, or where lines are inserted. Lines
    /// are inserted beside a line once, even if the line has the text several times.
    fn edits(
        &self,
        text: &[u8],
        places: impl Iterator<Item = Range<usize>>,
    ) -> impl Iterator<Item = Range<usize>> {
        let mut last = None;
        places.filter_map(move |place| {
            let edit = match self.position {
                Position::Before => {
                    let start = lines::around(text, &place).start;
                    start..start
                }
                Position::After => {
                    let end = lines::around(text, &place).end;
                    end..end
                }
                _ => place,
            };
            let is_new = last.replace(edit.clone()) != Some(edit.clone());
            is_new.then_some(edit)
        })
    }

    fn at_edit(&self, draft: &mut Draft<'_>, edit: Range<usize>) -> Result<u64, TextError> {
        match self.position {
            Position::Replace => draft.replace_text(edit),
            _ => draft.insert_lines(edit.start),
        }
    }

    /// Returns the failure for text that is not where it was looked for.
    fn not_found(&self, text: &[u8], literal: &Literal<'_>, find: &str) -> TextError {
        let find_shown = beginning(find);
        let lines = some_lines(text, literal.places());
        match self.line {
            Some(line) if !lines.is_empty() => TextError::FoundElsewhere {
                find: find_shown,
                line,
                end_line: self.end_line.unwrap_or(line),
                lines,
            },
            _ => TextError::NotFound {
                parameter: "find",
                value: find_shown,
                closest: closest(text, find).map(Box::new),
            },
        }
    }

    fn at_pattern(&self, draft: &mut Draft<'_>, pattern: &str) -> Result<EditCounts, TextError> {
        let text = draft.text;
        let has_crlf = memchr::memmem::find(text, b"\r\n").is_some();
        let pattern = self.compiled(pattern, has_crlf)?;
        let meter = pattern.meter(text)?;
        if self.position == Position::Replace {
            let pieces = template::parse(self.content, &pattern)?;
            return draft.replace_matches(&pattern, &meter, &pieces, self.match_all);
        }
        let (mut lines, mut matches) = (0, 0);
        for line in lines::ranges(text) {
            if pattern.occurs_in(lines::without_line_end(&text[line.clone()]), &meter)? {
                let is_before = self.position == Position::Before;
                lines += draft.insert_lines(if is_before { line.start } else { line.end })?;
                matches += 1;
                if !self.match_all {
                    break;
                }
            }
        }
        pattern.counted(lines, matches)
    }

    fn compiled<'p>(
        &self,
        pattern: &'p str,
        has_crlf: bool,
    ) -> Result<CompiledPattern<'p>, TextError> {
        // Lines are searched one by one, without their ends.
        let crlf = has_crlf && self.position == Position::Replace;
        let compiled = CompiledPattern::compile(pattern, self.regex_flags, crlf)?;
        if self.position == Position::Replace {
            template::parse(self.content, &compiled)?;
        }
        Ok(compiled)
    }
}

/// Returns the bytes to append to a file with this beginning: on a line of their own if the file ends
/// within one, with the file's line ends and in its encoding.
pub fn addition(
    beginning: &[u8],
    encoding: &Encoding,
    ends_within_line: bool,
    content: &str,
) -> Result<Vec<u8>, TextError> {
    let line_end = LineEnds::of(beginning);
    let mut added = line_end.between(ends_within_line, content).to_vec();
    line_end.push(&mut added, &encoding.encoded(content)?);
    Ok(added)
}

impl Leniency {
    /// Returns the reason why a pattern may have been meant as literal text, if this failure suggests that.
    fn of(error: &TextError) -> Option<Self> {
        match error {
            TextError::InvalidPattern { .. } | TextError::ExpensivePattern { .. } => {
                Some(Self::InvalidPattern)
            }
            TextError::NotFound { .. } => Some(Self::UnmatchedPattern),
            _ => None,
        }
    }

    /// Returns the sentence about it for the response.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidPattern => {
                "`pattern` is not a valid regular expression and was used literally"
            }
            Self::UnmatchedPattern => {
                "`pattern` does not match as a regular expression, so it was used literally"
            }
            Self::Alike => {
                "`find` was matched at the only place that differs from it just in white space at \
                line ends, or in blanks, quotes, dashes or accents that look alike"
            }
        }
    }
}

/// Returns the numbers of the lines in which some places begin, each once.
fn some_lines(text: &[u8], places: impl Iterator<Item = Range<usize>>) -> Vec<u64> {
    const MOST: usize = 10;
    let mut lines: Vec<u64> = places
        .take(MOST)
        .map(|place| line_number(text, place.start))
        .collect();
    lines.dedup();
    lines
}

/// A line number from 1, and the parameter it came from.
#[derive(Clone, Copy)]
struct LineParameter {
    parameter: &'static str,
    number: i64,
}

impl LineParameter {
    fn new(parameter: &'static str, number: i64) -> Result<Self, TextError> {
        if number < 1 {
            return Err(TextError::LineBelowOne {
                parameter,
                value: number,
            });
        }
        Ok(Self { parameter, number })
    }

    /// Returns the range of the line, with its end. The `spare` lines after the last one are empty.
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

#[cfg(test)]
mod tests;
