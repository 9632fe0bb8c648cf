//! Why the storage did not do something, before it is told in the words of a provider.

use fileshed_files::{ProviderError, ZonePath};
use object_store::Error;

/// What went wrong.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Nothing is at the path.
    Missing,
    /// Something is there.
    Exists,
    /// Another state is there than was expected.
    Changed,
    /// A directory is there.
    Directory,
    /// A file is there, or above.
    File(String),
    /// The name is kept for the storage.
    Reserved,
    /// The storage holds no such name.
    Name,
    /// The storage holds no name of this length.
    TooLong {
        /// Bytes that it may have.
        most: usize,
    },
    /// What was to be written could not be read.
    Source(std::io::Error),
    /// The storage itself.
    Storage(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Storage(error)
    }
}

impl Failure {
    /// The failure of a call for `path`.
    pub(crate) fn at(self, path: &ZonePath) -> ProviderError {
        let path = path.clone();
        match self {
            Self::Missing => ProviderError::NotFound(path),
            Self::Exists => ProviderError::Exists(path),
            Self::Changed => ProviderError::Changed(path),
            Self::Directory => ProviderError::IsDirectory(path),
            Self::File(above) => ProviderError::NotDirectory(ZonePath::found(above)),
            Self::Reserved => unavailable("a name that it keeps for itself is in the path"),
            Self::Name => unavailable("it has no such names"),
            Self::TooLong { most } => unavailable(&format!("its paths have at most {most} bytes")),
            Self::Source(error) => unavailable(&error.to_string()),
            Self::Storage(error) => {
                tracing::warn!(path = path.as_str(), error = %chain(&error), "the object storage failed");
                unavailable(reason(&error))
            }
        }
    }
}

fn unavailable(reason: &str) -> ProviderError {
    ProviderError::Unavailable(reason.to_owned())
}

/// What callers may know of it: no address and nothing of the server's account.
pub(crate) fn reason(error: &Error) -> &'static str {
    let text = chain(error);
    match error {
        Error::PermissionDenied { .. } | Error::Unauthenticated { .. } => {
            "it refuses the server's account"
        }
        Error::NotFound { .. } => "it has no such bucket",
        _ if ["NoSuchBucket", "ContainerNotFound"]
            .iter()
            .any(|said| text.contains(said)) =>
        {
            "it has no such bucket"
        }
        _ if is_busy(&text) => "it asks for fewer requests",
        _ if text.contains("timed out") || text.contains("Timeout") => "no answer in time",
        _ if text.contains("connect") => "it cannot be reached",
        _ => "it failed",
    }
}

/// Whether a storage has too much to do: the answer to HEAD has its status alone.
fn is_busy(text: &str) -> bool {
    ["SlowDown", "code: 429", "code: 503"]
        .iter()
        .any(|said| text.contains(said))
}

/// An error with everything below it, for the log.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut below = error.source();
    while let Some(error) = below {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        below = error.source();
    }
    text
}
