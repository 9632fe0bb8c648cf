//! Position of an edit.

use serde::Deserialize;

use crate::TextError;
use crate::bytes::word;

/// Where the content of an edit goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Position {
    /// Behind everything.
    #[serde(alias = "append")]
    End,
    /// Before everything.
    #[serde(alias = "prepend")]
    Start,
    /// As lines of its own before a line.
    Before,
    /// As lines of its own behind a line.
    After,
    /// In the place of lines, or of what a pattern matches.
    Replace,
}

impl Position {
    pub(super) const ALL: &[&str] = &["start", "end", "before", "after", "replace"];

    /// Reads the parameter `position`.
    pub fn parse(value: &str) -> Result<Self, TextError> {
        word("position", value, Self::ALL)
    }

    /// What an edit means that does not say its position: with text or a pattern to look for, or
    /// with a range of lines, that these are replaced; with nothing, that the content is added.
    pub fn meant(
        is_looking: bool,
        line: Option<i64>,
        end_line: Option<i64>,
    ) -> Result<Self, TextError> {
        match (is_looking, line, end_line) {
            (true, ..) | (false, Some(_), Some(_)) => Ok(Self::Replace),
            (false, Some(line), None) => Err(TextError::NoPosition { line }),
            (false, None, _) => Ok(Self::End),
        }
    }

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::End => "end",
            Self::Before => "before",
            Self::After => "after",
            Self::Replace => "replace",
        }
    }
}
