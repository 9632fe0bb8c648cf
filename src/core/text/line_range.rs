//! Some of the lines of a text of any length.

use std::convert::Infallible;
use std::fmt::Write as _;
use std::io::{self, Read};

use super::encoding::{Encoding, TextDecoder};
use super::lines::line_count;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// Bytes that a line's number and its arrow take.
const NUMBER: usize = "     1→".len();

/// The lines that a caller asks for, each answer being as long as it may be.
#[derive(Clone, Copy, Debug)]
pub struct LineRequest {
    /// The first line, from 1; below 0 from the end.
    pub offset: i64,
    /// The most lines.
    pub limit: u64,
    /// The character, from 1, at which the first line begins to be shown.
    pub column: u64,
}

impl LineRequest {
    /// Returns the numbered lines of a text that is in memory.
    pub fn of(&self, text: &str, most: usize) -> SelectedLines {
        let total = || Ok::<_, Infallible>(line_count(text.as_bytes()));
        let Ok(range) = self.range(most, total);
        range.of(text)
    }

    /// Returns the range with line numbers from the beginning. If the offset counts from the end,
    /// `total` counts the lines of the text.
    pub fn range<E>(
        &self,
        most: usize,
        total: impl FnOnce() -> Result<u64, E>,
    ) -> Result<LineRange, E> {
        let first = match u64::try_from(self.offset) {
            Ok(first) => first.max(1),
            Err(_) => total()?.saturating_sub(self.offset.unsigned_abs()) + 1,
        };
        Ok(LineRange {
            first,
            last: (first - 1).saturating_add(self.limit),
            column: self.column,
            most,
            numbered: true,
        })
    }
}

/// The lines that are asked for, and how much of them an answer holds.
#[derive(Clone, Copy, Debug)]
pub struct LineRange {
    /// The first line, from 1.
    pub first: u64,
    /// The last line.
    pub last: u64,
    /// The character, from 1, at which the first line begins to be shown.
    pub column: u64,
    /// The bytes of text that an answer holds.
    pub most: usize,
    /// `true` if each line is shown with its number, which takes room as well.
    pub numbered: bool,
}

/// The lines of a range.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SelectedLines {
    /// The number of the first line.
    pub first: u64,
    /// Lines of the whole text.
    pub total: u64,
    /// The lines with their line ends. A single line that is longer than a response allows is cut.
    pub content: String,
    /// The line, and the character in it, at which the rest of the range begins.
    pub rest: Option<(u64, u64)>,
}

impl LineRange {
    /// Returns `true` if the range is the whole text.
    pub fn is_whole(&self) -> bool {
        self.first == 1 && self.last == u64::MAX
    }

    /// Returns the lines of a text that is in memory.
    pub fn of(&self, text: &str) -> SelectedLines {
        let mut selection = LineSelection::new(self);
        selection.add(text);
        selection.lines
    }

    /// Reads the lines of a text in this encoding.
    pub fn read(&self, source: &mut impl Read, encoding: Encoding) -> io::Result<SelectedLines> {
        let mut selection = LineSelection::new(self);
        decode(source, encoding, |text| selection.add(text))?;
        Ok(selection.lines)
    }
}

/// Counts the lines of a text in this encoding.
pub fn count_lines(source: &mut impl Read, encoding: Encoding) -> io::Result<u64> {
    let (mut ends, mut within_line) = (0, false);
    decode(source, encoding, |text| {
        ends += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        within_line = (within_line || !text.is_empty()) && !text.ends_with('\n');
    })?;
    Ok(ends + u64::from(within_line))
}

/// Hands on the characters of a text, piece by piece.
fn decode(
    source: &mut impl Read,
    encoding: Encoding,
    mut consume: impl FnMut(&str),
) -> io::Result<()> {
    let mut decoder = TextDecoder::new(encoding);
    let mut piece = vec![0; PIECE];
    loop {
        match source.read(&mut piece) {
            Ok(0) => break,
            Ok(count) => consume(&decoder.decode(&piece[..count], false)),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    consume(&decoder.decode(&[], true));
    Ok(())
}

/// Lines that are being selected.
struct LineSelection<'r> {
    range: &'r LineRange,
    lines: SelectedLines,
    within_line: bool,
    /// The next character of the line, from 1.
    column: u64,
    /// The beginning of the line in the content.
    line_start: usize,
}

impl<'r> LineSelection<'r> {
    fn new(range: &'r LineRange) -> Self {
        Self {
            range,
            lines: SelectedLines {
                first: range.first,
                total: 0,
                content: String::new(),
                rest: None,
            },
            within_line: false,
            column: 1,
            line_start: 0,
        }
    }

    fn add(&mut self, text: &str) {
        for part in text.split_inclusive('\n') {
            if !self.within_line {
                self.lines.total += 1;
                self.column = 1;
                self.line_start = self.lines.content.len();
            }
            self.within_line = !part.ends_with('\n');
            let is_asked_for = (self.range.first..=self.range.last).contains(&self.lines.total);
            if is_asked_for && self.lines.rest.is_none() {
                self.add_part(part);
            }
        }
    }

    /// Adds a part of a line: the rest of it, or as much as was read.
    fn add_part(&mut self, part: &str) {
        let Self { range, lines, .. } = self;
        let number = lines.total;
        let mut shown = part;
        if number == range.first && self.column < range.column {
            let line = part.strip_suffix('\n').unwrap_or(part);
            let mut skipped = 0;
            let wanted = range.column - self.column;
            let end = line
                .char_indices()
                .inspect(|_| skipped += 1)
                .nth(usize::try_from(wanted).unwrap_or(usize::MAX));
            if let Some((at, _)) = end {
                shown = &part[at..];
                self.column = range.column;
            } else {
                shown = &part[line.len()..];
                self.column += skipped;
            }
        }
        let numbers = if range.numbered {
            (number - range.first).saturating_mul(NUMBER as u64)
        } else {
            0
        };
        let left = (range.most as u64)
            .saturating_sub(lines.content.len() as u64)
            .saturating_sub(numbers) as usize;
        if shown.strip_suffix('\n').unwrap_or(shown).len() <= left {
            lines.content.push_str(shown);
            self.column += shown.chars().count() as u64;
        } else if number > range.first {
            lines.content.truncate(self.line_start);
            lines.rest = Some((number, 1));
        } else {
            let shown = &shown[..shown.floor_char_boundary(left)];
            lines.content.push_str(shown);
            lines.rest = Some((number, self.column + shown.chars().count() as u64));
        }
    }
}

impl SelectedLines {
    /// Returns the number of lines that are shown.
    pub fn count(&self) -> u64 {
        let is_empty = self.content.is_empty() && self.rest.is_none();
        if is_empty {
            0
        } else {
            self.content.lines().count().max(1) as u64
        }
    }

    /// Returns the lines with their numbers and without their line ends: `     1→text`.
    pub fn numbered(&self) -> String {
        let mut numbered = String::with_capacity(self.content.len() + NUMBER);
        for (number, line) in (self.first..).zip(self.content.lines()) {
            if number > self.first {
                numbered.push('\n');
            }
            let _written = write!(numbered, "{number:>6}→{line}");
        }
        numbered
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn range(first: u64, last: u64) -> LineRange {
        LineRange {
            first,
            last,
            column: 1,
            most: 1000,
            numbered: false,
        }
    }

    #[test]
    fn lines_as_they_are_asked_for() {
        let text = "a\r\nb\n\nd";
        for (first, last, expected, count) in [
            (1, u64::MAX, text, 4),
            (2, u64::MAX, "b\n\nd", 3),
            (1, 1, "a\r\n", 1),
            (2, 3, "b\n\n", 2),
            (4, 9, "d", 1),
            (9, u64::MAX, "", 0),
            (3, 2, "", 0),
        ] {
            let lines = range(first, last).of(text);
            assert_eq!((lines.total, lines.content.as_str()), (4, expected));
            assert_eq!((lines.count(), lines.rest), (count, None));
        }
        let numbered = range(1, u64::MAX).of(text).numbered();
        assert_eq!(numbered, "     1→a\n     2→b\n     3→\n     4→d");
    }

    #[test]
    fn lines_count_from_the_end_too() {
        let request = |offset, limit| LineRequest {
            offset,
            limit,
            column: 1,
        };
        for (request, expected) in [
            (request(-2, u64::MAX), "     2→b\n     3→c"),
            (request(-2, 1), "     2→b"),
            (request(-9, u64::MAX), "     1→a\n     2→b\n     3→c"),
            (request(3, u64::MAX), "     3→c"),
        ] {
            assert_eq!(request.of("a\nb\nc\n", 100).numbered(), expected);
        }
    }

    #[test]
    fn an_answer_ends_before_the_line_that_does_not_fit() {
        let bounded = |first, column, most| LineRange {
            column,
            most,
            ..range(first, u64::MAX)
        };
        for (range, expected, rest) in [
            (bounded(1, 1, 4), "one\n", Some((2, 1))),
            (bounded(1, 1, 7), "one\n", Some((2, 1))),
            (bounded(2, 1, 4), "twö", Some((2, 4))),
            (bounded(2, 3, 4), "öö", Some((2, 5))),
            (bounded(2, 5, 8), "o\n3\n", None),
            (bounded(2, 9, 8), "\n3\n", None),
            (bounded(3, 1, 1), "3\n", None),
        ] {
            let lines = range.of("one\ntwööo\n3\n");
            assert_eq!((lines.content.as_str(), lines.rest), (expected, rest));
        }
    }

    proptest! {
        #[test]
        fn a_text_that_is_read_has_the_same_lines(
            text in "[abö\n\r]{0,30}",
            first in 1_u64..8,
            last in 1_u64..8,
            column in 1_u64..5,
            most in 0_usize..20,
            piece in 1_usize..4,
        ) {
            let range = LineRange { column, most, ..range(first, last) };
            let expected = range.of(&text);
            let mut selection = LineSelection::new(&range);
            let mut decoder = TextDecoder::new(Encoding::Utf8);
            for piece in text.as_bytes().chunks(piece) {
                selection.add(&decoder.decode(piece, false));
            }
            selection.add(&decoder.decode(&[], true));
            prop_assert_eq!(&selection.lines, &expected);
            prop_assert_eq!(range.read(&mut text.as_bytes(), Encoding::Utf8).ok(), Some(expected));
            let count = count_lines(&mut text.as_bytes(), Encoding::Utf8).ok();
            prop_assert_eq!(count, Some(text.lines().count() as u64));
        }

        /// Responses that continue one another give the whole text.
        #[test]
        fn nothing_is_lost_between_answers(text in "[abö\n]{0,40}", most in 2_usize..9) {
            let (mut read, mut next) = (String::new(), Some((1, 1)));
            while let Some((first, column)) = next {
                let lines = LineRange { column, most, ..range(first, u64::MAX) }.of(&text);
                read.push_str(&lines.content);
                next = lines.rest;
            }
            prop_assert_eq!(read, text);
        }
    }
}
