//! Uploads that cannot be taken.

use super::{FILE, FILES_MAX};
use crate::diagnostics;
use crate::zone::ZonePath;

diagnostics! {
    /// An upload that cannot be taken as it is.
    #[derive(Debug, thiserror::Error)]
    pub enum UploadError {
        /// No file in it.
        #[error("the request holds no file")]
        Nothing => {
            code: MissingParameter,
            hint: "send the files as multipart/form-data, for instance curl -F file=@notes.md",
            details: { "parameter": FILE },
        },
        /// Too many files in it.
        #[error("the request holds more than {FILES_MAX} files")]
        TooMany => {
            code: InvalidParameter,
            hint: format!("send {FILES_MAX} files at a time, or one archive"),
            details: { "files_max": FILES_MAX },
        },
        /// Two files of the same name.
        #[error("the request holds two files named `{path}`")]
        Twice {
            /// The name.
            path: ZonePath,
        } => {
            code: InvalidParameter,
            hint: "give each file a name of its own",
            details: { "path": path.display() },
        },
    }
}
