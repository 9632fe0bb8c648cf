//! Uploads that cannot be taken.

use serde_json::{Map, Value};

use super::{FILE, FILES_MAX};
use crate::zone::ZonePath;
use crate::{Code, Diagnostic, Hint};

/// An upload that cannot be taken as it is.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    /// No file in it.
    #[error("the request holds no file")]
    Nothing,
    /// Too many files in it.
    #[error("the request holds more than {FILES_MAX} files")]
    TooMany,
    /// Two files of the same name.
    #[error("the request holds two files named `{path}`")]
    Twice {
        /// The name.
        path: ZonePath,
    },
}

impl Diagnostic for UploadError {
    fn code(&self) -> Code {
        match self {
            Self::Nothing => Code::MissingParameter,
            Self::TooMany | Self::Twice { .. } => Code::InvalidParameter,
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::Nothing => {
                "send the files as multipart/form-data, for instance curl -F file=@notes.md".into()
            }
            Self::TooMany => format!("send {FILES_MAX} files at a time, or one archive").into(),
            Self::Twice { .. } => "give each file a name of its own".into(),
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        match self {
            Self::Nothing => {
                details.insert("parameter".to_owned(), FILE.into());
            }
            Self::TooMany => {
                details.insert("files_max".to_owned(), FILES_MAX.into());
            }
            Self::Twice { path } => {
                details.insert("path".to_owned(), path.display().into());
            }
        }
        details
    }
}
