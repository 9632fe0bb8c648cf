//! Differences of two texts: hunks of lines, and within a line that was replaced the words.

use std::hash::Hash;
use std::time::{Duration, Instant};

use crate::{Encoding, is_pdf};
use fileshed_types::Clock;
use serde::Serialize;
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline, group_diff_ops};

/// Lines around a difference.
const AROUND: usize = 3;

/// The longest line whose words are compared, in characters.
const LONG: usize = 4096;

/// The differences of two texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Comparison {
    /// Lines that only the revised one has.
    pub additions: usize,
    /// Lines that only the original has.
    pub deletions: usize,
    /// Lines that differ, with some around them.
    pub hunks: Vec<Hunk>,
}

/// Neighbouring lines that differ, with some around them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Hunk {
    /// The range of lines in each text, in the notation of `diff -u`.
    pub header: String,
    /// The lines in order; removed ones before the added ones that replace them.
    pub lines: Vec<ComparedLine>,
}

/// A line of a hunk.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparedLine {
    /// `context`, `removed` or `added`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// Its number in the original, counted from 1, if it is there.
    pub old_number: Option<usize>,
    /// Its number in the revised text, if it is there.
    pub new_number: Option<usize>,
    /// The line; that of the original if both texts have it.
    pub content: String,
    /// The line of the revised text, if both texts have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revised_content: Option<String>,
    /// Its parts.
    pub segments: Vec<Segment>,
}

/// A part of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Segment {
    /// The part.
    pub text: String,
    /// `true` if the line that it is compared with does not have this part.
    pub changed: bool,
}

impl Comparison {
    /// Returns the hunks in the notation of `diff -u`, at most about `most` bytes, and `true` if there
    /// is more.
    pub fn unified(&self, most: usize) -> (String, bool) {
        let mut text = String::new();
        for hunk in &self.hunks {
            let lines = hunk.lines.iter().map(|line| {
                let sign = match line.kind {
                    "added" => "+",
                    "removed" => "-",
                    _ => " ",
                };
                (sign, line.content.as_str())
            });
            for (sign, line) in std::iter::once(("", hunk.header.as_str())).chain(lines) {
                if text.len() + line.len() + 2 > most {
                    return (text, true);
                }
                text.extend([sign, line, "\n"]);
            }
        }
        (text, false)
    }

    /// Returns sentences on the cells that differ in lines that replace one another, at most `most` of them.
    pub fn cells(&self, most: usize) -> Vec<String> {
        let mut found = Vec::new();
        for hunk in &self.hunks {
            for block in hunk
                .lines
                .chunk_by(|one, next| (one.kind == "context") == (next.kind == "context"))
            {
                let (removed, added): (Vec<_>, Vec<_>) =
                    block.iter().partition(|line| line.kind == "removed");
                if removed.len() != added.len() {
                    continue;
                }
                for (old, new) in removed.iter().zip(&added) {
                    let (before, after) = (old.content.split('\t'), new.content.split('\t'));
                    for ((before, after), column) in before.zip(after).zip(1..) {
                        if before != after && found.len() < most {
                            let line = new.new_number.unwrap_or_default();
                            found.push(format!(
                                "line {line}, cell {column}: `{before}` → `{after}`"
                            ));
                        }
                    }
                }
            }
        }
        found
    }
}

/// Returns a text without its byte order mark, and with LF line ends; `None` if the bytes are no text.
pub fn readable(bytes: &[u8]) -> Option<String> {
    if is_pdf(bytes) {
        return None;
    }
    let text = Encoding::of(bytes, true).decode(bytes);
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned();
    let is_strange = |c: char| c < ' ' && !matches!(c, '\n' | '\r' | '\t' | '\u{c}' | '\u{1b}');
    if text.contains(is_strange) {
        return None;
    }
    Some(if text.contains('\r') {
        text.replace("\r\n", "\n").replace('\r', "\n")
    } else {
        text
    })
}

/// Compares two texts. After `time`, the rest is compared less finely.
pub fn compare(original: &str, revised: &str, ignores_blanks: bool, time: Duration) -> Comparison {
    let deadline = Clock::SYSTEM.instant() + time;
    let (old, new): (Vec<&str>, Vec<&str>) =
        (original.lines().collect(), revised.lines().collect());
    let ops = if ignores_blanks {
        let bare_line = |line: &&str| line.split_whitespace().collect();
        let bare = |lines: &[&str]| -> Vec<String> { lines.iter().map(bare_line).collect() };
        operations(&bare(&old), &bare(&new), deadline)
    } else {
        operations(&old, &new, deadline)
    };
    let mut comparison = Comparison {
        additions: 0,
        deletions: 0,
        hunks: Vec::new(),
    };
    for group in group_diff_ops(ops, AROUND) {
        let mut lines = Vec::new();
        for op in &group {
            let (before, after) = (op.old_range(), op.new_range());
            let line = |old_number, new_number, content: &str, segments: Option<Vec<Segment>>| {
                ComparedLine {
                    kind: match (old_number, new_number) {
                        (Some(_), Some(_)) => "context",
                        (Some(_), None) => "removed",
                        (None, _) => "added",
                    },
                    old_number,
                    new_number,
                    content: content.to_owned(),
                    revised_content: None,
                    segments: segments.unwrap_or_else(|| whole(content)),
                }
            };
            if let DiffOp::Equal { .. } = op {
                lines.extend(before.zip(after).map(|(x, y)| ComparedLine {
                    revised_content: Some(new[y].to_owned()),
                    ..line(Some(x + 1), Some(y + 1), old[x], None)
                }));
                continue;
            }
            comparison.deletions += before.len();
            comparison.additions += after.len();
            let pairs = before.clone().zip(after.clone());
            let (removed, added): (Vec<_>, Vec<_>) = pairs
                .map(|(x, y)| segments(old[x], new[y], deadline))
                .unzip();
            let (mut removed, mut added) = (removed.into_iter(), added.into_iter());
            lines.extend(before.map(|x| line(Some(x + 1), None, old[x], removed.next())));
            lines.extend(after.map(|y| line(None, Some(y + 1), new[y], added.next())));
        }
        comparison.hunks.push(Hunk {
            header: header(&group),
            lines,
        });
    }
    comparison
}

fn operations<T: Eq + Hash>(old: &[T], new: &[T], deadline: Instant) -> Vec<DiffOp> {
    capture_diff_slices_deadline(Algorithm::Myers, old, new, Some(deadline))
}

/// Returns the range of lines in each text, in the notation of `diff -u`. An empty range is given by the
/// line before it.
fn header(group: &[DiffOp]) -> String {
    let range = |of: fn(&DiffOp) -> std::ops::Range<usize>| {
        let start = group.first().map_or(0, |op| of(op).start);
        let end = group.last().map_or(0, |op| of(op).end);
        let count = end - start;
        format!("{},{count}", if count > 0 { start + 1 } else { start })
    };
    format!(
        "@@ -{} +{} @@",
        range(DiffOp::old_range),
        range(DiffOp::new_range)
    )
}

fn whole(line: &str) -> Vec<Segment> {
    vec![Segment {
        text: line.to_owned(),
        changed: false,
    }]
}

/// Returns the segments of a line and of the one that replaces it.
fn segments(old: &str, new: &str, deadline: Instant) -> (Vec<Segment>, Vec<Segment>) {
    if old.chars().count().max(new.chars().count()) > LONG {
        return (whole(old), whole(new));
    }
    let (before, after) = (words(old), words(new));
    let (mut left, mut right) = (Vec::new(), Vec::new());
    for op in operations(&before, &after, deadline) {
        let changed = !matches!(op, DiffOp::Equal { .. });
        for (parts, words, range) in [
            (&mut left, &before, op.old_range()),
            (&mut right, &after, op.new_range()),
        ] {
            if !range.is_empty() {
                parts.push(Segment {
                    text: words[range].concat(),
                    changed,
                });
            }
        }
    }
    (left, right)
}

/// Splits a line into words, blanks, and every other character by itself.
fn words(line: &str) -> Vec<&str> {
    let class = |c: char| {
        if c.is_alphanumeric() || c == '_' {
            Some(0)
        } else {
            c.is_whitespace().then_some(1)
        }
    };
    let mut words = Vec::new();
    let mut start = 0;
    let mut characters = line.char_indices().peekable();
    while let Some((_, character)) = characters.next() {
        let this = class(character);
        match characters.peek() {
            Some((_, next)) if this.is_some() && class(*next) == this => {}
            Some((at, _)) => {
                words.push(&line[start..*at]);
                start = *at;
            }
            None => words.push(&line[start..]),
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIME: Duration = fileshed_types::timings::minutes(1);

    #[test]
    fn a_line_that_was_replaced_shows_its_words() {
        let found = compare("a\nthe old word\nz\n", "a\nthe new word!\nz\n", false, TIME);
        assert_eq!((found.additions, found.deletions), (1, 1));
        assert_eq!(found.hunks.len(), 1);
        let hunk = &found.hunks[0];
        assert_eq!(hunk.header, "@@ -1,3 +1,3 @@");
        let numbers: Vec<_> = hunk
            .lines
            .iter()
            .map(|line| (line.old_number, line.new_number))
            .collect();
        assert_eq!(
            numbers,
            [
                (Some(1), Some(1)),
                (Some(2), None),
                (None, Some(2)),
                (Some(3), Some(3))
            ]
        );
        let parts = |line: &ComparedLine| -> Vec<(String, bool)> {
            let segments = line.segments.iter();
            segments
                .map(|segment| (segment.text.clone(), segment.changed))
                .collect()
        };
        let part = |text: &str, changed| (text.to_owned(), changed);
        assert_eq!(
            parts(&hunk.lines[1]),
            [part("the ", false), part("old", true), part(" word", false)]
        );
        assert_eq!(
            parts(&hunk.lines[2]),
            [
                part("the ", false),
                part("new", true),
                part(" word", false),
                part("!", true)
            ]
        );
    }

    #[test]
    fn blanks_need_not_count() {
        let (old, new) = ("a b\nc\n", "  a   b\nc\n");
        assert_eq!(compare(old, new, false, TIME).hunks.len(), 1);
        assert_eq!(compare(old, new, true, TIME).hunks, []);
        let added = compare("", "a\n", false, TIME);
        assert_eq!(added.hunks[0].header, "@@ -0,0 +1,1 @@");
    }

    #[test]
    fn only_text_is_readable() {
        assert_eq!(
            readable(b"\xef\xbb\xbfa\r\nb\rc").as_deref(),
            Some("a\nb\nc")
        );
        assert_eq!(readable(b"\xff\xfea\0\n\0").as_deref(), Some("a\n"));
        assert_eq!(readable(b"\xfe\xff\0a").as_deref(), Some("a"));
        assert_eq!(readable(b"a\0b"), None);
        assert_eq!(readable(b""), Some(String::new()));
    }

    #[test]
    fn texts_that_share_nothing_are_compared_in_time() {
        let text = |seed: usize| -> String {
            (0..50_000).fold(String::new(), |text, line| {
                text + &(line * 2 + seed).to_string() + "\n"
            })
        };
        let found = compare(&text(0), &text(1), false, Duration::ZERO);
        assert_eq!((found.additions, found.deletions), (50_000, 50_000));
    }

    proptest! {
        #[test]
        fn both_texts_can_be_read_in_a_comparison(
            old in proptest::collection::vec("[ab ]{0,3}", 0..12),
            new in proptest::collection::vec("[ab ]{0,3}", 0..12),
            ignores_blanks: bool,
        ) {
            let text = |lines: &[String]| lines.iter().fold(String::new(), |text, line| text + line + "\n");
            let found = compare(&text(&old), &text(&new), ignores_blanks, TIME);
            let (mut added, mut removed) = (0, 0);
            for line in found.hunks.iter().flat_map(|hunk| &hunk.lines) {
                let parts: String = line.segments.iter().map(|part| part.text.as_str()).collect();
                prop_assert_eq!(&parts, &line.content);
                match (line.old_number, line.new_number) {
                    (Some(x), Some(y)) => {
                        prop_assert_eq!(&line.content, &old[x - 1]);
                        prop_assert_eq!(line.revised_content.as_ref(), Some(&new[y - 1]));
                    }
                    (Some(x), None) => {
                        removed += 1;
                        prop_assert_eq!(&line.content, &old[x - 1]);
                    }
                    (None, Some(y)) => {
                        added += 1;
                        prop_assert_eq!(&line.content, &new[y - 1]);
                    }
                    (None, None) => prop_assert!(false),
                }
            }
            prop_assert_eq!((added, removed), (found.additions, found.deletions));
            prop_assert_eq!(old.len() + added, new.len() + removed);
        }
    }
}
