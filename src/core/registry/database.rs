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
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{ToSql, TransactionBehavior, params_from_iter};

pub use self::error::{DatabaseError, FILE_NAME, RegistryError};
pub(crate) use self::postgres::{Notifications, Pool, SCHEMA};
use self::postgres::{PostgresConnection, Taken};
pub(crate) use self::value::{FromRow, FromValue, Row, ToRow, ToValue, Value, Values};

/// The open registry.
#[derive(Debug)]
pub struct Registry {
    pub(crate) database: Database,
    pub(crate) kept: Mutex<KeptAnswers>,
}

/// Answers that were given in one version of the database, by statement and values.
#[derive(Debug, Default)]
pub(crate) struct KeptAnswers {
    pub(crate) version: i64,
    pub(crate) answers: HashMap<(&'static str, [String; 2]), Arc<dyn Any + Send + Sync>>,
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
#[derive(Debug)]
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
    Postgres(Pool),
}

impl Registry {
    /// Takes a connection; waits for one if all are taken.
    pub(crate) fn connection(&self) -> Result<Connection<'_>, RegistryError> {
        Ok(match &self.database {
            Database::Sqlite { connection, .. } => Connection::Sqlite(lock(connection)),
            Database::Postgres(pool) => Connection::Postgres(pool.take()?),
        })
    }

    /// Takes the connection that only reads what is in this process. Its holder gives it back within
    /// microseconds.
    pub(crate) fn reader(&self) -> Result<Connection<'_>, RegistryError> {
        match &self.database {
            Database::Sqlite { reader, .. } => Ok(Connection::Sqlite(lock(reader))),
            Database::Postgres(_) => Err(DatabaseError::NotAtOnce.into()),
        }
    }

    /// Does work that is committed as a whole, or rolled back if it fails. Two pieces of work with a
    /// name in common, as that of a tenant or a table, come one after the other; in SQLite all do.
    pub(crate) fn transact<T, E: From<RegistryError>>(
        &self,
        names: &[&str],
        work: impl FnOnce(&Engine<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        match &self.database {
            Database::Sqlite { connection, .. } => transact_sqlite(&mut lock(connection), work),
            Database::Postgres(pool) => transact_postgres(pool, names, work),
        }
    }

    /// Does the same for rows that belong to files and are flushed with them: one flush of the file
    /// system has both, and many callers wait for it together. Until then the log is whole, and older.
    pub(crate) fn transact_unflushed<T, E: From<RegistryError>>(
        &self,
        names: &[&str],
        work: impl FnOnce(&Engine<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let Database::Sqlite {
            connection,
            is_strict: true,
            ..
        } = &self.database
        else {
            return self.transact(names, work);
        };
        let mut connection = lock(connection);
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
    pub(crate) fn execute_unflushed(
        &self,
        sql: &str,
        values: impl Values,
    ) -> Result<u64, RegistryError> {
        match &self.database {
            Database::Sqlite { .. } => {
                self.transact_unflushed(&[], |transaction| transaction.execute(sql, values))
            }
            Database::Postgres(_) => self.execute(sql, values),
        }
    }

    /// Begins to hear what is notified on a channel, on a connection of its own.
    pub(crate) fn listen(&self, channel: &str) -> Result<Notifications, RegistryError> {
        match &self.database {
            Database::Sqlite { .. } => Err(DatabaseError::NotAtOnce.into()),
            Database::Postgres(pool) => Ok(pool.listen(channel)?),
        }
    }
}

fn lock(connection: &Mutex<rusqlite::Connection>) -> MutexGuard<'_, rusqlite::Connection> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

fn transact_sqlite<T, E: From<RegistryError>>(
    connection: &mut rusqlite::Connection,
    work: impl FnOnce(&Engine<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(RegistryError::from)?;
    let done = work(&Engine::Sqlite(&transaction))?;
    transaction.commit().map_err(RegistryError::from)?;
    Ok(done)
}

fn transact_postgres<T, E: From<RegistryError>>(
    pool: &Pool,
    names: &[&str],
    work: impl FnOnce(&Engine<'_>) -> Result<T, E>,
) -> Result<T, E> {
    let taken = pool.take().map_err(RegistryError::from)?;
    let connection = taken.connection().map_err(RegistryError::from)?;
    let run = |sql: &str| connection.batch(sql).map_err(RegistryError::from);
    run(&beginning(names))?;
    let done = work(&Engine::Postgres(connection));
    match &done {
        Ok(_) => run("COMMIT")?,
        Err(_) => {
            if run("ROLLBACK").is_err() {
                taken.discard();
            }
        }
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
pub(crate) enum Engine<'e> {
    Sqlite(&'e rusqlite::Connection),
    Postgres(&'e PostgresConnection),
}

/// A runner of statements: the registry, a connection of it, or a transaction.
pub(crate) trait Statements {
    /// Does work with the connection on which statements run.
    fn on<T>(
        &self,
        work: impl FnOnce(Engine<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError>;

    /// Runs a statement; returns the number of changed rows.
    fn execute(&self, sql: &str, values: impl Values) -> Result<u64, RegistryError> {
        self.on(|engine| {
            values.with(|values| match engine {
                Engine::Sqlite(connection) => {
                    let mut statement = connection.prepare_cached(sql)?;
                    Ok(statement.execute(params_from_iter(values))? as u64)
                }
                Engine::Postgres(connection) => Ok(connection.execute(sql, values)?),
            })
        })
    }

    /// Runs a statement.
    fn run(&self, sql: &str, values: impl Values) -> Result<(), RegistryError> {
        self.execute(sql, values).map(drop)
    }

    /// Runs a statement; returns `true` if it changed a row.
    fn changes(&self, sql: &str, values: impl Values) -> Result<bool, RegistryError> {
        Ok(self.execute(sql, values)? > 0)
    }

    /// Runs statements without values.
    fn batch(&self, sql: &str) -> Result<(), RegistryError> {
        self.on(|engine| match engine {
            Engine::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Engine::Postgres(connection) => Ok(connection.batch(sql)?),
        })
    }

    /// Returns the first row that a statement finds.
    fn first<T: FromRow>(
        &self,
        sql: &str,
        values: impl Values,
    ) -> Result<Option<T>, RegistryError> {
        let mut found = None;
        self.query(sql, values, &mut |row| {
            found = Some(row.next()?);
            Ok(false)
        })?;
        Ok(found)
    }

    /// Returns the row of a statement that always finds one.
    fn value<T: FromRow>(&self, sql: &str, values: impl Values) -> Result<T, RegistryError> {
        Ok(self.first(sql, values)?.ok_or(DatabaseError::NoRow)?)
    }

    /// Returns all rows that a statement finds.
    fn all<T: FromRow, C: FromIterator<T>>(
        &self,
        sql: &str,
        values: impl Values,
    ) -> Result<C, RegistryError> {
        let mut found = Vec::new();
        self.query(sql, values, &mut |row| {
            found.push(row.next()?);
            Ok(true)
        })?;
        Ok(found.into_iter().collect())
    }

    /// Reads rows while `read` returns `true`.
    fn query(
        &self,
        sql: &str,
        values: impl Values,
        read: &mut dyn FnMut(&mut Row<'_>) -> Result<bool, RegistryError>,
    ) -> Result<(), RegistryError> {
        self.on(|engine| {
            values.with(|values| match engine {
                Engine::Sqlite(connection) => query_sqlite(connection, sql, values, read),
                Engine::Postgres(connection) => connection.query(sql, values, read),
            })
        })
    }
}

impl Statements for Engine<'_> {
    fn on<T>(
        &self,
        work: impl FnOnce(Engine<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        work(*self)
    }
}

/// A connection that is taken: each statement is committed by itself.
pub(crate) enum Connection<'d> {
    Sqlite(MutexGuard<'d, rusqlite::Connection>),
    Postgres(Taken<'d>),
}

impl Statements for Connection<'_> {
    fn on<T>(
        &self,
        work: impl FnOnce(Engine<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        work(match self {
            Self::Sqlite(connection) => Engine::Sqlite(connection),
            Self::Postgres(taken) => Engine::Postgres(taken.connection()?),
        })
    }
}

impl Statements for Registry {
    fn on<T>(
        &self,
        work: impl FnOnce(Engine<'_>) -> Result<T, RegistryError>,
    ) -> Result<T, RegistryError> {
        self.connection()?.on(work)
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
            Self::Bytes(bytes) => ValueRef::Blob(bytes),
        }))
    }
}

fn query_sqlite(
    connection: &rusqlite::Connection,
    sql: &str,
    values: &[Value<'_>],
    read: &mut dyn FnMut(&mut Row<'_>) -> Result<bool, RegistryError>,
) -> Result<(), RegistryError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        if !read(&mut Row::of_sqlite(row))? {
            // A statement that changes rows ends only when it has no more rows to return.
            while rows.next()?.is_some() {}
            break;
        }
    }
    Ok(())
}
