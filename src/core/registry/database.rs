//! The database that holds the registry: SQLite beside the data, or PostgreSQL.
//!
//! Every statement is one text that both take: parameters are `?1`, `?2` …, and only what both know
//! the same way is used. Where they differ, a parameter's type is said (`CAST`), a sum is a
//! `BIGINT` by word, and what takes the place of a row names its key.

mod error;
mod postgres;
mod value;

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

use fileshed_types::Mutex;
use rusqlite::types::ToSqlOutput;
use rusqlite::{TransactionBehavior, params_from_iter};

pub(crate) use self::error::Result;
pub use self::error::{FILE_NAME, RegistryError};
pub(crate) use self::postgres::{ConnectionPool, Notifications, SCHEMA};
use self::postgres::{PooledConnection, PostgresConnection};
pub(crate) use self::value::{FromRow, Lenient, OwnedValue, Row, ToRow, Value};

/// The open registry.
pub struct Registry {
    pub(crate) database: Database,
    pub(crate) kept: Mutex<KeptAnswers>,
}

/// Answers that were given in one version of the database, by statement and values.
#[derive(Default)]
pub(crate) struct KeptAnswers {
    pub(crate) version: i64,
    pub(crate) answers: HashMap<(&'static str, [String; 2]), Arc<dyn Any + Send + Sync>>,
}

impl std::fmt::Debug for Registry {
    /// The address of a database holds a password.
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Registry").finish_non_exhaustive()
    }
}

impl Registry {
    pub(crate) fn of(database: Database) -> Self {
        Self {
            database,
            kept: Mutex::default(),
        }
    }
}

/// The open database.
pub(crate) enum Database {
    /// The connections: one does everything. Another only reads, for callers that cannot wait for the first:
    /// a writer has that one until its change is committed.
    Sqlite {
        reader: Mutex<rusqlite::Connection>,
        connection: Mutex<rusqlite::Connection>,
        /// `true` if a transaction is on disk when it ends.
        is_strict: bool,
    },
    /// Every transaction is on disk when it ends.
    Postgres(ConnectionPool),
}

impl Registry {
    /// Takes a connection; waits for one if all are taken.
    pub(crate) fn connection(&self) -> Result<Connection<'_>> {
        Ok(match &self.database {
            Database::Sqlite { connection, .. } => Connection::Sqlite(connection.lock()),
            Database::Postgres(pool) => Connection::Postgres(pool.take()?),
        })
    }

    /// Takes the connection that only reads what is in this process. Its holder gives it back within
    /// microseconds.
    pub(crate) fn reader(&self) -> Result<Connection<'_>> {
        match &self.database {
            Database::Sqlite { reader, .. } => Ok(Connection::Sqlite(reader.lock())),
            Database::Postgres(_) => Err(RegistryError::failed("the answer takes a while")),
        }
    }

    /// Does work that is committed as a whole, or rolled back if it fails. Two pieces of work with a
    /// name in common, as that of a tenant or a table, come one after the other; in SQLite all do.
    pub(crate) fn transact<T, E: From<RegistryError>>(
        &self,
        names: &[&str],
        work: impl FnOnce(&Executor<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.database {
            Database::Sqlite { connection, .. } => transact_sqlite(&mut connection.lock(), work),
            Database::Postgres(pool) => transact_postgres(pool, names, work),
        }
    }

    /// Does the same for rows that belong to files and are flushed with them: one flush of the file
    /// system has both, and many callers wait for it together. Until then the log is whole, and older.
    pub(crate) fn transact_unflushed<T, E: From<RegistryError>>(
        &self,
        names: &[&str],
        work: impl FnOnce(&Executor<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Database::Sqlite {
            connection,
            is_strict: true,
            ..
        } = &self.database
        else {
            return self.transact(names, work);
        };
        let mut connection = connection.lock();
        let flush = |connection: &rusqlite::Connection, mode| {
            let set = connection.pragma_update(None, "synchronous", mode);
            set.map_err(RegistryError::from)
        };
        flush(&connection, "NORMAL")?;
        let done = transact_sqlite(&mut connection, work);
        flush(&connection, "FULL")?;
        done
    }

    /// Runs one statement that goes with files and needs no other; returns the number of changed rows.
    pub(crate) fn execute_unflushed(&self, sql: &str, values: impl ToRow) -> Result<u64> {
        match &self.database {
            Database::Sqlite { .. } => {
                self.transact_unflushed(&[], |transaction| transaction.execute(sql, values))
            }
            Database::Postgres(_) => self.execute(sql, values),
        }
    }

    /// Begins to hear what is notified on a channel, on a connection of its own.
    pub(crate) fn listen(&self, channel: &str) -> Result<Notifications> {
        match &self.database {
            Database::Sqlite { .. } => Err(RegistryError::failed("the answer takes a while")),
            Database::Postgres(pool) => pool.listen(channel),
        }
    }
}

fn transact_sqlite<T, E: From<RegistryError>>(
    connection: &mut rusqlite::Connection,
    work: impl FnOnce(&Executor<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(RegistryError::from)?;
    let done = work(&Executor::Sqlite(&transaction))?;
    transaction.commit().map_err(RegistryError::from)?;
    Ok(done)
}

fn transact_postgres<T, E: From<RegistryError>>(
    pool: &ConnectionPool,
    names: &[&str],
    work: impl FnOnce(&Executor<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let taken = pool.take()?;
    let connection = taken.connection()?;
    connection.batch(&beginning(names))?;
    let done = work(&Executor::Postgres(connection));
    match &done {
        Ok(_) => connection.batch("COMMIT")?,
        Err(_) if connection.batch("ROLLBACK").is_err() => taken.discard(),
        Err(_) => {}
    }
    done
}

/// Returns the statements that begin a transaction: with a lock on each name, in an order that is
/// the same for all.
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

/// Returns the number that PostgreSQL locks for a name. Names that share one only wait for each other.
fn lock_key(name: &str) -> i64 {
    use sha2::{Digest as _, Sha256};
    let digest = Sha256::digest(format!("fileshed {name}"));
    digest
        .first_chunk()
        .map_or(0, |bytes| i64::from_be_bytes(*bytes))
}

/// A connection that runs statements: alone, or in a transaction.
#[derive(Clone, Copy)]
pub(crate) enum Executor<'e> {
    Sqlite(&'e rusqlite::Connection),
    Postgres(&'e PostgresConnection),
}

/// A runner of statements: the registry, a connection of it, or a transaction.
pub(crate) trait Statements {
    /// Does work with the connection on which statements run.
    fn on<T>(&self, work: impl FnOnce(Executor<'_>) -> Result<T>) -> Result<T>;

    /// Runs a statement; returns the number of changed rows.
    fn execute(&self, sql: &str, values: impl ToRow) -> Result<u64> {
        let values = &values.values();
        self.on(|engine| match engine {
            Executor::Sqlite(connection) => {
                let mut statement = connection.prepare_cached(sql)?;
                Ok(statement.execute(sqlite_parameters(values))? as u64)
            }
            Executor::Postgres(connection) => connection.execute(sql, values),
        })
    }

    /// Runs a statement.
    fn run(&self, sql: &str, values: impl ToRow) -> Result<()> {
        self.execute(sql, values).map(drop)
    }

    /// Runs a statement; returns `true` if it changed a row.
    fn changes(&self, sql: &str, values: impl ToRow) -> Result<bool> {
        Ok(self.execute(sql, values)? > 0)
    }

    /// Runs statements without values.
    fn batch(&self, sql: &str) -> Result<()> {
        self.on(|engine| match engine {
            Executor::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Executor::Postgres(connection) => connection.batch(sql),
        })
    }

    /// Returns the first row that a statement finds.
    fn first<T: FromRow>(&self, sql: &str, values: impl ToRow) -> Result<Option<T>> {
        let first = self.query(sql, values)?.into_iter().next();
        first.map(|mut row| row.next()).transpose()
    }

    /// Returns the row of a statement that always finds one.
    fn value<T: FromRow>(&self, sql: &str, values: impl ToRow) -> Result<T> {
        self.first(sql, values)?
            .ok_or_else(|| RegistryError::failed("there is no row"))
    }

    /// Returns all rows that a statement finds.
    fn all<T: FromRow, C: FromIterator<T>>(&self, sql: &str, values: impl ToRow) -> Result<C> {
        let rows = self.query(sql, values)?.into_iter();
        rows.map(|mut row| row.next()).collect()
    }

    /// Returns all rows that a statement finds, before anything is read of them.
    fn query(&self, sql: &str, values: impl ToRow) -> Result<Vec<Row>> {
        let values = &values.values();
        self.on(|engine| match engine {
            Executor::Sqlite(connection) => query_sqlite(connection, sql, values),
            Executor::Postgres(connection) => connection.query(sql, values),
        })
    }
}

impl Statements for Executor<'_> {
    fn on<T>(&self, work: impl FnOnce(Executor<'_>) -> Result<T>) -> Result<T> {
        work(*self)
    }
}

/// A connection that is taken: each statement is committed by itself.
pub(crate) enum Connection<'d> {
    Sqlite(MutexGuard<'d, rusqlite::Connection>),
    Postgres(PooledConnection<'d>),
}

impl Statements for Connection<'_> {
    fn on<T>(&self, work: impl FnOnce(Executor<'_>) -> Result<T>) -> Result<T> {
        work(match self {
            Self::Sqlite(connection) => Executor::Sqlite(connection),
            Self::Postgres(taken) => Executor::Postgres(taken.connection()?),
        })
    }
}

impl Statements for Registry {
    fn on<T>(&self, work: impl FnOnce(Executor<'_>) -> Result<T>) -> Result<T> {
        self.connection()?.on(work)
    }
}

fn sqlite_parameters(values: &[Value<'_>]) -> impl rusqlite::Params {
    params_from_iter(values.iter().copied().map(ToSqlOutput::Borrowed))
}

fn query_sqlite(
    connection: &rusqlite::Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<Vec<Row>> {
    let mut statement = connection.prepare_cached(sql)?;
    let columns = statement.column_count();
    let rows = statement.query_map(sqlite_parameters(values), |row| {
        let values = (0..columns).map(|column| row.get(column));
        Ok(Row::new(values.collect::<Result<_, _>>()?))
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
