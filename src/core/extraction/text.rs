//! Text as it is collected: bounded, without blank ends.

/// Why a document cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// Its archive.
    #[error("it is no archive that can be read: {0}")]
    Archive(#[from] zip::result::ZipError),
    /// A part of it.
    #[error("its part `{part}` cannot be read: {reason}")]
    Part {
        /// Which part.
        part: String,
        /// Why not.
        reason: String,
    },
    /// A part that every document of its kind has.
    #[error("it has no part `{0}`")]
    Missing(&'static str),
}

/// The text of a document, so far.
#[derive(Debug)]
pub struct TextBuilder {
    most: usize,
    content: String,
    truncated: bool,
}

impl TextBuilder {
    /// No text yet, and room for so many bytes.
    #[must_use]
    pub fn new(most: usize) -> Self {
        Self {
            most,
            content: String::new(),
            truncated: false,
        }
    }

    /// Whether nothing more is taken.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.truncated
    }

    /// Bytes that still fit.
    pub(crate) fn room(&self) -> usize {
        self.most - self.content.len()
    }

    /// What fits.
    pub fn push(&mut self, text: &str) {
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

    /// The text, and whether something is missing at its end.
    #[must_use]
    pub fn finish(mut self) -> (String, bool) {
        let kept = self.content.trim_end().len();
        self.content.truncate(kept);
        if !self.content.is_empty() {
            self.content.push('\n');
        }
        (self.content, self.truncated)
    }
}
