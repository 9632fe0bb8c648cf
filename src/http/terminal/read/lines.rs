//! Some of the lines of a text.

use std::io::{self, Read};

use super::FileReadError;

/// Bytes that are read at once.
const PIECE: usize = 64 * 1024;

/// The lines that are asked for.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineRange {
    first: Option<u64>,
    last: Option<u64>,
}

/// How many lines there are, and what those of a range hold, with their line ends.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SelectedLines<T> {
    pub(super) total: u64,
    pub(super) content: T,
}

impl LineRange {
    pub(super) fn new(
        start_line: Option<i64>,
        end_line: Option<i64>,
    ) -> Result<Self, FileReadError> {
        let number = |parameter, line: Option<i64>| match line {
            Some(value) if value < 1 => Err(FileReadError::Line { parameter, value }),
            line => Ok(line.map(|line| line as u64)),
        };
        Ok(Self {
            first: number("start_line", start_line)?,
            last: number("end_line", end_line)?,
        })
    }

    /// Whether every line is asked for.
    pub(super) fn is_whole(&self) -> bool {
        self.first.is_none() && self.last.is_none()
    }

    /// Whether the line of this number, from 1, is asked for.
    fn has(&self, number: u64) -> bool {
        self.first.is_none_or(|first| number >= first)
            && self.last.is_none_or(|last| number <= last)
    }

    /// The lines of a text that is in memory.
    pub(super) fn of<'t>(&self, text: &'t str) -> SelectedLines<&'t str> {
        let (mut total, mut end) = (0, 0);
        let mut place = None;
        for line in text.split_inclusive('\n') {
            total += 1;
            let start = end;
            end += line.len();
            if self.has(total) {
                let (first, _) = place.unwrap_or((start, end));
                place = Some((first, end));
            }
        }
        let content = place.map_or("", |(start, end)| &text[start..end]);
        SelectedLines { total, content }
    }

    /// The lines of a text of any length; nothing where they have more than `limit` bytes.
    pub(super) fn read(
        &self,
        source: &mut impl Read,
        limit: usize,
    ) -> io::Result<Option<SelectedLines<Vec<u8>>>> {
        let (mut complete, mut content) = (0_u64, Vec::new());
        let mut within_line = false;
        let mut piece = vec![0; PIECE];
        loop {
            let read = match source.read(&mut piece) {
                Ok(0) => break,
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let mut rest = &piece[..read];
            while !rest.is_empty() {
                let end = memchr::memchr(b'\n', rest).map_or(rest.len(), |at| at + 1);
                let (part, behind) = rest.split_at(end);
                if self.has(complete + 1) {
                    if content.len() + part.len() > limit {
                        return Ok(None);
                    }
                    content.extend_from_slice(part);
                }
                within_line = !part.ends_with(b"\n");
                complete += u64::from(!within_line);
                rest = behind;
            }
        }
        let total = complete + u64::from(within_line);
        Ok(Some(SelectedLines { total, content }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn lines_as_they_are_asked_for() {
        let text = "a\r\nb\n\nd";
        for (first, last, expected) in [
            (None, None, text),
            (Some(2), None, "b\n\nd"),
            (None, Some(1), "a\r\n"),
            (Some(2), Some(3), "b\n\n"),
            (Some(4), Some(9), "d"),
            (Some(9), None, ""),
            (Some(3), Some(2), ""),
        ] {
            let range = LineRange::new(first, last).expect("a range");
            let lines = range.of(text);
            assert_eq!((lines.total, lines.content), (4, expected));
        }
        assert!(LineRange::new(Some(0), None).is_err());
    }

    proptest! {
        #[test]
        fn a_long_text_has_the_same_lines(
            text in "[ab\n\r]{0,30}",
            first in proptest::option::of(1_i64..8),
            last in proptest::option::of(1_i64..8),
        ) {
            let range = LineRange::new(first, last).expect("a range");
            let expected = range.of(&text);
            let read = range.read(&mut text.as_bytes(), 100).expect("no failure");
            let read = read.expect("short enough");
            prop_assert_eq!(read.total, expected.total);
            prop_assert_eq!(read.content, expected.content.as_bytes());
        }
    }
}
