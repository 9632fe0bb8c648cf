//! Failures of calls to Open WebUI.

use std::sync::Arc;

use fileshed_core::diagnostics;
use fileshed_core::diagnostics::Facts;
use fileshed_core::timings::OpenWebUiTimings;

use super::client::CallError;

diagnostics! {
    /// Failures of requests to Open WebUI.
    #[derive(Debug, thiserror::Error)]
    pub(crate) enum OpenWebUiError {
        /// It does not answer.
        #[error("Open WebUI does not answer, so the server cannot get {0} now")]
        Away(what: &'static str = "the file", #[source] cause: CallError = CallError::Paused) => {
            code: OpenwebuiApiUnavailable,
            hint: "continue without it, and try again later",
            details: status(cause),
            retry_after: cause.retry_after(),
        },
        /// It does not say who calls, whatever the reason.
        #[error("Open WebUI does not answer, so the user of the call cannot be verified")]
        Unasked(#[source] cause: CallError = CallError::Paused) => {
            code: OpenwebuiApiUnavailable,
            hint: "call again in a few seconds",
            details: status(cause),
            retry_after: OpenWebUiTimings::STANDARD.breaker.as_secs(),
        },
        /// It answers something else than was asked.
        #[error("Open WebUI did not give {0}")]
        Refused(what: &'static str = "the file", #[source] cause: CallError = CallError::status(500)) => {
            code: OpenwebuiGetError,
            hint: ASK_THE_ADMINISTRATOR,
            details: status(cause),
            retry_after: cause.retry_after(),
        },
        /// Not there, or not the caller's: nobody is told which.
        #[error("there is no file `{0}` of yours in Open WebUI")]
        NoFile(id: String) => {
            code: FileNotFound,
            hint: "ask the person to add the file to this conversation again",
        },
        /// The answer ended in the middle of a file.
        #[error("Open WebUI ended the transfer in the middle of the file")]
        BrokenOff(#[source] source: std::io::Error) => {
            code: OpenwebuiApiUnavailable,
            hint: "repeat the call",
        },
        /// It does not take a file.
        #[error("Open WebUI did not take the file{}", reason(.0))]
        NotTaken(#[source] cause: CallError => [CallError::status(413), CallError::status(500)]) => {
            code: OpenwebuiInsertError,
            hint: match cause {
                CallError::Status(413, _) => {
                    "give a smaller file, or tell the user that an administrator of Open WebUI sets the limit"
                }
                _ => ASK_THE_ADMINISTRATOR,
            },
            details: status(cause),
            retry_after: cause.retry_after(),
        },
        /// The file lost bytes while it was sent.
        #[error("the file was changed while it was sent to Open WebUI")]
        Changed => {
            code: OpenwebuiInsertError,
            hint: "repeat the call",
        },
        /// Its answer to a file names none.
        #[error("Open WebUI did not say where it put the file")]
        Unusable => {
            code: OpenwebuiInsertError,
            hint: ASK_THE_ADMINISTRATOR,
        },
        /// It does not delete a file.
        #[error("Open WebUI did not delete the file{}", reason(.0))]
        NotDeleted(#[source] cause: CallError = CallError::status(500)) => {
            code: OpenwebuiDeleteError,
            hint: ASK_THE_ADMINISTRATOR,
            details: status(cause),
            retry_after: cause.retry_after(),
        },
        /// A file that this server did not make.
        #[error("parameter `file_id` is not the id of one of your links")]
        NotOurs => {
            code: NotAFileshedLink,
            hint: "shed_link_list shows the file_id of each link",
        },
        /// Files are put there with the user's own session, and this call has none.
        #[error(
            "this connection does not identify the user in whose name Open WebUI stores a file"
        )]
        NoSession => {
            code: OpenwebuiInsertError,
            hint: "tell the user that an administrator must set the authentication of this connection in Open \
                WebUI to Session (`auth_type`), or `links` of fileshed to own",
            details: { "missing_setting": "auth_type" },
        },
        /// There is no credential to ask with.
        #[error("there is no credential with which to delete the file in Open WebUI")]
        NoCredential => {
            code: OpenwebuiDeleteError,
            hint: "tell the user that an administrator must set `openwebui_admin_key` of fileshed",
            details: { "missing_setting": "openwebui_admin_key" },
        },
    }
}

fn reason(error: &CallError) -> &'static str {
    match error {
        CallError::Status(413, _) => ": it is larger than it allows",
        _ => "",
    }
}

impl OpenWebUiError {
    /// A failed call for `what`.
    pub(crate) fn of(what: &'static str, error: CallError) -> Self {
        Self::unless_away(what, error, |error| Self::Refused(what, error))
    }

    /// A failed call for `what`; `refused` makes the failure of one that was answered.
    pub(super) fn unless_away(
        what: &'static str,
        error: CallError,
        refused: impl FnOnce(CallError) -> Self,
    ) -> Self {
        if error.passes() {
            Self::Away(what, error)
        } else {
            refused(error)
        }
    }
}

const ASK_THE_ADMINISTRATOR: &str = "repeat the call once; then tell the user that an \
     administrator should look at the log of fileshed";

/// Returns the status of its answer, for programs.
fn status(cause: &CallError) -> Facts {
    let mut facts = Facts::new();
    if let CallError::Status(status, _) = cause {
        facts.insert("status".to_owned(), (*status).into());
    }
    facts
}

diagnostics! {
    /// One failure for all that waited for the same answer.
    #[derive(Debug, thiserror::Error)]
    #[error("{error}")]
    pub(super) struct SharedError {
        #[source]
        error: Arc<OpenWebUiError>,
    } => {
        same_as: &**error
    }
}

impl From<Arc<OpenWebUiError>> for SharedError {
    fn from(error: Arc<OpenWebUiError>) -> Self {
        Self { error }
    }
}
