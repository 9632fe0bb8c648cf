//! `edit_file`: one text for another.

use fileshed_text::{Closest, Position, TextEdit, TextError};
use fileshed_types::Error;
use serde::{Deserialize, Serialize};

use super::{Files, is_binary};
use crate::error::ToolError;
use crate::path;
use crate::provider::{Precondition, ProviderError, Write};

/// Most attempts of an edit that meets another change of the file.
const ATTEMPTS: usize = 8;

/// Lines that show where a text is.
const SHOWN: usize = 5;

/// Text to replace.
#[derive(Clone, Debug, Default, Deserialize, utoipa::ToSchema)]
pub struct EditFile {
    /// File
    pub path: String,
    /// Exact text of the file, without line numbers
    pub old_string: String,
    /// New text
    pub new_string: String,
    /// Replace every match
    pub replace_all: Option<bool>,
}

/// Response of `edit_file`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct EditAnswer {
    /// `ok`
    pub status: &'static str,
    /// The path received.
    pub path: String,
    /// Number of replaced occurrences.
    pub replacements: u64,
    /// The text that was there.
    pub old_string: String,
    /// The text that is there.
    pub new_string: String,
}

impl Files<'_> {
    /// Replaces a text in a file. If the file is changed at the same time, the edit is repeated on the new
    /// content, so that no change is lost.
    pub fn edit_file(&self, request: &EditFile) -> Result<EditAnswer, Error> {
        self.expect_writable()?;
        let given = request.path.as_str();
        let path = path::inside(given)?;
        if request.old_string.is_empty() {
            return Err(ToolError::NothingToReplace.into());
        }
        if request.old_string == request.new_string {
            return Err(ToolError::NoChange.into());
        }
        let mut attempts = 1;
        loop {
            let content = self.whole(given, &path)?;
            if is_binary(&content.bytes) {
                return Err(ToolError::EditBinary(given.to_owned()).into());
            }
            let (bytes, replacements) = self.edited(request, &content.bytes)?;
            let write = Write {
                mime_type: None,
                condition: Precondition::Version(content.metadata.version),
            };
            match self
                .provider
                .write(&self.at(&path), &mut bytes.as_slice(), &write)
            {
                Ok(_) => {
                    return Ok(EditAnswer {
                        status: "ok",
                        path: given.to_owned(),
                        replacements,
                        old_string: request.old_string.clone(),
                        new_string: request.new_string.clone(),
                    });
                }
                Err(ProviderError::Changed(_)) if attempts < ATTEMPTS => attempts += 1,
                Err(error) => return Err(ToolError::of_provider(given, error)),
            }
        }
    }

    fn edited(&self, request: &EditFile, text: &[u8]) -> Result<(Vec<u8>, u64), Error> {
        let edit = TextEdit {
            position: Position::Replace,
            content: &request.new_string,
            line: None,
            end_line: None,
            find: Some(&request.old_string),
            pattern: None,
            regex_flags: "",
            match_all: request.replace_all.unwrap_or(false),
            finds_alike: false,
        };
        let limit = self.limits.text_bytes;
        let edited = edit.apply(text, limit).map_err(|error| {
            let path = request.path.clone();
            match error {
                TextError::NotFound { closest, .. } => ToolError::TextNotFound {
                    path,
                    nearest: closest.as_deref().map(nearest).unwrap_or_default(),
                }
                .into(),
                TextError::FoundSeveral { count, lines, .. } => ToolError::TextAmbiguous {
                    path,
                    count,
                    lines: numbered(text, &lines),
                }
                .into(),
                error => Error::from(error),
            }
        })?;
        self.expect_size(edited.bytes.len() as u64)?;
        Ok((edited.bytes, edited.matches))
    }
}

fn nearest(closest: &Closest) -> String {
    let lines = closest.lines.trim_end();
    match closest.quoted() {
        Some(text) => {
            format!("; the file has, to be given as old_string: {text}; nearest lines:\n{lines}")
        }
        None => format!("; nearest lines:\n{lines}"),
    }
}

/// The first of these lines with their numbers.
fn numbered(text: &[u8], lines: &[u64]) -> String {
    let text = String::from_utf8_lossy(text);
    let wanted = lines.iter().take(SHOWN);
    let shown = wanted.filter_map(|number| {
        let line = text.lines().nth((*number as usize).checked_sub(1)?)?;
        Some(format!(
            "{number}:{}",
            &line[..line.floor_char_boundary(200)]
        ))
    });
    shown.collect::<Vec<_>>().join("\n")
}
