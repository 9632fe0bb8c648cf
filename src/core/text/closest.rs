//! Search for the lines of a file that are closest to a text that it does not have.
//!
//! It edits nothing, but a failure can show these lines to a caller whose text differs from the file's.

mod folded;

use std::ops::Range;

use self::folded::Folded;
use super::excerpt::excerpt;
use super::lines::{ranges, without_line_end};
use super::literal::{Literal, line_number};

/// The largest file that is looked through.
const TEXT_LIMIT: usize = 2 << 20;
/// The longest text that is offered to be copied.
const COPY_LIMIT: usize = 1500;
/// The most bytes of a line that are compared.
const LINE_LIMIT: usize = 400;
/// Least likeness of two lines that are taken for the same; 100 is equality.
const LIKENESS: usize = 50;

/// Difference of the text in the file from the text that was looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Difference {
    /// In blanks, tabs and line ends.
    WhiteSpace,
    /// In white space at the ends of lines, and in blanks, quotes, dashes and accents that look alike.
    Typography,
    /// In characters that look alike, or in these and in white space.
    LookAlike,
    /// In capitals, or in these and in what looks alike.
    Case,
    /// `\n` and the like were written as two characters.
    Escapes,
    /// Each line was written with its number.
    LineNumbers,
    /// In words.
    Words,
}

impl Difference {
    /// Returns the difference in words; `None` if it is one of words itself.
    pub(super) const fn as_str(self) -> Option<&'static str> {
        match self {
            Self::WhiteSpace => Some("in white space"),
            Self::Typography | Self::LookAlike => {
                Some("in characters that look alike (blanks, quotes, dashes, accents)")
            }
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
    pub lines: String,
    pub(super) difference: Difference,
    /// The text in the file, if it is short and can be given. A line that ends in CR CR LF cannot,
    /// because its end would be looked for as CR LF.
    pub(super) text: Option<String>,
}

impl Closest {
    /// Returns the text in the file as JSON, if a search for it would find it.
    pub fn quoted(&self) -> Option<String> {
        let text = self.text.as_deref().map(serde_json::Value::from);
        text.map(|text| text.to_string())
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

/// Returns the place in `text` that is nearest to `find`; `None` if there is no similar text.
pub(super) fn closest(text: &[u8], find: &str) -> Option<Closest> {
    if text.len() > TEXT_LIMIT || find.trim().is_empty() {
        return None;
    }
    // Text that looks the same comes before all other similar text.
    for difference in [Difference::WhiteSpace, Difference::LookAlike] {
        if let Some(place) = Folded::new(text, difference).place(find) {
            return Some(found(text, place, difference, true));
        }
    }
    if let Some(meant) = unescaped(find)
        && let Some(place) = Literal::new(text, &meant).places().next()
    {
        return Some(found(text, place, Difference::Escapes, true));
    }
    if let Some(place) = numbered_lines(text, find) {
        return Some(found(text, place, Difference::LineNumbers, true));
    }
    if let Some(place) = Folded::new(text, Difference::Case).place(find) {
        return Some(found(text, place, Difference::Case, true));
    }
    likest_lines(text, find).map(|place| found(text, place, Difference::Words, false))
}

/// Returns the only place within `bounds` of a text that reads as `find` does: it may differ in white
/// space at the ends of lines, and in blanks, quotes, dashes and accents that look alike.
pub(super) fn alike_place(text: &[u8], find: &str, bounds: &Range<usize>) -> Option<Range<usize>> {
    if text.len() > TEXT_LIMIT {
        return None;
    }
    let folded = Folded::new(text, Difference::Typography);
    let mut places = folded.typographic_places(find);
    let place = places.find(|place| bounds.contains(&place.start))?;
    places
        .all(|other| !bounds.contains(&other.start))
        .then_some(place)
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

/// Returns `find` with its escapes read, if it has any.
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

/// Returns the lines of `find` if each begins with a number, as `cat -n`, `grep -n` and responses show
/// lines. A number that is not the one of its line belongs to the text.
fn numbered_lines(text: &[u8], find: &str) -> Option<Range<usize>> {
    let mut first = None;
    let mut meant = String::with_capacity(find.len());
    for (index, line) in (0_u64..).zip(find.split_inclusive('\n')) {
        let line = line.trim_start_matches([' ', '\t']);
        let behind = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let number: u64 = line[..line.len() - behind.len()].parse().ok()?;
        if *first.get_or_insert(number) + index != number {
            return None;
        }
        meant.push_str(behind.strip_prefix(['\t', ':', '-', '|', '\u{2192}', ' '])?);
    }
    let literal = Literal::new(text, &meant);
    literal.places().find(|place| {
        let line = text[..place.start].rsplit(|byte| *byte == b'\n').next();
        let begins = line.unwrap_or_default().trim_ascii().is_empty();
        begins && Some(line_number(text, place.start)) == first
    })
}

/// Returns as many lines as `find` has, placed so that its longest line matches the most similar line of
/// the text.
fn likest_lines(text: &[u8], find: &str) -> Option<Range<usize>> {
    let wanted: Vec<&str> = find.trim_matches(['\r', '\n']).lines().collect();
    let (index, anchor) = wanted
        .iter()
        .enumerate()
        .max_by_key(|(index, line)| (line.trim().len(), std::cmp::Reverse(*index)))?;
    let anchor = pairs(anchor.as_bytes());
    let lines: Vec<Range<usize>> = ranges(text).collect();
    let (best, likeness) = lines
        .iter()
        .enumerate()
        .map(|(number, line)| {
            let line = pairs(without_line_end(&text[line.clone()]));
            (number, likeness(&anchor, &line))
        })
        .max_by_key(|(number, likeness)| (*likeness, std::cmp::Reverse(*number)))?;
    if likeness < LIKENESS {
        return None;
    }
    let first = best.saturating_sub(index);
    let last = (best + wanted.len() - index - 1).min(lines.len() - 1);
    Some(lines[first].start..lines[last].end)
}

/// Returns the pairs of neighbouring bytes in a line, in order: lines that share many are alike.
fn pairs(line: &[u8]) -> Vec<[u8; 2]> {
    let line = line.trim_ascii();
    let mut pairs: Vec<[u8; 2]> = line[..line.len().min(LINE_LIMIT)]
        .windows(2)
        .map(|pair| [pair[0].to_ascii_lowercase(), pair[1].to_ascii_lowercase()])
        .filter(|pair| *pair != [b' ', b' '])
        .collect();
    pairs.sort_unstable();
    pairs
}

/// Returns from 0 for nothing to 100 for everything in common (the coefficient of Sørensen and Dice).
fn likeness(own: &[[u8; 2]], other: &[[u8; 2]]) -> usize {
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
    fn a_place_that_reads_alike_is_found_where_it_is_the_only_one() {
        for (text, find, expected) in [
            ("a = 1;  \nb = 2\n", "a = 1;\nb", Some("a = 1;  \nb")),
            ("a = 1;\t\r\nb = 2\r\n", "a = 1;\nb", Some("a = 1;\t\r\nb")),
            ("a\nb\n", "a  \nb\t", Some("a\nb")),
            ("a \nb\n", "a\n", Some("a \n")),
            ("x\na  \r\nb", "\nb", Some("  \r\nb")),
            ("24 Stunden\n", "24 Stunden ", Some("24 Stunden")),
            ("24 Stunden an\n", "24 Stunden  ", None),
            ("5\u{a0}EUR", "5 EUR", Some("5\u{a0}EUR")),
            ("5 EUR", "5\u{202f}EUR", Some("5 EUR")),
            ("5  EUR", "5 EUR", None),
            (
                "\u{201e}ja\u{201c}, it\u{2019}s",
                "\"ja\", it's",
                Some("\u{201e}ja\u{201c}, it\u{2019}s"),
            ),
            ("10\u{2013}12", "10-12", Some("10\u{2013}12")),
            ("u\u{308}ber", "\u{fc}ber", Some("u\u{308}ber")),
            ("\u{fc}ber", "u\u{308}ber", Some("\u{fc}ber")),
            ("o\u{308}", "o", None),
            ("`a`", "'a'", None),
            ("a\u{200b}b", "ab", None),
            ("it\u{2019}s it\u{2018}s", "it's", None),
            ("a", " ", None),
        ] {
            let place = alike_place(text.as_bytes(), find, &(0..text.len()));
            assert_eq!(
                place.map(|place| &text[place]),
                expected,
                "{find:?} in {text:?}"
            );
        }
        let text = "it\u{2019}s it\u{2018}s";
        assert_eq!(
            alike_place(text.as_bytes(), "it's", &(2..text.len())),
            Some(7..13)
        );
    }

    #[test]
    fn what_looks_the_same_is_meant() {
        for (text, find, difference, stands) in [
            (
                "stock\n3  items left\n",
                "3 items left",
                Difference::WhiteSpace,
                "3  items left",
            ),
            (
                "a\nb\n  items left\n",
                "3 items left",
                Difference::LineNumbers,
                "items left",
            ),
            (
                "alpha\nbeta two\n",
                "     2\u{2192}beta two",
                Difference::LineNumbers,
                "beta two",
            ),
            (
                "Total: 10\u{a0}000 EUR",
                "10 000 EUR",
                Difference::LookAlike,
                "10\u{a0}000 EUR",
            ),
            (
                "die U\u{308}bung",
                "die \u{dc}bung",
                Difference::LookAlike,
                "die U\u{308}bung",
            ),
            (
                "die \u{dc}bung",
                "U\u{308}bung",
                Difference::LookAlike,
                "\u{dc}bung",
            ),
            (
                "\u{201c}it\u{2019}s\u{201d}",
                "\"it's\"",
                Difference::LookAlike,
                "\u{201c}it\u{2019}s\u{201d}",
            ),
            (
                "pages 10\u{2013}12",
                "10-12",
                Difference::LookAlike,
                "10\u{2013}12",
            ),
        ] {
            let expected = (difference, Some(stands.to_owned()));
            let told = told(text, find).map(|(difference, _, text)| (difference, text));
            assert_eq!(told, Some(expected), "{find:?}");
        }
        // A number of another line, or of another text, belongs to what was written.
        for (text, find) in [
            ("a\nb\n5 items left\n", "3 items left"),
            ("b\n11:30 meeting", "10:30 meeting"),
        ] {
            assert_eq!(
                told(text, find).and_then(|(_, _, text)| text),
                None,
                "{find:?}"
            );
        }
        // A letter without its accent is another letter.
        assert_eq!(
            told("caf\u{e9}", "cafe").and_then(|(_, _, text)| text),
            None
        );
    }

    #[test]
    fn the_nearest_lines_are_shown() {
        let found = closest(CODE.as_bytes(), "    return totals").map(|found| found.lines);
        let lines = "2-    total = a + b\n3:    return total\n4-";
        assert_eq!(found.as_deref(), Some(lines));
    }

    proptest! {
        /// Suggested text exists in the file.
        #[test]
        fn what_is_offered_is_there(text in "[aB \t\r\n\u{a0}\u{e9}]{0,30}", find in "[Ab \t\n\\\\n1:\u{a0}]{0,8}") {
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
