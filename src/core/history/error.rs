//! What can go wrong with the history of a zone.

use serde_json::{Map, Value};

use fileshed_storage::DiskError;
use fileshed_types::settings::MEBIBYTE;
use fileshed_types::{Code, Diagnostic, Hint};

/// A history that could not be read or written. Messages of git hold paths of the host, so they
/// stay in the source chain.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// git failed.
    #[error("could not {action} the history of this zone")]
    Git {
        /// What was tried.
        action: &'static str,
        /// Why not.
        #[source]
        source: git2::Error,
    },
    /// A file of the repository could not be read or written.
    #[error("could not {action} the history of this zone")]
    Repository {
        /// What was tried.
        action: &'static str,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// An object of the repository is not whole.
    #[error("a part of the history of this zone is damaged")]
    Damaged {
        /// Its id.
        object: String,
    },
    /// The zone has a repository of its own that cannot be taken over.
    #[error("the repository that this zone came with {reason}")]
    Unadoptable {
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A file of the zone is being written to at this moment.
    #[error("a file of this zone is being written")]
    Unfinished,
    /// The disk is full.
    #[error("the disk of the server is full")]
    Full,
    /// The history takes all the space that it may.
    #[error(transparent)]
    TooLarge(SizeError),
    /// A file of the zone could not be read.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl HistoryError {
    /// Whether a file was moved, removed or replaced since it was seen.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Self::Disk(error) if error.is_gone())
    }

    /// Whether a command has the file: what it makes of it is taken in when it ends.
    pub(super) fn is_passing(&self) -> bool {
        self.is_gone() || matches!(self, Self::Unfinished)
    }

    /// For `map_err`: git failed at `action`.
    pub(super) fn git(action: &'static str) -> impl Fn(git2::Error) -> Self {
        move |source| {
            // libgit2 knows no errno; its text ends with the one of the system.
            if source.class() == git2::ErrorClass::Os && source.message().contains("No space left")
            {
                Self::Full
            } else {
                Self::Git { action, source }
            }
        }
    }

    /// For `map_err`: a file of the repository failed at `action`.
    pub(super) fn repository(action: &'static str) -> impl Fn(std::io::Error) -> Self {
        move |source| match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::Full,
            _ => Self::Repository { action, source },
        }
    }
}

impl Diagnostic for HistoryError {
    fn code(&self) -> Code {
        match self {
            Self::Git { .. }
            | Self::Repository { .. }
            | Self::Damaged { .. }
            | Self::Unadoptable { .. } => Code::InternalApiError,
            Self::Unfinished => Code::Busy,
            Self::Full => Code::QuotaExceeded,
            Self::TooLarge(error) => error.code(),
            Self::Disk(error) => error.code(),
        }
    }

    fn hint(&self) -> Hint {
        match self {
            Self::Git { .. } | Self::Repository { .. } | Self::Damaged { .. } => {
                "repeat the call; if it fails again, tell the administrator".into()
            }
            Self::Unadoptable { .. } => {
                "tell the administrator: the directory .git of this zone must be repaired or moved \
                 away by hand"
                    .into()
            }
            Self::Unfinished => "repeat the call when the command has ended".into(),
            Self::Full => "delete files with shed_delete, or tell the administrator".into(),
            Self::TooLarge(error) => error.hint(),
            Self::Disk(error) => error.hint(),
        }
    }

    fn details(&self) -> Map<String, Value> {
        match self {
            Self::TooLarge(error) => error.details(),
            Self::Disk(error) => error.details(),
            _ => Map::new(),
        }
    }
}

/// A history that takes all the space that it may.
#[derive(Debug, thiserror::Error)]
#[error("the history of this zone takes {} MiB, {} MiB are allowed (history_factor)",
    used.div_ceil(MEBIBYTE), limit / MEBIBYTE)]
pub struct SizeError {
    pub(super) used: u64,
    pub(super) limit: u64,
}

impl Diagnostic for SizeError {
    fn code(&self) -> Code {
        Code::QuotaExceeded
    }

    fn hint(&self) -> Hint {
        "work in storage, which keeps no history; deleting here still works, but only an \
         administrator makes space in the history: with a higher history_factor, or by setting the \
         repository aside"
            .into()
    }

    fn details(&self) -> Map<String, Value> {
        let mut details = Map::new();
        details.insert("history_bytes".to_owned(), self.used.into());
        details.insert("history_max_bytes".to_owned(), self.limit.into());
        details
    }
}
