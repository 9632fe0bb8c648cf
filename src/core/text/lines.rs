//! Beginnings and ends of lines.

use std::ops::Range;

use fileshed_types::names;
use memchr::memchr_iter;

/// Returns the number of lines in a text: as many as `wc -l` counts, and one more for a last line
/// without line end.
pub fn line_count(text: &[u8]) -> u64 {
    memchr_iter(b'\n', text).count() as u64 + u64::from(!is_complete(text))
}

/// Returns `true` if the last line, if there is one, has its line end.
pub(super) fn is_complete(text: &[u8]) -> bool {
    text.last().is_none_or(|&byte| byte == b'\n')
}

/// Returns the ranges of the lines of a text, each with its line end.
pub(super) fn ranges(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let rest = (!is_complete(text)).then_some(text.len());
    let mut end = 0;
    memchr_iter(b'\n', text)
        .map(|at| at + 1)
        .chain(rest)
        .map(move |next| {
            let start = end;
            end = next;
            start..end
        })
}

/// Returns the lines of a text, each without its line end.
pub fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    ranges(text).map(|range| without_line_end(&text[range]))
}

/// Returns a line without its line end.
pub fn without_line_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Returns the range of the whole lines that a place touches. A place that ends after a line end does
/// not touch the next line.
pub(super) fn around(text: &[u8], place: &Range<usize>) -> Range<usize> {
    let last = place.end.max(place.start + 1) - 1;
    let start = memchr::memrchr(b'\n', &text[..place.start]).map_or(0, |end| end + 1);
    let end = memchr::memchr(b'\n', &text[last..]).map_or(text.len(), |end| last + end + 1);
    start..end
}

names! {
    /// Kind of line ends.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, utoipa::ToSchema)]
    #[schema(rename_all = "lowercase")]
    pub enum LineEnds {
        /// With LF.
        Unix = "unix",
        /// With CR LF.
        Windows = "windows",
    }
}

impl LineEnds {
    /// Returns the line ends of a text: CR LF if all are, else LF.
    pub(super) fn of(text: &[u8]) -> Self {
        let mut ends = memchr_iter(b'\n', text).peekable();
        let has_ends = ends.peek().is_some();
        if has_ends && ends.all(|at| text[..at].ends_with(b"\r")) {
            Self::Windows
        } else {
            Self::Unix
        }
    }

    pub(super) const fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Unix => b"\n",
            Self::Windows => b"\r\n",
        }
    }

    /// Returns the bytes to insert between a text and content that is appended: a line end if the text
    /// ends within a line, unless the content begins with one.
    pub(super) fn between(self, ends_within_line: bool, content: &str) -> &'static [u8] {
        if ends_within_line && !content.is_empty() && !content.starts_with(['\n', '\r']) {
            self.as_bytes()
        } else {
            b""
        }
    }

    /// Appends new text, with the line ends of the file it goes into.
    pub(super) fn push(self, out: &mut Vec<u8>, new: &[u8]) {
        match self {
            Self::Unix => out.extend_from_slice(new),
            Self::Windows => {
                for &byte in new {
                    if byte == b'\n' && out.last() != Some(&b'\r') {
                        out.push(b'\r');
                    }
                    out.push(byte);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_at_lf_only() {
        let cases: [(&[u8], u64); 8] = [
            (b"", 0),
            (b"a", 1),
            (b"a\n", 1),
            (b"a\nb", 2),
            (b"\n\n", 2),
            (b"a\r\nb\r\n", 2),
            (b"a\x0bb\x0cc\rd\n", 1),
            ("a\u{2028}b\u{85}c\n".as_bytes(), 1),
        ];
        for (text, lines) in cases {
            assert_eq!(line_count(text), lines, "{text:?}");
            assert_eq!(ranges(text).count() as u64, lines, "{text:?}");
        }
    }

    #[test]
    fn a_file_is_crlf_when_all_its_lines_are() {
        let cases: [(&[u8], LineEnds); 7] = [
            (b"", LineEnds::Unix),
            (b"a", LineEnds::Unix),
            (b"a\r", LineEnds::Unix),
            (b"a\r\n", LineEnds::Windows),
            (b"a\r\nb", LineEnds::Windows),
            (b"a\r\nb\n", LineEnds::Unix),
            (b"a\nb\r\n", LineEnds::Unix),
        ];
        for (text, end) in cases {
            assert_eq!(LineEnds::of(text), end, "{text:?}");
        }
    }

    #[test]
    fn new_text_follows_the_file() {
        let mut out = b"x\r".to_vec();
        LineEnds::Windows.push(&mut out, b"\na\nb\r\nc");
        assert_eq!(out, b"x\r\na\r\nb\r\nc");
    }
}
