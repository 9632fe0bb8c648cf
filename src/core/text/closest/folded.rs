//! Text without what makes no difference to who reads it.

use std::ops::Range;

use memchr::memmem;
use unicode_normalization::char::{decompose_canonical, is_combining_mark};

use super::Difference;

/// A text without what makes no difference to who reads it, and where each byte of it comes from.
pub(super) struct Folded<'t> {
    original: &'t [u8],
    fold: Difference,
    text: Vec<u8>,
    /// Of each byte, the character that it comes from.
    places: Vec<Range<u32>>,
}

impl<'t> Folded<'t> {
    pub(super) fn new(original: &'t [u8], fold: Difference) -> Self {
        let mut folded = Self {
            original,
            fold,
            text: Vec::with_capacity(original.len()),
            places: Vec::with_capacity(original.len()),
        };
        let mut at = 0;
        for chunk in original.utf8_chunks() {
            for (index, character) in chunk.valid().char_indices() {
                let start = at + index;
                folded.add(character, start..start + character.len_utf8());
            }
            at += chunk.valid().len();
            for byte in chunk.invalid() {
                folded.push(&[*byte], at..at + 1);
                at += 1;
            }
        }
        if fold == Difference::Typography {
            folded.drop_blanks_at_the_end();
        }
        folded
    }

    /// Leaves out the blanks and the CR before the end of a line, and returns where they begin.
    fn drop_blanks_at_the_end(&mut self) -> Option<u32> {
        let is_blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\r');
        let blanks = self.text.iter().rev().take_while(is_blank).count();
        let end = self.text.len() - blanks;
        let start = self.places.get(end).map(|place| place.start);
        self.text.truncate(end);
        self.places.truncate(end);
        start
    }

    fn add(&mut self, character: char, place: Range<usize>) {
        let mut encoded = [0; 4];
        let keeps_blanks = self.fold == Difference::Typography;
        if keeps_blanks && character == '\n' {
            let start = self.drop_blanks_at_the_end();
            let start = start.map_or(place.start, |start| start as usize);
            return self.push(b"\n", start..place.end);
        }
        if character.is_ascii_whitespace() && !keeps_blanks {
            return;
        }
        if self.fold == Difference::WhiteSpace {
            return self.push(character.encode_utf8(&mut encoded).as_bytes(), place);
        }
        let alike = match character {
            '\u{a0}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
                if keeps_blanks =>
            {
                ' '
            }
            '\u{2018}'..='\u{201b}' => '\'',
            '\u{201c}'..='\u{201f}' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
            other if keeps_blanks => other,
            _ if character.is_whitespace() => return,
            // Characters without width, and the hyphen of a line's end.
            '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => return,
            '\u{2032}' | '\u{2039}' | '\u{203a}' | '`' | '\u{b4}' => '\'',
            '\u{2033}' | '\u{ab}' | '\u{bb}' => '"',
            '\u{2026}' => return self.push(b"...", place),
            other => other,
        };
        let folds_case = self.fold == Difference::Case;
        decompose_canonical(alike, |part| {
            let part = if folds_case {
                part.to_ascii_lowercase()
            } else {
                part
            };
            self.push(part.encode_utf8(&mut encoded).as_bytes(), place.clone());
        });
    }

    fn push(&mut self, bytes: &[u8], place: Range<usize>) {
        let place = place.start as u32..place.end as u32;
        self.text.extend_from_slice(bytes);
        self.places.resize(self.text.len(), place);
    }

    /// Positions at which a folded text begins, in whole characters.
    fn places_of(&self, folded: &[u8]) -> impl Iterator<Item = usize> {
        let is_whole = |at: &usize| {
            let (first, last) = (*at, at + folded.len() - 1);
            let begins = first == 0 || self.places[first - 1] != self.places[first];
            let next = self.places.get(last + 1);
            let accent = next.is_some_and(|next| {
                let next = &self.original[next.start as usize..next.end as usize];
                let next = str::from_utf8(next).unwrap_or_default().chars().next();
                next.is_some_and(is_combining_mark)
            });
            begins && next != Some(&self.places[last]) && !accent
        };
        let folded = (!folded.is_empty()).then_some(folded);
        folded
            .into_iter()
            .flat_map(move |folded| memmem::find_iter(&self.text, folded).filter(is_whole))
    }

    /// Places of a text that reads as `find` does, at the ends of lines if `find` ends in blanks.
    pub(super) fn typographic_places(&self, find: &str) -> impl Iterator<Item = Range<usize>> {
        let folded = Folded::new(find.as_bytes(), self.fold).text;
        let ends_line = find.ends_with([' ', '\t', '\r']);
        let places: Vec<usize> = self.places_of(&folded).collect();
        places.into_iter().filter_map(move |at| {
            let end = at + folded.len();
            let is_there = !ends_line || self.text.get(end).is_none_or(|next| *next == b'\n');
            let last = self.places[end - 1].end;
            is_there.then(|| self.places[at].start as usize..last as usize)
        })
    }

    /// Returns the first place of a text, in whole characters; with as much white space at both ends as
    /// the text has.
    pub(super) fn place(&self, find: &str) -> Option<Range<usize>> {
        let folded = Folded::new(find.as_bytes(), self.fold).text;
        let at = self.places_of(&folded).next()?;
        let start = self.places[at].start as usize;
        let end = self.places[at + folded.len() - 1].end as usize;
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t');
        let (before, behind) = (
            &find[..find.len() - find.trim_ascii_start().len()],
            &find[find.trim_ascii_end().len()..],
        );
        let (above, below) = (&self.original[..start], &self.original[end..]);
        let start = if before.bytes().any(|byte| is_blank(&byte)) {
            start - above.iter().rev().take_while(|byte| is_blank(byte)).count()
        } else {
            start
        };
        if !behind.contains('\n') {
            return Some(start..end);
        }
        let blanks = below.iter().take_while(|byte| is_blank(byte)).count();
        let line_end = match &below[blanks..] {
            [b'\r', b'\n', ..] => 2,
            [b'\n', ..] => 1,
            _ => 0,
        };
        Some(start..end + blanks + line_end)
    }
}
