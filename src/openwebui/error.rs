//! What could not be had from Open WebUI.

use std::sync::Arc;

use fileshed_core::{Code, Teach};
use serde_json::{Map, Value};

use super::breaker::PAUSE;
use super::client::CallError;

/// Why not.
#[derive(Debug, thiserror::Error)]
pub enum OpenWebUiError {
    /// It does not answer.
    #[error("Open WebUI does not answer, so that {0} cannot be had now")]
    Away(&'static str, #[source] CallError),
    /// It does not say who calls, whatever the reason.
    #[error("Open WebUI does not answer, so that it is not known who calls")]
    Unasked(#[source] CallError),
    /// It answers something else than was asked.
    #[error("Open WebUI did not give {0}")]
    Refused(&'static str, #[source] CallError),
}

impl OpenWebUiError {
    /// A failed call for `what`.
    #[must_use]
    pub fn of(what: &'static str, error: CallError) -> Self {
        if error.passes() {
            Self::Away(what, error)
        } else {
            Self::Refused(what, error)
        }
    }
}

impl Teach for OpenWebUiError {
    fn code(&self) -> Code {
        match self {
            Self::Away(..) | Self::Unasked(_) => Code::OpenwebuiApiUnavailable,
            Self::Refused(..) => Code::OpenwebuiGetError,
        }
    }

    fn hint(&self) -> String {
        match self {
            Self::Away(..) => "go on with what does not need it, and try again later".to_owned(),
            Self::Unasked(_) => "call again in a few seconds".to_owned(),
            Self::Refused(..) => {
                "repeat the call once; then tell the user that an administrator should look at the log of fileshed".to_owned()
            }
        }
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        let (Self::Away(_, cause) | Self::Unasked(cause) | Self::Refused(_, cause)) = self;
        if let CallError::Status(status) = cause {
            details.insert("status".to_owned(), (*status).into());
        }
        details
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            Self::Away(_, cause) | Self::Refused(_, cause) => cause.retry_after(),
            // It may be put right meanwhile, and nothing else can be done.
            Self::Unasked(_) => Some(PAUSE.as_secs()),
        }
    }
}

/// One failure for all that waited for the same answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct Shared(#[source] Arc<OpenWebUiError>);

impl From<Arc<OpenWebUiError>> for Shared {
    fn from(error: Arc<OpenWebUiError>) -> Self {
        Self(error)
    }
}

impl Teach for Shared {
    fn code(&self) -> Code {
        self.0.code()
    }

    fn hint(&self) -> String {
        self.0.hint()
    }

    fn details(&self) -> Map<String, Value> {
        self.0.details()
    }

    fn retry_after(&self) -> Option<u64> {
        self.0.retry_after()
    }
}
