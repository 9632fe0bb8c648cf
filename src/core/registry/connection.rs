//! The connections to the registry, and how they fail.
//!
//! One does everything. Another only reads, for who cannot wait for the first: whoever writes has
//! that one until the change stands.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use fileshed_types::diagnostics;
use fileshed_types::settings::Durability;

use super::known_accesses::KnownAccesses;
use super::wal_index::WalIndex;

/// File name of the registry below the data directory, as the original Fileshed has it.
pub const FILE_NAME: &str = "access_auth.sqlite";

/// The open registry.
#[derive(Debug)]
pub struct Registry {
    reader: Mutex<Connection>,
    connection: Mutex<Connection>,
    /// Whether a transaction is on disk when it ends.
    is_strict: bool,
    pub(crate) wal_index: WalIndex,
    pub(crate) accesses: Mutex<KnownAccesses>,
}

impl Registry {
    pub(crate) fn of(
        connection: Connection,
        reader: Connection,
        wal_index: WalIndex,
        durability: Durability,
    ) -> Self {
        Self {
            reader: Mutex::new(reader),
            connection: Mutex::new(connection),
            is_strict: durability == Durability::Strict,
            wal_index,
            accesses: Mutex::default(),
        }
    }

    pub(crate) fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that only reads. Who has it gives it back within microseconds.
    pub(crate) fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does work that stands as a whole, or leaves nothing where it fails. Other processes that
    /// write wait for its end.
    pub(crate) fn transact<T, E: From<rusqlite::Error>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        transact(&mut self.connection(), work)
    }

    /// The same for what goes with files and is flushed with them: one flush of the file system has
    /// both, and many wait for it together. Until then the log is whole, and older.
    pub(crate) fn transact_unflushed<T, E: From<rusqlite::Error>>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.connection();
        if !self.is_strict {
            return transact(&mut connection, work);
        }
        connection.pragma_update(None, "synchronous", "NORMAL")?;
        let done = transact(&mut connection, work);
        connection.pragma_update(None, "synchronous", "FULL")?;
        done
    }
}

fn transact<T, E: From<rusqlite::Error>>(
    connection: &mut Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = work(&transaction)?;
    transaction.commit()?;
    Ok(done)
}

/// Waits for a database that is busy for another process; false when that took too long.
#[must_use]
pub fn wait_a_moment(attempt: i32) -> bool {
    let waits = [100, 200, 400];
    usize::try_from(attempt)
        .ok()
        .and_then(|attempt| waits.get(attempt))
        .is_some_and(|milliseconds| {
            std::thread::sleep(Duration::from_millis(*milliseconds));
            true
        })
}

diagnostics! {
    /// The registry failed, or does not fit.
    #[derive(Debug, thiserror::Error)]
    pub enum RegistryError {
        /// SQLite says no.
        #[error("the registry failed")]
        Sqlite(#[source] source: rusqlite::Error = rusqlite::Error::InvalidQuery) => {
            code: DbError,
            hint: "repeat the call; if it fails again, tell the administrator",
        },
        /// The file is no database, or not a whole one.
        #[error("the registry `{FILE_NAME}` is damaged")]
        Damaged(#[source] source: rusqlite::Error = rusqlite::Error::InvalidQuery) => {
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
        #[error("the registry `{FILE_NAME}` belongs to another pepper than `.fs_pepper`")]
        OtherPepper => {
            code: DbError,
            hint: "restore `.fs_pepper` and the registry from the same backup; without one, `fileshed \
                accept-loss pepper` says what is lost and keeps the pepper that is there",
        },
        /// The file was written by a later version.
        #[error("the registry has version {found}, this program knows versions up to {known}")]
        Newer {
            /// Migrations that the file has seen.
            found: i64,
            /// Number of known migrations.
            known: i64,
        } => {
            code: DbError,
            hint: "start the version of fileshed that wrote the data",
        },
        /// An applied migration is not the one that this program has.
        #[error("migration {number} of the registry differs from the one that was applied")]
        Drift {
            /// Which one, from 1.
            number: i64,
        } => {
            code: DbError,
            hint: "restore the registry, or start the version that wrote it",
        },
    }
}

impl RegistryError {
    /// Whether the file itself is spoilt.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        matches!(self, Self::Damaged(_) | Self::Inconsistent(_))
    }
}

impl From<rusqlite::Error> for RegistryError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => Self::Damaged(error),
            _ => Self::Sqlite(error),
        }
    }
}

const RESTORE: &str = "tell the administrator: the registry is restored from a backup while the \
     server is stopped, with its `-wal` if the backup has one; without a backup, `fileshed \
     accept-loss registry` says what is lost and begins a new one";
