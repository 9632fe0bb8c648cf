//! A few lines of a text, numbered, around the places that matter.

use std::collections::BTreeMap;
use std::ops::Range;

use super::lines::{around, line_count, ranges, without_line_end};

/// The most lines of an excerpt.
const LINES: usize = 10;
/// The most lines of one place: of a longer one the first and the last are shown.
const HEAD: usize = 5;
const TAIL: usize = 3;
/// The most characters of a line, and of the beginning of a text in a message.
const CHARACTERS: usize = 160;
const BEGINNING: usize = 120;

/// Returns the lines of `text` that `places` touch, each with a neighbour before and behind, in the form
/// of `grep -n -C 1`: `7:` is a line that is meant, `8-` a neighbour, `…` stands for lines between. A
/// place that is empty and between two lines has neighbours only.
pub(super) fn excerpt(text: &[u8], places: &[Range<usize>]) -> String {
    let mut shown: BTreeMap<usize, (Range<usize>, bool)> = BTreeMap::new();
    // Lines are counted from front to back, once: those before `counted`, which begins a line.
    let (mut counted, mut before) = (0, 0);
    for place in places {
        if shown.len() >= LINES {
            break;
        }
        let mut meant = around(text, place);
        if place.is_empty() && place.start == meant.start {
            meant.end = meant.start;
        }
        before += line_count(&text[counted.min(meant.start)..meant.start]) as usize;
        counted = counted.max(meant.start);
        let count = line_count(&text[meant.clone()]) as usize;
        if meant.start > 0 {
            let neighbour = around(text, &(meant.start - 1..meant.start - 1));
            shown.entry(before).or_insert((neighbour, false));
        }
        for (index, line) in ranges(&text[meant.clone()]).enumerate() {
            if count <= HEAD + TAIL || index < HEAD || index + TAIL >= count {
                let line = meant.start + line.start..meant.start + line.end;
                shown.insert(before + index + 1, (line, true));
            }
        }
        if meant.end < text.len() {
            let neighbour = around(text, &(meant.end..meant.end));
            shown
                .entry(before + count + 1)
                .or_insert((neighbour, false));
        }
    }
    let mut lines = Vec::with_capacity(LINES);
    let mut last = None;
    for (number, (range, is_meant)) in shown.into_iter().take(LINES) {
        if last.is_some_and(|last| last + 1 < number) {
            lines.push("…".to_owned());
        }
        let mark = if is_meant { ':' } else { '-' };
        lines.push(format!("{number}{mark}{}", shortened(&text[range])));
        last = Some(number);
    }
    lines.join("\n")
}

/// Returns a line without its end, and without what is too much of it.
fn shortened(line: &[u8]) -> String {
    let line = without_line_end(line);
    // A character has at most four bytes.
    let part = &line[..line.len().min(CHARACTERS * 4)];
    cut(&String::from_utf8_lossy(part), CHARACTERS)
}

/// Returns the beginning of a text, for a message.
pub fn beginning(text: &str) -> String {
    cut(text, BEGINNING)
}

/// Returns the first characters of a text; an ellipsis stands for the others.
pub fn cut(text: &str, characters: usize) -> String {
    match text.char_indices().nth(characters) {
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
