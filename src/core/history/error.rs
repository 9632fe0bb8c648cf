//! Failures of the history of a zone.

use fileshed_storage::DiskError;
use fileshed_types::diagnostics;
use fileshed_types::settings::MEBIBYTE;

/// Result of work on a history.
pub(crate) type Result<T, E = HistoryError> = std::result::Result<T, E>;

diagnostics! {
    /// A history that could not be read or written. Messages of git hold paths of the host, so they
    /// stay in the source chain.
    #[derive(Debug, thiserror::Error)]
    pub enum HistoryError {
        /// git failed.
        #[error("could not {action} the history of this zone")]
        Git {
            /// The action that failed.
            action: &'static str,
            /// Why not.
            #[source]
            source: git2::Error = git2::Error::from_str("…"),
        } => {
            code: InternalApiError,
            hint: "repeat the call; if it fails again, tell the administrator",
        },
        /// A file of the repository could not be read or written.
        #[error("could not {action} the history of this zone")]
        Repository {
            /// The action that failed.
            action: &'static str,
            /// Why not.
            #[source]
            source: std::io::Error,
        } => {
            code: InternalApiError,
            hint: "repeat the call; if it fails again, tell the administrator",
        },
        /// An object of the repository is not whole.
        #[error("part of the history of this zone is damaged")]
        Damaged(object: String) => {
            code: InternalApiError,
            hint: "repeat the call; if it fails again, tell the administrator",
        },
        /// The zone has a repository of its own that cannot be taken over.
        #[error("the existing repository of this zone {0}")]
        Unadoptable(reason: &'static str) => {
            code: InternalApiError,
            hint: "tell the administrator: the directory .git of this zone must be repaired or moved away by \
                hand",
        },
        /// A file of the zone is being written to at this moment.
        #[error("a file of this zone is being written")]
        Unfinished => {
            code: Busy,
            hint: "repeat the call when the command has ended",
        },
        /// The disk is full.
        #[error("the disk of the server is full")]
        Full => {
            code: QuotaExceeded,
            hint: "delete files with shed_delete, or tell the administrator",
        },
        /// The history takes all the space that it may.
        #[error(transparent)]
        TooLarge(error: SizeError) => {
            same_as: error
        },
        /// A file of the zone could not be read.
        #[error(transparent)]
        Disk(#[from] error: DiskError) => {
            same_as: error
        },
    }
}

impl HistoryError {
    /// Returns `true` if a file was moved, removed or replaced since it was seen.
    pub(super) fn is_gone(&self) -> bool {
        matches!(self, Self::Disk(error) if error.is_gone())
    }

    /// Returns `true` if the failure passes by itself: the file is gone, or a command is still writing it and
    /// its result is taken in when the command ends.
    pub(super) fn is_passing(&self) -> bool {
        self.is_gone() || matches!(self, Self::Unfinished)
    }

    /// For `map_err`: git failed at `action`.
    pub(super) fn git(action: &'static str) -> impl Fn(git2::Error) -> Self {
        move |source| {
            // libgit2 knows no errno; its text ends with the one of the system.
            let says = |text| source.message().contains(text);
            if source.class() == git2::ErrorClass::Os
                && (says("No space left") || says("Disk quota exceeded"))
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

diagnostics! {
    /// A history that takes all the space that it may.
    #[derive(Debug, thiserror::Error)]
    #[error("the history of this zone has {} MiB; the limit is {} MiB (history_factor)",
        used.div_ceil(MEBIBYTE), limit / MEBIBYTE)]
    pub struct SizeError {
        pub(super) used: u64 = 2000 * MEBIBYTE,
        pub(super) limit: u64 = 2000 * MEBIBYTE,
    } => {
        code: QuotaExceeded,
        hint: "work in storage, which keeps no history; files here can still be deleted, but only \
               an administrator can make space in the history: with a higher history_factor, or by \
               setting the repository aside",
        details: { "history_bytes": used, "history_max_bytes": limit },
    }
}
