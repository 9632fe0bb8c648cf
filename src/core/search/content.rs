//! Lines of a file that match.

use std::fs::File;
use std::io::{self, Cursor, Read as _};

use fileshed_text::Encoding;
use grep_matcher::{LineTerminator, Matcher as _};
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkMatch};

use crate::bounds::BoundedFile;
use crate::{Bounds, Pattern};

/// The longest line that is searched, in bytes: with one that is longer the search of a file ends.
const LINE: usize = 16 << 20;

/// Bytes at the beginning of a file that show its encoding.
const BEGINNING: u64 = 64 << 10;

/// The largest file that is searched as the text that it is in another encoding than UTF-8; a
/// larger one is searched as its bytes.
const DECODED: u64 = 8 << 20;

/// Bytes of a line that are shown, and how many of them lie before the match where the line is
/// longer.
const SHOWN: usize = 4000;
const BEFORE: usize = 200;

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// Counted from 1.
    pub(crate) number: u64,
    /// Where the match begins, in UTF-16 units, counted from 1.
    pub(crate) column: usize,
    /// The line without its end; of a very long one the part around the match.
    pub(crate) text: String,
}

/// What a thread needs to search files.
pub(crate) struct LineSearch {
    pattern: Pattern,
    searcher: Searcher,
    counts_columns: bool,
}

impl LineSearch {
    pub(crate) fn new(pattern: &Pattern, counts_columns: bool) -> Self {
        let searcher = SearcherBuilder::new()
            .binary_detection(BinaryDetection::quit(0))
            .line_terminator(LineTerminator::crlf())
            .heap_limit(Some(LINE))
            .memory_map(MmapChoice::never())
            .build();
        Self {
            pattern: pattern.clone(),
            searcher,
            counts_columns,
        }
    }

    /// The first `most` lines of a file that match, up to its first NUL: what is behind it is not
    /// text. A file that cannot be read has those before the fault.
    pub(crate) fn lines(&mut self, file: File, most: usize, bounds: &Bounds) -> Vec<Line> {
        let mut lines = Lines {
            pattern: &self.pattern,
            counts_columns: self.counts_columns,
            most,
            found: Vec::new(),
        };
        let mut reader = BoundedFile { file, bounds };
        let mut beginning = Vec::new();
        let read = (&mut reader).take(BEGINNING).read_to_end(&mut beginning);
        if read.is_err() {
            return lines.found;
        }
        let encoding = Encoding::of(&beginning, (beginning.len() as u64) < BEGINNING);
        let matcher = &self.pattern.matcher;
        let is_decoded = encoding.is_encoded()
            && (encoding.has_line_bytes() || beginning.contains(&0))
            && (&mut reader)
                .take(DECODED)
                .read_to_end(&mut beginning)
                .is_ok()
            && (beginning.len() as u64) < DECODED;
        let _whole = if is_decoded {
            let text = encoding.decode(&beginning);
            self.searcher
                .search_slice(matcher, text.as_bytes(), &mut lines)
        } else {
            let whole = Cursor::new(beginning).chain(reader);
            self.searcher.search_reader(matcher, whole, &mut lines)
        };
        lines.found
    }
}

struct Lines<'a> {
    pattern: &'a Pattern,
    counts_columns: bool,
    most: usize,
    found: Vec<Line>,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _searcher: &Searcher, line: &SinkMatch<'_>) -> io::Result<bool> {
        let bytes = line.bytes();
        let bytes = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let bytes = bytes.strip_suffix(b"\r").unwrap_or(bytes);
        let is_long = bytes.len() > SHOWN;
        let start = if is_long || self.counts_columns {
            let found = self.pattern.matcher.find(bytes).ok().flatten();
            found.map_or(0, |found| found.start())
        } else {
            0
        };
        self.found.push(Line {
            number: line.line_number().unwrap_or(0),
            column: if self.counts_columns {
                String::from_utf8_lossy(&bytes[..start])
                    .encode_utf16()
                    .count()
                    + 1
            } else {
                0
            },
            text: if is_long {
                part(bytes, start)
            } else {
                String::from_utf8_lossy(bytes).into_owned()
            },
        });
        Ok(self.found.len() < self.most)
    }
}

/// The part of a long line that shows a match.
fn part(line: &[u8], start: usize) -> String {
    let begin = if start + BEFORE < SHOWN {
        0
    } else {
        character(line, start - BEFORE)
    };
    let end = character(line, line.len().min(begin + SHOWN));
    let before = if begin > 0 { "…" } else { "" };
    let after = if end < line.len() { "…" } else { "" };
    format!(
        "{before}{}{after}",
        String::from_utf8_lossy(&line[begin..end])
    )
}

/// The beginning of the character at a byte.
fn character(line: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|at| line.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80))
        .unwrap_or(at)
}
