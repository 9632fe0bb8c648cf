//! The mode of files in a group, as a parameter.

use serde_json::{Map, Value};

use crate::settings::WriteMode;
use crate::{Code, Diagnostic, Hint};

/// Reads the parameter `mode`.
pub fn parse_mode(text: &str) -> Result<WriteMode, ModeError> {
    if text.is_empty() {
        return Err(ModeError::Missing);
    }
    WriteMode::parse(text).ok_or_else(|| ModeError::Unknown {
        mode: text.chars().take(80).collect(),
    })
}

/// A mode that there is not.
#[derive(Debug, thiserror::Error)]
pub enum ModeError {
    /// Empty, where one is needed.
    #[error("parameter `mode` is required")]
    Missing,
    /// None of the three.
    #[error("parameter `mode` must be owner, group or owner_ro, got: `{mode}`")]
    Unknown {
        /// What was sent.
        mode: String,
    },
}

impl Diagnostic for ModeError {
    fn code(&self) -> Code {
        match self {
            Self::Missing => Code::MissingParameter,
            Self::Unknown { .. } => Code::InvalidMode,
        }
    }

    fn hint(&self) -> Hint {
        "mode=\"group\": every member may write; \"owner\": only you; \"owner_ro\": nobody until you change the mode".into()
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        details.insert("parameter".to_owned(), "mode".into());
        if let Self::Unknown { mode } = self {
            details.insert("received".to_owned(), mode.as_str().into());
        }
        details
    }
}
