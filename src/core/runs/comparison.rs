//! Two files of anybody's zones against each other, documents by their text.

use std::time::Duration;

use crate::extraction::document_text;
use crate::runs::Runs;
use fileshed_storage::Entry;
use fileshed_text::{Comparison, compare, readable};
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{Error, Timings, diagnostics};
use fileshed_zones::zone::Zone;

/// The largest file that is compared, in bytes.
const LARGEST: u64 = 50 * MEBIBYTE;

/// The most text of one side: characters and lines.
const CHARACTERS: usize = 2_000_000;
const LINES: usize = 50_000;

/// How long it may take before it becomes less fine.
const TIME: Duration = Timings::STANDARD.work.comparison;

/// One of two files.
#[derive(Debug)]
pub struct Side {
    text: String,
    /// What is not compared of it.
    pub notices: Vec<&'static str>,
}

impl Side {
    /// Reads a file.
    pub fn read(runs: &Runs, zone: &Zone<'_>, entry: &Entry) -> Result<Self, Error> {
        let path = || entry.path().as_str().to_owned();
        let too_large = || zone.explain(ComparisonError::TooLarge { path: path() }.into());
        let no_text = || zone.explain(ComparisonError::NoText { path: path() }.into());
        entry
            .expect_file()
            .map_err(|error| zone.explain_disk(error))?;
        if entry.size() > LARGEST {
            return Err(too_large());
        }
        let side = match document_text(runs, zone, entry)? {
            Some(document) if document.truncated => {
                return Err(too_large());
            }
            Some(document) if document.text.trim().is_empty() => {
                return Err(no_text());
            }
            Some(document) => Self {
                text: document.text,
                notices: vec!["Only the text is compared: no formatting, pictures or layout."],
            },
            // Whatever its encoding, it has more characters than are compared.
            None if entry.size() > 4 * CHARACTERS as u64 => {
                return Err(too_large());
            }
            None => Self {
                text: readable(&entry.content()?).ok_or_else(no_text)?,
                notices: Vec::new(),
            },
        };
        if side.text.len() > CHARACTERS && side.text.chars().count() > CHARACTERS
            || side.text.lines().nth(LINES).is_some()
        {
            return Err(too_large());
        }
        Ok(side)
    }

    /// How another one differs from this one.
    #[must_use]
    pub fn against(&self, revised: &Self, ignores_blanks: bool) -> Comparison {
        compare(&self.text, &revised.text, ignores_blanks, TIME)
    }
}

diagnostics! {
    /// Two files that are not compared.
    #[derive(Debug, thiserror::Error)]
    pub enum ComparisonError {
        /// One of them has no text.
        #[error("`{path}` has no text that could be compared")]
        NoText {
            /// The file.
            path: String = "picture.png".to_owned(),
        } => {
            code: InvalidFormat,
            hint: "compare files of text, or documents that have text",
            details: { "path": path },
        },
        /// One of them has too much.
        #[error("`{path}` is too large to be compared: 50 MiB, 2 million characters and 50000 lines are the most")]
        TooLarge {
            /// The file.
            path: String = "log.txt".to_owned(),
        } => {
            code: FileTooLarge,
            hint: "compare parts of the files, or use the command `diff`",
            details: { "path": path },
        },
    }
}
