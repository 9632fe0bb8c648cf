//! The mode of files in a group, as a parameter.

use crate::diagnostics;
use fileshed_types::settings::WriteMode;

/// Reads the parameter `mode`.
pub fn parse_mode(text: &str) -> Result<WriteMode, ModeError> {
    if text.is_empty() {
        return Err(ModeError::Missing);
    }
    WriteMode::parse(text).ok_or_else(|| ModeError::Unknown {
        mode: text.chars().take(80).collect(),
    })
}

diagnostics! {
    /// A mode that there is not.
    #[derive(Debug, thiserror::Error)]
    pub enum ModeError {
        /// Empty, where one is needed.
        #[error("parameter `mode` is required")]
        Missing => {
            code: MissingParameter,
            hint: MODES,
            details: { "parameter": "mode" },
        },
        /// None of the three.
        #[error("parameter `mode` must be owner, group or owner_ro, got: `{mode}`")]
        Unknown {
            /// What was sent.
            mode: String = "everyone".to_owned(),
        } => {
            code: InvalidMode,
            hint: MODES,
            details: { "parameter": "mode", "received": mode },
        },
    }
}

const MODES: &str = "mode=\"group\": every member may write; \"owner\": only you; \"owner_ro\": nobody \
     until you change the mode";
