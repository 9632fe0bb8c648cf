//! The database that holds the registry: SQLite beside the data, or PostgreSQL.
//!
//! Every statement is one text that both take: parameters are `?1`, `?2` …, and only what both know
//! the same way is used. Where they differ, a parameter's type is said (`CAST`), a sum is a
//! `BIGINT` by word, and what takes the place of a row names its key.

mod postgres;
mod sqlite;
mod tls;
mod value;

use std::sync::{Mutex, MutexGuard, PoisonError};

use ::postgres::error::SqlState;
use rusqlite::TransactionBehavior;

pub(crate) use self::postgres::{Notifications, Pool, SCHEMA};
use self::postgres::{PostgresConnection, Taken};
pub(crate) use self::value::{FromValue, Row, ToValue, Value, Values};

/// What a statement can fail with.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// SQLite says no.
    #[error("SQLite")]
    Sqlite(#[from] rusqlite::Error),
    /// PostgreSQL says no, or does not answer.
    #[error("PostgreSQL")]
    Postgres(#[from] ::postgres::Error),
    #[cfg(feature = "tls")]
    /// TLS cannot be prepared.
    #[error("TLS")]
    Tls(#[from] rustls::Error),
    /// The address of the database is none.
    #[error("the address")]
    Address(#[source] ::postgres::Error),
    /// All connections are taken.
    #[error("all connections are taken")]
    Busy,
    /// The answer is not in this process, and whoever asked cannot wait.
    #[error("the answer takes a while")]
    NotAtOnce,
    /// A column holds something else than this program writes.
    #[error("column {column} of a row cannot be read")]
    Column {
        /// Which one, from 0.
        column: usize,
    },
    /// Others took this process for dead, and ended the change.
    #[error("others ended the change")]
    TakenOver,
    /// A statement that always finds a row found none.
    #[error("there is no row")]
    NoRow,
}

impl DatabaseError {
    /// Whether others had what the statement needed, for longer than it waits.
    pub(crate) fn is_locked_out(&self) -> bool {
        let Self::Postgres(cause) = self else {
            return false;
        };
        cause.code() == Some(&SqlState::LOCK_NOT_AVAILABLE)
    }
}

/// The open database.
#[derive(Debug)]
pub(crate) enum Database {
    /// One connection does everything. Another only reads, for who cannot wait for the first:
    /// whoever writes has that one until the change stands.
    Sqlite {
        reader: Mutex<rusqlite::Connection>,
        connection: Mutex<rusqlite::Connection>,
        /// Whether a transaction is on disk when it ends.
        is_strict: bool,
    },
    /// Every transaction is on disk when it ends.
    Postgres(Pool),
}

impl Database {
    pub(crate) fn connection(&self) -> Result<Connection<'_>, DatabaseError> {
        Ok(match self {
            Self::Sqlite { connection, .. } => Connection::Sqlite(lock(connection)),
            Self::Postgres(pool) => Connection::Postgres(pool.take()?),
        })
    }

    /// The connection that only reads what is in this process. Who has it gives it back within
    /// microseconds.
    pub(crate) fn reader(&self) -> Result<Connection<'_>, DatabaseError> {
        match self {
            Self::Sqlite { reader, .. } => Ok(Connection::Sqlite(lock(reader))),
            Self::Postgres(_) => Err(DatabaseError::NotAtOnce),
        }
    }

    /// Does work that stands as a whole, or leaves nothing where it fails. Two pieces of work with a
    /// name in common come one after the other; in SQLite all do.
    pub(crate) fn transact<T, E: From<DatabaseError>>(
        &self,
        names: &[&str],
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match self {
            Self::Sqlite { connection, .. } => transact_sqlite(&mut lock(connection), work),
            Self::Postgres(pool) => transact_postgres(pool, names, work),
        }
    }

    /// The same for what goes with files and is flushed with them: one flush of the file system has
    /// both, and many wait for it together. Until then the log is whole, and older.
    pub(crate) fn transact_unflushed<T, E: From<DatabaseError>>(
        &self,
        names: &[&str],
        work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Self::Sqlite {
            connection,
            is_strict: true,
            ..
        } = self
        else {
            return self.transact(names, work);
        };
        let mut connection = lock(connection);
        let flush = |connection: &rusqlite::Connection, mode| {
            let set = connection.pragma_update(None, "synchronous", mode);
            set.map_err(DatabaseError::from)
        };
        flush(&connection, "NORMAL")?;
        let done = transact_sqlite(&mut connection, work);
        flush(&connection, "FULL")?;
        done
    }

    /// Begins to hear what is notified on a channel, on a connection of its own.
    pub(crate) fn listen(&self, channel: &str) -> Result<Notifications, DatabaseError> {
        match self {
            Self::Sqlite { .. } => Err(DatabaseError::NotAtOnce),
            Self::Postgres(pool) => pool.listen(channel),
        }
    }

    /// One statement that goes with files and stands alone; how many rows it changed.
    pub(crate) fn execute_unflushed(
        &self,
        sql: &str,
        values: impl Values,
    ) -> Result<u64, DatabaseError> {
        match self {
            Self::Sqlite { .. } => {
                self.transact_unflushed(&[], |transaction| transaction.execute(sql, values))
            }
            Self::Postgres(_) => self.connection()?.execute(sql, values),
        }
    }
}

fn lock(connection: &Mutex<rusqlite::Connection>) -> MutexGuard<'_, rusqlite::Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

fn transact_sqlite<T, E: From<DatabaseError>>(
    connection: &mut rusqlite::Connection,
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(DatabaseError::from)?;
    let done = work(&Transaction(Engine::Sqlite(&transaction)))?;
    transaction.commit().map_err(DatabaseError::from)?;
    Ok(done)
}

fn transact_postgres<T, E: From<DatabaseError>>(
    pool: &Pool,
    names: &[&str],
    work: impl FnOnce(&Transaction<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let taken = pool.take()?;
    let connection = taken.connection()?;
    connection.batch(&beginning(names))?;
    let done = work(&Transaction(Engine::Postgres(connection)));
    match &done {
        Ok(_) => connection.batch("COMMIT")?,
        Err(_) => {
            if connection.batch("ROLLBACK").is_err() {
                taken.discard();
            }
        }
    }
    done
}

/// How a transaction begins: with a lock on each name, in an order that is the same for all.
fn beginning(names: &[&str]) -> String {
    let mut keys: Vec<i64> = names.iter().map(|name| lock_key(name)).collect();
    keys.sort_unstable();
    keys.dedup();
    let locks = keys
        .iter()
        .map(|key| format!("SELECT pg_advisory_xact_lock({key})"));
    let statements: Vec<String> = std::iter::once("BEGIN".to_owned()).chain(locks).collect();
    statements.join("; ")
}

/// The number that PostgreSQL locks for a name. Names that share one only wait for each other.
fn lock_key(name: &str) -> i64 {
    use sha2::{Digest as _, Sha256};
    let digest = Sha256::digest(format!("fileshed {name}"));
    digest
        .first_chunk()
        .map_or(0, |bytes| i64::from_be_bytes(*bytes))
}

/// Where statements run.
#[derive(Clone, Copy)]
pub(crate) enum Engine<'e> {
    Sqlite(&'e rusqlite::Connection),
    Postgres(&'e PostgresConnection),
}

/// What runs statements: a connection, or a transaction on one.
pub(crate) trait Statements {
    fn engine(&self) -> Result<Engine<'_>, DatabaseError>;

    /// Runs a statement; how many rows it changed.
    fn execute(&self, sql: &str, values: impl Values) -> Result<u64, DatabaseError> {
        let engine = self.engine()?;
        values.with(|values| match engine {
            Engine::Sqlite(connection) => sqlite::execute(connection, sql, values),
            Engine::Postgres(connection) => connection.execute(sql, values),
        })
    }

    /// Runs statements without values.
    fn batch(&self, sql: &str) -> Result<(), DatabaseError> {
        match self.engine()? {
            Engine::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Engine::Postgres(connection) => connection.batch(sql),
        }
    }

    /// What is read of the first row that a statement finds.
    fn first<T>(
        &self,
        sql: &str,
        values: impl Values,
        read: impl FnOnce(&Row<'_>) -> Result<T, DatabaseError>,
    ) -> Result<Option<T>, DatabaseError> {
        let (mut read, mut found) = (Some(read), None);
        query(self.engine()?, sql, &values, &mut |row| {
            if let Some(read) = read.take() {
                found = Some(read(row)?);
            }
            Ok(false)
        })?;
        Ok(found)
    }

    /// The one value of a statement that always finds one row.
    fn value<T: FromValue>(&self, sql: &str, values: impl Values) -> Result<T, DatabaseError> {
        let found = self.first(sql, values, |row| row.get(0))?;
        found.ok_or(DatabaseError::NoRow)
    }

    /// What is read of all rows that a statement finds.
    fn all<T, C: FromIterator<T>>(
        &self,
        sql: &str,
        values: impl Values,
        mut read: impl FnMut(&Row<'_>) -> Result<T, DatabaseError>,
    ) -> Result<C, DatabaseError> {
        let mut found = Vec::new();
        query(self.engine()?, sql, &values, &mut |row| {
            found.push(read(row)?);
            Ok(true)
        })?;
        Ok(found.into_iter().collect())
    }
}

fn query(
    engine: Engine<'_>,
    sql: &str,
    values: &impl Values,
    read: &mut dyn FnMut(&Row<'_>) -> Result<bool, DatabaseError>,
) -> Result<(), DatabaseError> {
    values.with(|values| match engine {
        Engine::Sqlite(connection) => sqlite::query(connection, sql, values, read),
        Engine::Postgres(connection) => connection.query(sql, values, read),
    })
}

impl Statements for Engine<'_> {
    fn engine(&self) -> Result<Engine<'_>, DatabaseError> {
        Ok(*self)
    }
}

/// A transaction: all of it, or nothing.
pub(crate) struct Transaction<'t>(Engine<'t>);

impl Statements for Transaction<'_> {
    fn engine(&self) -> Result<Engine<'_>, DatabaseError> {
        Ok(self.0)
    }
}

/// A connection that somebody has to themselves: each statement stands alone.
pub(crate) enum Connection<'d> {
    Sqlite(MutexGuard<'d, rusqlite::Connection>),
    Postgres(Taken<'d>),
}

impl Statements for Connection<'_> {
    fn engine(&self) -> Result<Engine<'_>, DatabaseError> {
        Ok(match self {
            Self::Sqlite(connection) => Engine::Sqlite(connection),
            Self::Postgres(taken) => Engine::Postgres(taken.connection()?),
        })
    }
}
