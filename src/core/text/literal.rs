//! Search for literal text in a file, with LF and CR LF treated alike.

use std::borrow::Cow;
use std::ops::Range;

use memchr::{memchr_iter, memmem};

/// A file in which literal text is looked for.
///
/// Text over several lines has LF ends in requests, whatever the file has. So CR LF is read as LF on
/// both sides. The places of the removed CRs map a match back to its place in the file.
pub(super) struct Literal<'t> {
    text: Cow<'t, [u8]>,
    find: Cow<'t, [u8]>,
    /// The places, in the text without CRs, of the LFs that had one.
    left_out: Vec<usize>,
}

impl<'t> Literal<'t> {
    pub(super) fn new(text: &'t [u8], find: &'t str) -> Self {
        let find = if find.contains("\r\n") {
            Cow::Owned(find.replace("\r\n", "\n").into_bytes())
        } else {
            Cow::Borrowed(find.as_bytes())
        };
        let spans_lines = find.contains(&b'\n');
        if !spans_lines || memmem::find(text, b"\r\n").is_none() {
            return Self {
                text: Cow::Borrowed(text),
                find,
                left_out: Vec::new(),
            };
        }
        let mut plain = Vec::with_capacity(text.len());
        let mut left_out = Vec::new();
        let mut done = 0;
        for at in memmem::find_iter(text, b"\r\n") {
            plain.extend_from_slice(&text[done..at]);
            left_out.push(plain.len());
            done = at + 1;
        }
        plain.extend_from_slice(&text[done..]);
        Self {
            text: Cow::Owned(plain),
            find,
            left_out,
        }
    }

    /// Returns the places of the text in the file, in order and without overlap.
    pub(super) fn places(&self) -> impl Iterator<Item = Range<usize>> {
        let find = (!self.find.is_empty()).then_some(self.find.as_ref());
        find.into_iter().flat_map(|find| {
            memmem::find_iter(&self.text, find)
                .map(|at| self.original(at)..self.original(at + find.len()))
        })
    }

    /// Returns the only place; `None` if there is none or more than one.
    pub(super) fn only_place(&self) -> Option<Range<usize>> {
        let mut places = self.places();
        places.next().filter(|_| places.next().is_none())
    }

    fn original(&self, at: usize) -> usize {
        at + self.left_out.partition_point(|&left_out| left_out < at)
    }
}

/// Returns the number of the line at a place.
pub(super) fn line_number(text: &[u8], at: usize) -> u64 {
    memchr_iter(b'\n', &text[..at]).count() as u64 + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn places(text: &str, find: &str) -> Vec<Range<usize>> {
        Literal::new(text.as_bytes(), find).places().collect()
    }

    #[test]
    fn text_is_found_over_any_line_ends() {
        for (text, find, expected) in [
            ("a b a", "a", &[(0, 1), (4, 5)][..]),
            ("aaa", "aa", &[(0, 2)][..]),
            ("a\nb\n", "a\nb", &[(0, 3)][..]),
            ("a\r\nb\r\n", "a\nb", &[(0, 4)][..]),
            ("a\r\nb\r\n", "a\nb\n", &[(0, 6)][..]),
            ("a\r\nb\r\n", "a\r\nb", &[(0, 4)][..]),
            ("a\nb\n", "a\r\nb", &[(0, 3)][..]),
            ("a\r\nb\nc\r\n", "a\nb\nc", &[(0, 6)][..]),
            ("x\r\ny\r\n", "\n", &[(1, 3), (4, 6)][..]),
            ("x\r\ny\r\n", "y", &[(3, 4)][..]),
            ("x\ry", "x\ry", &[(0, 3)][..]),
            ("x", "", &[][..]),
            ("größe", "ö", &[(2, 4)][..]),
        ] {
            let found: Vec<_> = places(text, find)
                .into_iter()
                .map(|place| (place.start, place.end))
                .collect();
            assert_eq!(found, expected, "{find:?} in {text:?}");
        }
    }

    #[test]
    fn lines_have_numbers() {
        assert_eq!(
            [0, 1, 2, 4].map(|at| line_number(b"a\nb\n", at)),
            [1, 1, 2, 3]
        );
    }

    proptest! {
        /// Literal text with LF ends is found at the same lines and columns, whatever line ends the file has.
        #[test]
        fn the_ends_of_lines_make_no_difference(
            text in "[ab\n]{0,20}",
            find in "[ab\n]{1,4}",
        ) {
            let windows = text.replace('\n', "\r\n");
            let shown = |text: &str, find: &str| -> Vec<String> {
                places(text, find)
                    .into_iter()
                    .map(|place| text[..place.start].replace("\r\n", "\n") + "|" + &text[place].replace("\r\n", "\n"))
                    .collect()
            };
            let expected: Vec<String> = text
                .match_indices(&find)
                .map(|(at, found)| text[..at].to_owned() + "|" + found)
                .collect();
            prop_assert_eq!(shown(&text, &find), expected.clone());
            prop_assert_eq!(shown(&windows, &find), expected.clone());
            prop_assert_eq!(shown(&windows, &find.replace('\n', "\r\n")), expected);
        }
    }
}
