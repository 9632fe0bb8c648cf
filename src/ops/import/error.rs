//! Failures of an import without files, and their hints.

use fileshed_core::diagnostics::Facts;
use fileshed_core::{Error, Hint, NextCall, diagnostics};

use super::choice::Choice;
use fileshed_core::nearest::nearest;

/// Names that a failure lists.
const LISTED: usize = 20;

/// The reason why the attachments of the chat are not known.
pub(super) enum Unknown {
    /// Something is missing.
    Missing(MissingSource),
    /// The request to Open WebUI failed.
    Failed(Error),
}

diagnostics! {
    /// Why there is no file to import.
    #[derive(Debug, thiserror::Error)]
    pub(super) enum ImportError {
        /// The person brought nothing.
        #[error("no files were added to this conversation")]
        Nothing => {
            code: FileNotFound,
            hint: Hint::new("ask the person to add the file to this conversation")
                .or("")
                .call(NextCall::new("shed_help").with("howto", "upload"))
                .say(" says how"),
        },
        /// The conversation has no uploads, and its attachments cannot be listed.
        #[error(
            "no files were uploaded in this conversation, and the files of the chat cannot be \
             read: {0}"
        )]
        NotKnown(missing: MissingSource => [MissingSource::Connection, MissingSource::Credential, MissingSource::Chat]) => {
            code: FileNotFound,
            hint: Hint::from(NextCall::new("shed_link_create").with("upload", true))
                .say(" makes a page on which the person uploads files"),
            details: with_setting(Facts::new(), Some(*missing)),
        },
        /// No file has that name.
        #[error("parameter `filename`: this conversation has no file `{filename}`")]
        NoSuch {
            /// The requested name.
            filename: String = "reprt.pdf".to_owned(),
            /// The nearest name.
            nearest: Option<String> => [Some("report.pdf".to_owned()), None],
            /// Names of the files.
            available: Vec<String> = vec!["report.pdf".to_owned()],
            /// Why there may be more files.
            missing: Option<MissingSource> = None,
        } => {
            code: FileNotFound,
            hint: match nearest {
                Some(meant) => Hint::new("there is ")
                    .call(NextCall::new("shed_import").with("filename", meant.as_str())),
                None => Hint::from(format!(
                    "give in `filename` one of: {}",
                    listed(available).join(", ")
                )),
            },
            details: with_setting(facts(filename, available), *missing),
        },
    }
}

/// Missing condition for listing the files of the chat.
#[derive(Clone, Copy, Debug, thiserror::Error)]
pub(super) enum MissingSource {
    #[error("this server is not connected to Open WebUI (`openwebui_api_url` is not set)")]
    Connection,
    #[error("this connection has no session of the user, and `openwebui_admin_key` is not set")]
    Credential,
    #[error("Open WebUI keeps none for a temporary chat")]
    Chat,
}

impl MissingSource {
    fn setting(self) -> Option<&'static str> {
        match self {
            Self::Connection => Some("openwebui_api_url"),
            Self::Credential => Some("openwebui_admin_key"),
            Self::Chat => None,
        }
    }
}

impl ImportError {
    /// Returns the failure if there is no such file among `all`, as far as they are known.
    pub(super) fn nothing(filename: Option<&str>, all: &Choice, unknown: Option<Unknown>) -> Error {
        let missing = match unknown {
            None => None,
            Some(Unknown::Missing(missing)) => Some(missing),
            Some(Unknown::Failed(error)) => return error,
        };
        let available = all.names();
        let error = match (filename, missing) {
            (Some(filename), missing) if !available.is_empty() => Self::NoSuch {
                nearest: nearest(filename, available.iter().map(String::as_str)).map(str::to_owned),
                filename: filename.to_owned(),
                available,
                missing,
            },
            (_, Some(missing)) => Self::NotKnown(missing),
            (_, None) => Self::Nothing,
        };
        error.into()
    }
}

fn listed(available: &[String]) -> &[String] {
    &available[..available.len().min(LISTED)]
}

fn facts(filename: &str, available: &[String]) -> Facts {
    Facts::from_iter([
        ("filename".to_owned(), filename.into()),
        ("available".to_owned(), listed(available).into()),
    ])
}

/// Adds the name of the missing setting to the facts.
fn with_setting(mut facts: Facts, missing: Option<MissingSource>) -> Facts {
    if let Some(setting) = missing.and_then(MissingSource::setting) {
        facts.insert("missing_setting".to_owned(), setting.into());
    }
    facts
}
