//! A few lines of a text, numbered, around the places that matter.

use std::collections::BTreeMap;
use std::ops::Range;

use memchr::{memchr, memchr_iter, memrchr};

/// The most lines of an excerpt.
const LINES: usize = 10;
/// The most lines of one place: of a longer one the first and the last are shown.
const HEAD: usize = 5;
const TAIL: usize = 3;
/// The most characters of a line.
const CHARACTERS: usize = 160;

/// The lines of `text` that `places` touch, each with a neighbour before and behind, in the form of
/// `grep -n -C 1`: `7:` is a line that is meant, `8-` a neighbour, `…` stands for lines between. A
/// place that is empty and between two lines has neighbours only.
pub(super) fn excerpt(text: &[u8], places: &[Range<usize>]) -> String {
    let mut shown = BTreeMap::new();
    let mut counter = Counter {
        text,
        at: 0,
        line: 1,
    };
    for place in places {
        if shown.len() >= LINES {
            break;
        }
        counter.lines_around(place, &mut shown);
    }
    let mut lines = Vec::with_capacity(LINES);
    let mut last = None;
    for (number, (range, is_meant)) in shown.into_iter().take(LINES) {
        if last.is_some_and(|last| last + 1 < number) {
            lines.push("…".to_owned());
        }
        let mark = if is_meant { ':' } else { '-' };
        lines.push(format!("{number}{mark}{}", cut(&text[range])));
        last = Some(number);
    }
    lines.join("\n")
}

/// A line without its end, and without what is too much of it.
fn cut(line: &[u8]) -> String {
    let line = super::lines::without_line_end(line);
    // A character has at most four bytes.
    let beginning = &line[..line.len().min(CHARACTERS * 4)];
    let text = String::from_utf8_lossy(beginning);
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

/// Counts lines from front to back, once.
struct Counter<'t> {
    text: &'t [u8],
    /// The beginning of a line.
    at: usize,
    /// Its number.
    line: u64,
}

impl Counter<'_> {
    fn lines_around(
        &mut self,
        place: &Range<usize>,
        shown: &mut BTreeMap<u64, (Range<usize>, bool)>,
    ) {
        let first = self.start_of_line(place.start);
        self.line += memchr_iter(b'\n', &self.text[self.at.min(first)..first]).count() as u64;
        self.at = self.at.max(first);
        let number = self.line;
        // What ends behind a line end does not touch the line behind it.
        let end = place.end.max(place.start + 1) - 1;
        let between = place.is_empty() && place.start == first;
        let last = if between {
            None
        } else {
            Some(self.start_of_line(end.min(self.text.len())))
        };
        if first > 0 {
            let before = self.line_at(self.start_of_line(first - 1));
            shown.entry(number - 1).or_insert((before, false));
        }
        let Some(last) = last else {
            self.neighbour(number, first, shown);
            return;
        };
        let more = memchr_iter(b'\n', &self.text[first..last]).count();
        let mut at = first;
        for index in 0..=more {
            let line = self.line_at(at);
            at = line.end;
            if more < HEAD + TAIL || index < HEAD {
                shown.insert(number + index as u64, (line, true));
            } else {
                break;
            }
        }
        if more >= HEAD + TAIL {
            let mut at = last;
            for index in 0..TAIL {
                shown.insert(number + (more - index) as u64, (self.line_at(at), true));
                at = self.start_of_line(at - 1);
            }
        }
        self.neighbour(number + more as u64 + 1, self.line_at(last).end, shown);
    }

    fn neighbour(&self, number: u64, at: usize, shown: &mut BTreeMap<u64, (Range<usize>, bool)>) {
        if at < self.text.len() {
            shown.entry(number).or_insert((self.line_at(at), false));
        }
    }

    fn start_of_line(&self, at: usize) -> usize {
        memrchr(b'\n', &self.text[..at]).map_or(0, |end| end + 1)
    }

    fn line_at(&self, start: usize) -> Range<usize> {
        let rest = &self.text[start..];
        start..start + memchr(b'\n', rest).map_or(rest.len(), |end| end + 1)
    }
}

/// The beginning of a text, for a message.
#[must_use]
pub fn beginning(text: &str) -> String {
    const CHARACTERS: usize = 120;
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn place(start: usize, end: usize) -> [Range<usize>; 1] {
        std::array::from_fn(|_| start..end)
    }

    #[test]
    fn lines_that_are_meant_and_their_neighbours() {
        let text = "a\nbb\r\nc\nd";
        for (place, expected) in [
            (0..1, "1:a\n2-bb"),
            (2..4, "1-a\n2:bb\n3-c"),
            (2..6, "1-a\n2:bb\n3-c"),
            (2..7, "1-a\n2:bb\n3:c\n4-d"),
            (8..9, "3-c\n4:d"),
            (9..9, "3-c\n4:d"),
            (2..2, "1-a\n2-bb"),
            (3..3, "1-a\n2:bb\n3-c"),
            (0..0, "1-a"),
        ] {
            assert_eq!(
                excerpt(text.as_bytes(), std::slice::from_ref(&place)),
                expected,
                "{place:?}"
            );
        }
        assert_eq!(excerpt(b"a\n", &place(2, 2)), "1-a");
        assert_eq!(excerpt(b"", &place(0, 0)), "");
        assert_eq!(excerpt(b"a\xff\n", &place(0, 1)), "1:a\u{fffd}");
    }

    #[test]
    fn several_places_share_their_neighbours() {
        let text = "1\n2\n3\n4\n5\n6\n7\n8\n";
        assert_eq!(
            excerpt(text.as_bytes(), &[0..1, 4..5, 14..15]),
            "1:1\n2-2\n3:3\n4-4\n…\n7-7\n8:8"
        );
    }

    #[test]
    fn an_excerpt_is_short() {
        let text: String = (1..=100).fold(String::new(), |text, number| {
            text + &number.to_string() + "\n"
        });
        assert_eq!(
            excerpt(text.as_bytes(), &place(2, text.len() - 4)),
            "1-1\n2:2\n3:3\n4:4\n5:5\n6:6\n…\n97:97\n98:98\n99:99\n100-100"
        );
        let long = "ä".repeat(500);
        let shown = excerpt(long.as_bytes(), &place(0, 1));
        assert_eq!(shown.chars().count(), 2 + CHARACTERS + 1);
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_text(
            text in "[a\n]{0,60}",
            places in proptest::collection::vec((0usize..61, 0usize..30), 0..5),
        ) {
            let mut places: Vec<Range<usize>> = places
                .into_iter()
                .map(|(start, length)| {
                    let start = start.min(text.len());
                    start..(start + length).min(text.len())
                })
                .collect();
            places.sort_by_key(|place| place.start);
            let lines: Vec<&str> = text.split_terminator('\n').collect();
            let shown = excerpt(text.as_bytes(), &places);
            let shown: Vec<&str> = shown.lines().filter(|line| *line != "…").collect();
            prop_assert!(shown.len() <= LINES);
            for line in shown {
                let (number, line) = line.split_once([':', '-']).unwrap_or(("0", ""));
                let number: usize = number.parse().unwrap_or(0);
                prop_assert_eq!(Some(&line), lines.get(number - 1));
            }
        }
    }
}
