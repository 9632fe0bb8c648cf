//! Jobs that could not be started or followed.

use fileshed_types::random::RandomError;
use fileshed_types::{Code, Diagnostic, Hint};

/// A job that could not be started or followed.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The process could not be started.
    #[error("the command could not be started")]
    Start(#[source] std::io::Error),
    /// The process could not be watched.
    #[error("the command could not be followed")]
    Wait(#[source] std::io::Error),
    /// A token could not be made.
    #[error(transparent)]
    Random(#[from] RandomError),
}

impl Diagnostic for SandboxError {
    fn code(&self) -> Code {
        Code::InternalApiError
    }

    fn hint(&self) -> Hint {
        "repeat the call".into()
    }
}
