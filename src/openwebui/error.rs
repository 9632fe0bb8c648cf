//! What could not be had from Open WebUI.

use std::sync::Arc;

use fileshed_core::{Code, Diagnostic, Hint};
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
    /// Not there, or not the caller's: nobody is told which.
    #[error("there is no file `{0}` of yours in Open WebUI")]
    NoFile(String),
    /// The answer ended in the middle of a file.
    #[error("Open WebUI broke off in the middle of the file")]
    BrokenOff(#[source] std::io::Error),
    /// It does not take a file.
    #[error("Open WebUI did not take the file{}", reason(.0))]
    NotTaken(#[source] CallError),
    /// The file lost bytes while it was sent.
    #[error("the file was changed while it was sent to Open WebUI")]
    Changed,
    /// What it answered to a file names none.
    #[error("Open WebUI did not say where it put the file")]
    Unusable,
    /// It does not delete a file.
    #[error("Open WebUI did not delete the file{}", reason(.0))]
    NotDeleted(#[source] CallError),
    /// A file that this server did not make.
    #[error("parameter `file_id` names a file that is none of your links")]
    NotOurs,
    /// Files are put there with the user's own session, and this call has none.
    #[error("this connection does not tell Open WebUI in whose name a file is put there")]
    NoSession,
    /// Nothing to ask with.
    #[error("there is no credential to take the file back from Open WebUI with")]
    NoCredential,
}

fn reason(error: &CallError) -> &'static str {
    match error {
        CallError::Status(413) => ": it is larger than it allows",
        _ => "",
    }
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

    /// A file that was to be put there.
    pub(super) fn not_taken(error: CallError) -> Self {
        if error.passes() {
            Self::Away("a link into it", error)
        } else {
            Self::NotTaken(error)
        }
    }

    /// A file that was to be deleted.
    pub(super) fn not_deleted(error: CallError) -> Self {
        if error.passes() {
            Self::Away("the file", error)
        } else {
            Self::NotDeleted(error)
        }
    }

    fn cause(&self) -> Option<&CallError> {
        match self {
            Self::Away(_, cause)
            | Self::Unasked(cause)
            | Self::Refused(_, cause)
            | Self::NotTaken(cause)
            | Self::NotDeleted(cause) => Some(cause),
            Self::NoFile(_)
            | Self::BrokenOff(_)
            | Self::Changed
            | Self::Unusable
            | Self::NotOurs
            | Self::NoSession
            | Self::NoCredential => None,
        }
    }
}

impl Diagnostic for OpenWebUiError {
    fn code(&self) -> Code {
        match self {
            Self::Away(..) | Self::Unasked(_) | Self::BrokenOff(_) => Code::OpenwebuiApiUnavailable,
            Self::Refused(..) => Code::OpenwebuiGetError,
            Self::NoFile(_) => Code::FileNotFound,
            Self::NotTaken(_) | Self::Changed | Self::Unusable | Self::NoSession => {
                Code::OpenwebuiInsertError
            }
            Self::NotDeleted(_) | Self::NoCredential => Code::OpenwebuiDeleteError,
            Self::NotOurs => Code::NotAFileshedLink,
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::Away(..) => "go on with what does not need it, and try again later",
            Self::Unasked(_) => "call again in a few seconds",
            Self::NotTaken(CallError::Status(413)) => {
                "give a smaller file, or tell the user that an administrator of Open WebUI sets the limit"
            }
            Self::Refused(..) | Self::NotTaken(_) | Self::Unusable | Self::NotDeleted(_) => {
                "repeat the call once; then tell the user that an administrator should look at the log of fileshed"
            }
            Self::BrokenOff(_) | Self::Changed => "repeat the call",
            Self::NoFile(_) => "ask the person to add the file to this conversation again",
            Self::NotOurs => "shed_link_list shows the file_id of each link",
            Self::NoSession => {
                "tell the user that an administrator must set the authentication of this connection in Open WebUI to Session (`auth_type`), or `links` of fileshed to own"
            }
            Self::NoCredential => {
                "tell the user that an administrator must set `openwebui_admin_key` of fileshed"
            }
        }
        .into()
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        if let Some(CallError::Status(status)) = self.cause() {
            details.insert("status".to_owned(), (*status).into());
        }
        let missing = match self {
            Self::NoSession => Some("auth_type"),
            Self::NoCredential => Some("openwebui_admin_key"),
            _ => None,
        };
        if let Some(missing) = missing {
            details.insert("missing_setting".to_owned(), missing.into());
        }
        details
    }

    fn retry_after(&self) -> Option<u64> {
        match self {
            // It may be put right meanwhile, and nothing else can be done.
            Self::Unasked(_) => Some(PAUSE.as_secs()),
            _ => self.cause().and_then(CallError::retry_after),
        }
    }
}

/// One failure for all that waited for the same answer.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(super) struct SharedError(#[source] Arc<OpenWebUiError>);

impl From<Arc<OpenWebUiError>> for SharedError {
    fn from(error: Arc<OpenWebUiError>) -> Self {
        Self(error)
    }
}

impl Diagnostic for SharedError {
    fn code(&self) -> Code {
        self.0.code()
    }

    fn hint(&self) -> Hint {
        self.0.hint()
    }

    fn details(&self) -> Map<String, Value> {
        self.0.details()
    }

    fn retry_after(&self) -> Option<u64> {
        self.0.retry_after()
    }
}
