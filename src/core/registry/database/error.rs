//! Failures of the registry.

use ::postgres::error::SqlState;
use rusqlite::ErrorCode;

use fileshed_types::diagnostics;

/// File name of the registry below the data directory, as the original Fileshed has it.
pub const FILE_NAME: &str = "access_auth.sqlite";

/// Result of a call of the registry.
pub(crate) type Result<T, E = RegistryError> = std::result::Result<T, E>;

/// The error of a database, or what is wrong with its answer.
type Cause = Box<dyn std::error::Error + Send + Sync>;

diagnostics! {
    /// The registry failed, or does not fit.
    #[derive(Debug, thiserror::Error)]
    pub enum RegistryError {
        /// The database says no.
        #[error("the registry failed")]
        Failed(#[source] source: Cause = "…".into()) => {
            code: DbError,
            hint: "read the current state, and repeat the call if the change is missing; if it fails \
                again, tell the administrator",
        },
        /// The database is on another machine or in another process, and does not answer.
        #[error("the database of the registry does not answer")]
        Unreachable(#[source] source: Cause = "…".into()) => {
            code: DbError,
            hint: "in a while read the current state, and repeat the call if the change is missing; if \
                it fails again, tell the administrator: the setting `registry` has the address of the \
                database",
        },
        /// There is no space for a row.
        #[error("the disk of the server is full")]
        Full(#[source] source: Cause = "…".into()) => {
            code: QuotaExceeded,
            hint: "delete files with shed_delete, or tell the administrator",
        },
        /// The process stood still for so long that others took it for dead.
        #[error(
            "this server did not respond for too long, and another server completed or undid its \
             change"
        )]
        TakenOver => {
            code: Busy,
            hint: "read the current state, and repeat the call if the change is missing",
            retry_after: 1,
        },
        /// The setting `registry` is not the address of a database.
        #[error("the setting `registry` is not the URL of a PostgreSQL database")]
        Address(#[source] source: Cause = "…".into()) => {
            code: DbError,
            hint: "write it like postgres://user:password@host:5432/database?sslmode=require",
        },
        /// No certificate can be checked, for example because the machine has none.
        #[error("no TLS connection to the database of the registry can be prepared")]
        NoTls(#[source] source: Cause = "…".into()) => {
            code: DbError,
            hint: "install the certificates of the system (on Debian the package `ca-certificates`), name a file \
                of certificates in `SSL_CERT_FILE`, or end the address in `?sslmode=disable`",
        },
        /// The file is no database, or not a whole one.
        #[error("the registry `{FILE_NAME}` is damaged")]
        Damaged(#[source] source: Cause = "…".into()) => {
            code: DbError,
            hint: RESTORE,
        },
        /// The file is a database whose parts do not fit together.
        #[error("the registry `{FILE_NAME}` is damaged: {0}")]
        Inconsistent(fault: String) => {
            code: DbError,
            hint: RESTORE,
        },
        /// It belongs to another pepper.
        #[error("the registry belongs to another pepper than `.fs_pepper`")]
        OtherPepper => {
            code: DbError,
            hint: "restore `.fs_pepper` and the registry from the same backup; without one, `fileshed \
                data accept-loss pepper` lists the loss and keeps the existing pepper",
        },
        /// A later version took away what this one needs.
        #[error(
            "the registry has version {found}, which needs a server that knows version {oldest}; \
             this one knows versions up to {known}"
        )]
        Newer {
            /// Migrations that it has seen.
            found: i64,
            /// Migrations that a program has to know.
            oldest: i64,
            /// Migrations that this one knows.
            known: i64,
        } => {
            code: DbError,
            hint: "start the version of fileshed that wrote the data, or a later one",
        },
        /// An applied migration is not the one that this program has.
        #[error("migration {0} of the registry differs from the one that was applied")]
        Drift(number: i64) => {
            code: DbError,
            hint: "restore the registry, or start the version that wrote it",
        },
    }
}

impl RegistryError {
    /// Returns `true` if the file itself is damaged.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Inconsistent(_))
    }

    /// A failure that no error of a database is behind.
    pub(crate) fn failed(reason: impl Into<Cause>) -> Self {
        Self::Failed(reason.into())
    }

    /// All connections are taken, or one has ended.
    pub(crate) fn no_connection() -> Self {
        Self::Unreachable("no connection is free".into())
    }

    /// `true` if others had what the statement needed, for longer than it waits.
    pub(crate) fn is_locked_out(&self) -> bool {
        let Self::Failed(cause) = self else {
            return false;
        };
        let cause = cause.downcast_ref::<::postgres::Error>();
        cause.is_some_and(|cause| cause.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }
}

impl From<rusqlite::Error> for RegistryError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
                Self::Damaged(error.into())
            }
            Some(ErrorCode::DiskFull) => Self::Full(error.into()),
            _ => Self::Failed(error.into()),
        }
    }
}

impl From<::postgres::Error> for RegistryError {
    fn from(error: ::postgres::Error) -> Self {
        if is_gone(&error) {
            Self::Unreachable(error.into())
        } else {
            Self::Failed(error.into())
        }
    }
}

/// Returns `true` if the database does not answer, is shutting down, or has no connection left. Such failures
/// have the class of an operator's intervention, of a connection or of resources, or come from the connection
/// itself (<https://www.postgresql.org/docs/current/errcodes-appendix.html>).
fn is_gone(cause: &postgres::Error) -> bool {
    cause.code().is_none_or(|code| {
        let classes = ["08", "53", "57"];
        classes.iter().any(|class| code.code().starts_with(class))
    })
}

const RESTORE: &str = "tell the administrator: the registry is restored from a backup while the \
     server is stopped, with its `-wal` if the backup has one; without a backup, `fileshed \
     data accept-loss registry` lists the loss and begins a new one";
