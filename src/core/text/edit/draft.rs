//! A new text, written from front to back.

use std::ops::Range;

use crate::TextError;
use crate::lines::{self, LineEnds, line_count};
use crate::pattern::{CompiledPattern, Meter, SearchedText};
use crate::template::TemplatePiece;

/// The most places that are remembered, which is more than are shown.
const PLACES: usize = 16;

/// The new text while it is written.
pub(super) struct Draft<'a> {
    /// The text before the edit.
    pub(super) text: &'a [u8],
    content: &'a str,
    line_end: LineEnds,
    limit: u64,
    out: Vec<u8>,
    /// End of the part of the text that was kept or left out so far.
    done: usize,
    /// Ranges of the new text that are new.
    places: Vec<Range<usize>>,
}

impl<'a> Draft<'a> {
    pub(super) fn new(text: &'a [u8], content: &'a str, limit: u64) -> Self {
        Self {
            text,
            content,
            line_end: LineEnds::of(text),
            limit,
            out: Vec::with_capacity(text.len() + content.len()),
            done: 0,
            places: Vec::new(),
        }
    }

    /// Returns the text after the edit, and the ranges in it that are new.
    pub(super) fn finish(mut self) -> Result<(Vec<u8>, Vec<Range<usize>>), TextError> {
        self.begin(self.text.len());
        self.check_limit()?;
        Ok((self.out, self.places))
    }

    /// Writes what is kept up to a place, and returns where the new text begins.
    fn begin(&mut self, at: usize) -> usize {
        self.out.extend_from_slice(&self.text[self.done..at]);
        self.done = at;
        self.out.len()
    }

    /// Leaves out the text up to a place; the new text that begins at `start` is written.
    fn end(&mut self, at: usize, start: usize) {
        self.done = at;
        if self.places.len() < PLACES {
            self.places.push(start..self.out.len());
        }
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

    pub(super) fn insert_raw(&mut self, at: usize) -> Result<u64, TextError> {
        let content = self.content.as_bytes();
        let start = self.begin(at);
        self.insert(content)?;
        self.end(at, start);
        Ok(line_count(content))
    }

    /// Adds the content behind the last line.
    pub(super) fn append(&mut self) -> Result<u64, TextError> {
        let end = self.text.len();
        self.begin(end);
        let ends_within_line = !lines::is_complete(self.text);
        let between = self.line_end.between(ends_within_line, self.content);
        self.out.extend_from_slice(between);
        self.insert_raw(end)
    }

    pub(super) fn insert_lines(&mut self, at: usize) -> Result<u64, TextError> {
        self.replace_lines(at..at)?;
        Ok(line_count(self.content.as_bytes()))
    }

    /// Replaces whole lines with the content as whole lines, and counts the lines replaced.
    pub(super) fn replace_lines(&mut self, range: Range<usize>) -> Result<u64, TextError> {
        let (content, replaced) = (self.content.as_bytes(), &self.text[range.clone()]);
        let mut start = self.begin(range.start);
        if !content.is_empty() {
            if !lines::is_complete(&self.text[..range.start]) {
                self.out.extend_from_slice(self.line_end.as_bytes());
                start = self.out.len();
            }
            self.insert(content)?;
            if !lines::is_complete(content) && lines::is_complete(replaced) {
                self.out.extend_from_slice(self.line_end.as_bytes());
            }
        }
        self.end(range.end, start);
        Ok(line_count(replaced))
    }

    /// Replaces a part of the text with the content, and counts the lines that it is in.
    pub(super) fn replace_text(&mut self, place: Range<usize>) -> Result<u64, TextError> {
        let replaced = &self.text[place.clone()];
        let start = self.begin(place.start);
        // Line ends that the text itself had there say more than those of the rest.
        let line_end = if replaced.contains(&b'\n') {
            LineEnds::of(replaced)
        } else {
            self.line_end
        };
        line_end.push(&mut self.out, self.content.as_bytes());
        self.check_limit()?;
        self.end(place.end, start);
        Ok(line_count(replaced).max(1))
    }

    /// Replaces what the pattern matches, and counts lines and matches.
    pub(super) fn replace_matches(
        &mut self,
        pattern: &CompiledPattern<'_>,
        meter: &Meter,
        pieces: &[TemplatePiece],
        all: bool,
    ) -> Result<(u64, u64), TextError> {
        let subject = SearchedText::new(self.text);
        let mut found = pattern.matches(&subject, meter);
        let (mut lines, mut matches) = (0, 0);
        while let Some(found) = found.next()? {
            let start = self.begin(found.whole.start);
            for piece in pieces {
                match piece {
                    TemplatePiece::Literal(literal) => self.insert(literal.as_bytes())?,
                    TemplatePiece::Group(number) => {
                        self.out.extend_from_slice(&self.text[found.group(*number)]);
                        self.check_limit()?;
                    }
                }
            }
            lines += line_count(&self.text[found.whole.clone()]).max(1);
            matches += 1;
            self.end(found.whole.end, start);
            if !all {
                break;
            }
        }
        pattern.counted(lines, matches)
    }
}
