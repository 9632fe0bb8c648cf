//! What a file has in the place of text that it does not have.
//!
//! Nothing here edits: a caller that meant other text than it wrote is told what stands there.

use std::ops::Range;

use memchr::memmem;

use super::excerpt::excerpt;
use super::lines::{ranges, without_end};
use super::literal::{Literal, line_number};

/// The largest file that is looked through.
const TEXT_LIMIT: usize = 2 << 20;
/// The longest text that is offered to be copied.
const COPY_LIMIT: usize = 1500;
/// The most bytes of a line that are compared.
const LINE_LIMIT: usize = 400;
/// How much two lines have in common that are meant to be the same: 100 is everything.
const LIKENESS: usize = 50;

/// How the text in the file differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// In blanks, tabs and line ends.
    WhiteSpace,
    /// In capitals, or in these and in white space.
    Case,
    /// `\n` and the like were written as two characters.
    Escapes,
    /// Each line was written with its number.
    LineNumbers,
    /// In words.
    Words,
}

impl Difference {
    /// In words, unless it is a matter of words itself.
    pub(super) const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::WhiteSpace => Some("in white space"),
            Self::Case => Some("in capitals"),
            Self::Escapes => Some("in escapes such as \\n"),
            Self::LineNumbers => Some("in line numbers"),
            Self::Words => None,
        }
    }
}

/// The place in a file that is nearest to a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closest {
    /// Its first line.
    pub(super) line: u64,
    /// Its lines, numbered.
    pub(super) lines: String,
    pub(super) difference: Difference,
    /// The text as it stands there, where it can be told and is short. A line that ends in CR CR LF
    /// can't be told: its end would be looked for as CR LF.
    pub(super) text: Option<String>,
}

impl Closest {
    /// The lines of the place, numbered.
    #[must_use]
    pub fn lines(&self) -> &str {
        &self.lines
    }
}

#[cfg(test)]
impl Closest {
    pub(super) fn example(text: Option<String>) -> Self {
        Self {
            line: 3,
            lines: "3\told  text".to_owned(),
            difference: Difference::WhiteSpace,
            text,
        }
    }
}

/// The place in `text` that is nearest to `find`; nothing where nothing is like it.
pub(super) fn closest(text: &[u8], find: &str) -> Option<Closest> {
    if text.len() > TEXT_LIMIT || find.trim().is_empty() {
        return None;
    }
    let written_otherwise = [
        (Difference::Escapes, unescaped(find)),
        (Difference::LineNumbers, without_numbers(find)),
    ];
    for (difference, meant) in written_otherwise {
        if let Some(meant) = meant
            && let Some(place) = Literal::new(text, &meant).places().next()
        {
            return Some(found(text, place, difference, true));
        }
    }
    for (difference, folds_case) in [(Difference::WhiteSpace, false), (Difference::Case, true)] {
        if let Some(place) = Folded::new(text, folds_case).place(find, folds_case) {
            return Some(found(text, place, difference, true));
        }
    }
    likest_lines(text, find).map(|place| found(text, place, Difference::Words, false))
}

fn found(text: &[u8], place: Range<usize>, difference: Difference, is_sure: bool) -> Closest {
    let copied = str::from_utf8(&text[place.clone()])
        .ok()
        .filter(|copied| is_sure && copied.len() <= COPY_LIMIT)
        .map(|copied| copied.replace("\r\n", "\n"))
        .filter(|copied| !copied.contains("\r\n"));
    Closest {
        line: line_number(text, place.start),
        lines: excerpt(text, &[place]),
        difference,
        text: copied,
    }
}

/// `find` with its escapes read, where it has any.
fn unescaped(find: &str) -> Option<String> {
    let mut read = String::with_capacity(find.len());
    let mut rest = find.chars();
    let mut has_escape = false;
    while let Some(character) = rest.next() {
        let escaped = match (character, rest.clone().next()) {
            ('\\', Some('n')) => '\n',
            ('\\', Some('t')) => '\t',
            ('\\', Some(escaped @ ('"' | '\'' | '\\' | '/'))) => escaped,
            _ => {
                read.push(character);
                continue;
            }
        };
        rest.next();
        has_escape = true;
        read.push(escaped);
    }
    has_escape.then_some(read)
}

/// `find` without the numbers that `cat -n`, `grep -n` or an answer put before each line.
fn without_numbers(find: &str) -> Option<String> {
    find.split_inclusive('\n')
        .map(|line| {
            let behind = line
                .trim_start()
                .trim_start_matches(|c: char| c.is_ascii_digit());
            let is_numbered = line.trim_start().len() > behind.len();
            is_numbered
                .then(|| behind.strip_prefix(['\t', ':', '-', '|', ' ']))
                .flatten()
        })
        .collect()
}

/// A text without white space, and where each byte of it comes from.
struct Folded<'t> {
    original: &'t [u8],
    text: Vec<u8>,
    places: Vec<u32>,
}

impl<'t> Folded<'t> {
    fn new(original: &'t [u8], folds_case: bool) -> Self {
        let mut text = Vec::with_capacity(original.len());
        let mut places = Vec::with_capacity(original.len());
        for (place, &byte) in (0..).zip(original) {
            if !byte.is_ascii_whitespace() {
                text.push(if folds_case {
                    byte.to_ascii_lowercase()
                } else {
                    byte
                });
                places.push(place);
            }
        }
        Self {
            original,
            text,
            places,
        }
    }

    /// Where a text stands when white space makes no difference; with as much of it at both ends
    /// as the text has.
    fn place(&self, find: &str, folds_case: bool) -> Option<Range<usize>> {
        let folded = Folded::new(find.as_bytes(), folds_case).text;
        let at = memmem::find(&self.text, &folded)?;
        let start = self.places[at] as usize;
        let end = self.places[at + folded.len() - 1] as usize + 1;
        let has_blank = |text: &str| text.bytes().any(|byte| matches!(byte, b' ' | b'\t'));
        let (before, behind) = (
            &find[..find.len() - find.trim_ascii_start().len()],
            &find[find.trim_ascii_end().len()..],
        );
        let blanks = |bytes: &mut dyn Iterator<Item = &u8>| {
            bytes
                .take_while(|byte| matches!(byte, b' ' | b'\t'))
                .count()
        };
        let start = if has_blank(before) {
            start - blanks(&mut self.original[..start].iter().rev())
        } else {
            start
        };
        let rest = &self.original[end..];
        let end = if behind.contains('\n') {
            end + blanks(&mut rest.iter())
        } else {
            end
        };
        let line_end = match &self.original[end..] {
            [b'\r', b'\n', ..] if behind.contains('\n') => 2,
            [b'\n', ..] if behind.contains('\n') => 1,
            _ => 0,
        };
        Some(start..end + line_end)
    }
}

/// As many lines as `find` has, where its longest line is likest to a line of the text.
fn likest_lines(text: &[u8], find: &str) -> Option<Range<usize>> {
    let wanted: Vec<&str> = find.trim_matches(['\r', '\n']).lines().collect();
    let (index, anchor) = wanted
        .iter()
        .enumerate()
        .max_by_key(|(index, line)| (line.trim().len(), std::cmp::Reverse(*index)))?;
    let anchor = Pairs::of(anchor.as_bytes());
    let lines: Vec<Range<usize>> = ranges(text).collect();
    let (best, likeness) = lines
        .iter()
        .enumerate()
        .map(|(number, line)| (number, anchor.likeness(without_end(&text[line.clone()]))))
        .max_by_key(|(number, likeness)| (*likeness, std::cmp::Reverse(*number)))?;
    if likeness < LIKENESS {
        return None;
    }
    let first = best.saturating_sub(index);
    let last = (best + wanted.len() - index - 1).min(lines.len() - 1);
    Some(lines[first].start..lines[last].end)
}

/// The pairs of neighbouring bytes in a line, in order: lines that share many are alike.
struct Pairs(Vec<[u8; 2]>);

impl Pairs {
    fn of(line: &[u8]) -> Self {
        let line = line.trim_ascii();
        let mut pairs: Vec<[u8; 2]> = line[..line.len().min(LINE_LIMIT)]
            .windows(2)
            .map(|pair| [pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase()])
            .filter(|pair| *pair != [b' ', b' '])
            .collect();
        pairs.sort_unstable();
        Self(pairs)
    }

    /// From 0 for nothing to 100 for everything in common (the coefficient of Sørensen and Dice).
    fn likeness(&self, line: &[u8]) -> usize {
        let (own, other) = (&self.0, Self::of(line).0);
        if own.is_empty() || other.is_empty() {
            return 0;
        }
        let (mut at, mut common) = (0, 0);
        for pair in own {
            while other.get(at).is_some_and(|other| other < pair) {
                at += 1;
            }
            if other.get(at) == Some(pair) {
                common += 1;
                at += 1;
            }
        }
        200 * common / (own.len() + other.len())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CODE: &str = "def add(a, b):\n    total = a + b\n    return total\n\nprint(add(1, 2))\n";

    fn told(text: &str, find: &str) -> Option<(Difference, u64, Option<String>)> {
        closest(text.as_bytes(), find).map(|found| (found.difference, found.line, found.text))
    }

    #[test]
    fn what_was_meant_is_told_as_it_stands() {
        for (find, difference, line, text) in [
            (
                "total=a",
                Some(Difference::WhiteSpace),
                2,
                Some("total = a"),
            ),
            ("returning  total", None, 3, None),
            (
                "total  =  a",
                Some(Difference::WhiteSpace),
                2,
                Some("total = a"),
            ),
            (
                "\ttotal = a + b\n\treturn total\n",
                Some(Difference::WhiteSpace),
                2,
                Some("    total = a + b\n    return total\n"),
            ),
            (
                "total = a + b return total",
                Some(Difference::WhiteSpace),
                2,
                Some("total = a + b\n    return total"),
            ),
            ("def ADD(a,", Some(Difference::Case), 1, Some("def add(a,")),
            (
                "return total\\n\\nprint",
                Some(Difference::Escapes),
                3,
                Some("return total\n\nprint"),
            ),
            (
                "2:    total = a + b\n3:    return total",
                Some(Difference::LineNumbers),
                2,
                Some("    total = a + b\n    return total"),
            ),
            (
                "     3\t    return total\n",
                Some(Difference::LineNumbers),
                3,
                Some("    return total\n"),
            ),
            ("    result = a + b\n    return result", None, 2, None),
        ] {
            let expected = (
                difference.unwrap_or(Difference::Words),
                line,
                text.map(str::to_owned),
            );
            assert_eq!(told(CODE, find), Some(expected.clone()), "{find:?}");
            let windows = CODE.replace('\n', "\r\n");
            assert_eq!(told(&windows, find), Some(expected), "{find:?} with CRLF");
        }
        for find in ["class Account:", "zzz", " ", "x"] {
            assert_eq!(told(CODE, find), None, "{find:?}");
        }
        assert_eq!(told("", "a"), None);
        let untold = Some((Difference::Case, 1, None));
        assert_eq!(told("B\r\r\naa", "bA"), untold);
    }

    #[test]
    fn the_nearest_lines_are_shown() {
        let found = closest(CODE.as_bytes(), "    return totals").map(|found| found.lines);
        let lines = "2-    total = a + b\n3:    return total\n4-";
        assert_eq!(found.as_deref(), Some(lines));
    }

    proptest! {
        /// What is offered stands in the file.
        #[test]
        fn what_is_offered_is_there(text in "[aB \t\r\n]{0,30}", find in "[Ab \t\n\\\\n1:]{0,8}") {
            if let Some(Closest { text: Some(offered), .. }) = closest(text.as_bytes(), &find) {
                prop_assert!(Literal::new(text.as_bytes(), &offered).places().next().is_some());
            }
        }

        #[test]
        fn no_bytes_are_too_odd(text in proptest::collection::vec(any::<u8>(), 0..60), find in "\\PC{0,9}") {
            let _ = closest(&text, &find);
        }
    }
}
