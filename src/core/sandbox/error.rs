//! Jobs that could not be started or followed.

use fileshed_types::diagnostics;
use fileshed_types::random::RandomError;

diagnostics! {
    /// A job that could not be started or followed.
    #[derive(Debug, thiserror::Error)]
    pub enum SandboxError {
        /// The process could not be started.
        #[error("the command could not be started")]
        Start(#[source] source: std::io::Error) => {
            code: InternalApiError,
            hint: "repeat the call",
        },
        /// The process could not be watched.
        #[error("the command could not be followed")]
        Wait(#[source] source: std::io::Error) => {
            code: InternalApiError,
            hint: "repeat the call",
        },
        /// A token could not be made.
        #[error(transparent)]
        Random(#[from] error: RandomError) => {
            same_as: error
        },
    }
}
