//! Text as it is collected: bounded, without blank ends.

use serde::{Deserialize, Serialize};

/// Why a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// Its archive.
    #[error("it is not a readable archive: {0}")]
    Archive(#[from] zip::result::ZipError),
    /// A part of it.
    #[error("its part `{part}` cannot be read: {reason}")]
    Part {
        /// The part.
        part: String,
        /// The reason.
        reason: String,
    },
    /// A part that every document of its kind has.
    #[error("it has no part `{0}`")]
    Missing(String),
    /// Its bytes.
    #[error("{0}")]
    Read(std::io::Error),
}

/// The mark in the place of a footnote, endnote or comment, which stands behind the text.
pub(crate) fn note_mark(number: usize) -> String {
    format!("[^{number}]")
}

/// The place of a line in the layout of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LineRole {
    /// The name of a page, slide or section.
    Part,
    /// A heading of this level, from 1.
    Heading(u8),
    /// An item of a list, with its bullet or number.
    Item,
    /// A row of a table, its cells apart by tabs.
    Row,
}

/// The text of a document, so far.
#[derive(Debug)]
pub struct TextBuilder {
    most: usize,
    content: String,
    truncated: bool,
    /// Bytes before each line that is more than text.
    roles: Vec<(usize, LineRole)>,
    /// The end of the last tracked change.
    change_end: usize,
}

impl TextBuilder {
    /// No text yet, and room for so many bytes.
    pub fn new(most: usize) -> Self {
        Self {
            most,
            content: String::new(),
            truncated: false,
            roles: Vec::new(),
            change_end: 0,
        }
    }

    /// Returns `true` if no more text is taken.
    pub fn is_full(&self) -> bool {
        self.truncated
    }

    /// Bytes that still fit.
    fn room(&self) -> usize {
        self.most - self.content.len()
    }

    /// Text apart from this one, with the room that is left here.
    pub(crate) fn nested(&self) -> Self {
        Self::new(self.room())
    }

    /// Begins a tracked change: `+` of an insertion, `-` of a deletion. One behind another of its kind
    /// goes on with that.
    pub(crate) fn begin_change(&mut self, sign: char) {
        let end = format!("{sign}]");
        if self.change_end == self.content.len() && self.content.ends_with(&end) {
            self.content.truncate(self.content.len() - end.len());
        } else {
            self.push(&format!("[{sign}"));
        }
    }

    /// Ends a tracked change. A change without text leaves no mark.
    pub(crate) fn end_change(&mut self, sign: char) {
        let begin = format!("[{sign}");
        if self.content.ends_with(&begin) {
            self.content.truncate(self.content.len() - begin.len());
        } else {
            self.push(&format!("{sign}]"));
            self.change_end = self.content.len();
        }
    }

    /// A text whose runs of white space are one blank each, as pages are shown.
    pub(crate) fn push_collapsed(&mut self, text: &str) {
        let is_open = |content: &str| content.is_empty() || content.ends_with([' ', '\n', '\t']);
        let mut words = text.split_ascii_whitespace().peekable();
        if text.starts_with(|c: char| c.is_ascii_whitespace()) && !is_open(&self.content) {
            self.push(" ");
        }
        while let Some(word) = words.next() {
            self.push(word);
            if words.peek().is_some() || text.ends_with(|c: char| c.is_ascii_whitespace()) {
                self.push(" ");
            }
        }
    }

    /// Lines for the notes, in the order of their marks.
    pub(crate) fn notes<'n>(&mut self, notes: impl Iterator<Item = &'n str>) {
        for (note, number) in notes.zip(1..) {
            if number == 1 {
                self.blank_line();
            }
            let words = note.split_whitespace().collect::<Vec<_>>().join(" ");
            self.push(&format!("{}: {words}\n", note_mark(number)));
        }
    }

    /// Notes what the line is that is being written.
    pub(crate) fn set_role(&mut self, role: LineRole) {
        let begin = self.content.rfind('\n').map_or(0, |end| end + 1);
        if self.roles.last().is_none_or(|(at, _)| *at < begin) {
            self.roles.push((begin, role));
        }
    }

    /// Adds a text that was collected apart.
    pub(crate) fn append(&mut self, mut other: Self) {
        let begin = self.content.len();
        let roles = std::mem::take(&mut other.roles).into_iter();
        self.roles
            .extend(roles.map(|(at, role)| (begin + at, role)));
        let (content, is_cut) = other.finish();
        self.push(&content);
        self.truncated |= is_cut;
    }

    /// `true` if there is no text.
    pub(crate) fn is_empty(&self) -> bool {
        self.content.trim().is_empty()
    }

    /// Takes nothing more: something is missing here.
    pub(crate) fn cut(&mut self) {
        self.truncated = true;
    }

    /// Appends the text, or as much of it as fits.
    pub fn push(&mut self, text: &str) {
        if self.truncated {
            return;
        }
        let left = self.room();
        if text.len() <= left {
            self.content.push_str(text);
        } else {
            self.content
                .push_str(&text[..text.floor_char_boundary(left)]);
            self.truncated = true;
        }
    }

    /// A line that stands for itself, such as the name of a page.
    pub fn heading(&mut self, heading: &str) {
        self.end_line();
        self.set_role(LineRole::Part);
        self.push("--- ");
        self.push(heading);
        self.push(" ---\n");
    }

    /// The end of a line; blanks and tabs before it are left out.
    pub fn end_line(&mut self) {
        let kept = self.content.trim_end_matches([' ', '\t']).len();
        self.content.truncate(kept);
        if !self.content.is_empty() && !self.content.ends_with('\n') {
            self.push("\n");
        }
    }

    /// The end of a cell, which the next one is kept apart from by a tab.
    pub(crate) fn end_cell(&mut self) {
        let kept = self.content.trim_end_matches(' ').len();
        self.content.truncate(kept);
        self.push("\t");
    }

    /// An empty line, if there is a line before it.
    pub fn blank_line(&mut self) {
        self.end_line();
        if !self.content.is_empty() && !self.content.ends_with("\n\n") {
            self.push("\n");
        }
    }

    /// The lines that are more than text, each with its number from 0.
    pub fn roles(&self) -> Vec<(usize, LineRole)> {
        let (mut line, mut seen) = (0, 0);
        let roles = self.roles.iter().map(|&(at, role)| {
            let at = at.min(self.content.len());
            let before = self.content.get(seen..at).unwrap_or_default();
            line += before.matches('\n').count();
            seen = at;
            (line, role)
        });
        roles.collect()
    }

    /// The text, and whether something is missing at its end.
    pub fn finish(mut self) -> (String, bool) {
        let kept = self.content.trim_end().len();
        self.content.truncate(kept);
        if !self.content.is_empty() {
            self.content.push('\n');
        }
        (self.content, self.truncated)
    }
}
