//! Position of an edit.

use fileshed_types::names;

use crate::TextError;
use crate::bytes::word;

names! {
    /// Position of an edit's content.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, utoipa::ToSchema)]
    #[schema(rename_all = "lowercase")]
    pub enum Position {
        /// Behind everything.
        End = "end",
        /// Before everything.
        Start = "start",
        /// As lines of its own before a line.
        Before = "before",
        /// As lines of its own behind a line.
        After = "after",
        /// In place of lines, or of the matches of a pattern.
        Replace = "replace",
    }
}

impl Position {
    /// Reads the parameter `position`.
    pub fn parse_parameter(value: &str) -> Result<Self, TextError> {
        let position = |word: &str| match word {
            "append" => Some(Self::End),
            "prepend" => Some(Self::Start),
            word => Self::parse(word),
        };
        let allowed = &["start", "end", "before", "after", "replace"];
        word("position", value, position, allowed)
    }

    /// Returns the position of an edit that does not give one. With text or a pattern to look for, or
    /// with a range of lines, these are replaced; without, the content is appended.
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
}
