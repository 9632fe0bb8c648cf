//! Statements on PostgreSQL, and the connections that are kept to it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::error::Error;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use fileshed_types::timings::RegistryTimings;
use fileshed_types::{Clock, Timings};
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::private::BytesMut;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
use postgres::{Client, Config, Statement};

use super::value::{Row, Value};
use super::{DatabaseError, RegistryError};

/// Where the tables are: a database may be shared with other programs.
pub(crate) const SCHEMA: &str = "fileshed";

/// Timeouts of connections, and the time for which an idle one is trusted.
const TIMINGS: RegistryTimings = Timings::STANDARD.registry;

/// What a connection begins with. Nobody waits longer for a transaction of somebody who stands still than
/// for a lease of theirs.
const SETTINGS: &str = "SET client_min_messages TO warning; SET lock_timeout TO '20s';
     SET idle_in_transaction_session_timeout TO '5s'";

/// A connection, with the statements that it has prepared.
pub(crate) struct PostgresConnection(Box<RefCell<Prepared>>);

struct Prepared {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl std::fmt::Debug for PostgresConnection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("PostgresConnection")
            .finish_non_exhaustive()
    }
}

impl PostgresConnection {
    fn open(config: &Config) -> Result<Self, DatabaseError> {
        let mut client = connect(config)?;
        client.batch_execute(&format!("SET search_path TO {SCHEMA}; {SETTINGS}"))?;
        Ok(Self(Box::new(RefCell::new(Prepared {
            client,
            statements: HashMap::new(),
        }))))
    }

    /// Runs statements without values.
    pub(crate) fn batch(&self, sql: &str) -> Result<(), DatabaseError> {
        Ok(self.0.borrow_mut().client.batch_execute(sql)?)
    }

    pub(super) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64, DatabaseError> {
        let prepared = &mut *self.0.borrow_mut();
        let statement = prepared.statement(sql)?;
        Ok(prepared.client.execute(&statement, &parameters(values))?)
    }

    pub(super) fn query(
        &self,
        sql: &str,
        values: &[Value<'_>],
        read: &mut dyn FnMut(&mut Row<'_>) -> Result<bool, RegistryError>,
    ) -> Result<(), RegistryError> {
        let rows = {
            let prepared = &mut *self.0.borrow_mut();
            let statement = prepared.statement(sql)?;
            let rows = prepared.client.query(&statement, &parameters(values));
            rows.map_err(DatabaseError::from)?
        };
        for row in &rows {
            if !read(&mut Row::of_postgres(row))? {
                break;
            }
        }
        Ok(())
    }

    fn is_closed(&self) -> bool {
        self.0.borrow().client.is_closed()
    }

    fn answers(&self) -> bool {
        self.0.borrow_mut().client.is_valid(TIMINGS.alive).is_ok()
    }
}

impl Prepared {
    fn statement(&mut self, sql: &str) -> Result<Statement, DatabaseError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&numbered(sql))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// A statement with its parameters as PostgreSQL numbers them. None has a question mark in a text.
fn numbered(sql: &str) -> String {
    sql.replace('?', "$")
}

fn parameters<'v>(values: &'v [Value<'v>]) -> Vec<&'v (dyn ToSql + Sync)> {
    values
        .iter()
        .map(|value| value as &(dyn ToSql + Sync))
        .collect()
}

impl ToSql for Value<'_> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self {
            Self::Null => Ok(IsNull::Yes),
            Self::Integer(number) => match *kind {
                Type::INT4 => i32::try_from(*number)?.to_sql(kind, out),
                Type::INT2 => i16::try_from(*number)?.to_sql(kind, out),
                Type::BOOL => (*number != 0).to_sql(kind, out),
                _ => number.to_sql(kind, out),
            },
            Self::Text(text) => text.to_sql(kind, out),
            Self::Bytes(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value<'a> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(match *kind {
            Type::BOOL => Self::Integer(bool::from_sql(kind, raw)?.into()),
            Type::INT2 => Self::Integer(i16::from_sql(kind, raw)?.into()),
            Type::INT4 => Self::Integer(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => Self::Integer(i64::from_sql(kind, raw)?),
            Type::BYTEA => Self::Bytes(raw),
            _ => Self::Text(<&str>::from_sql(kind, raw)?),
        })
    }

    fn from_sql_null(_kind: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self::Null)
    }

    fn accepts(kind: &Type) -> bool {
        matches!(
            *kind,
            Type::BOOL
                | Type::INT2
                | Type::INT4
                | Type::INT8
                | Type::BYTEA
                | Type::TEXT
                | Type::VARCHAR
                | Type::NAME
        )
    }
}

/// Opens a connection, in TLS if its address asks for that: `sslmode=require` never goes on without TLS.
/// The authorities are those of the system, or those that `SSL_CERT_FILE` names, and the name in the
/// certificate must be that of the host.
#[cfg(feature = "tls")]
fn connect(config: &Config) -> Result<Client, DatabaseError> {
    use std::sync::Arc;

    use postgres::config::{Host, SslMode};
    use rustls::ClientConfig;
    use rustls_platform_verifier::BuilderVerifierExt;
    use tokio_postgres_rustls::MakeRustlsConnect;

    let is_local = |host: &Host| matches!(host, Host::Unix(_));
    if config.get_ssl_mode() == SslMode::Disable || config.get_hosts().iter().all(is_local) {
        return Ok(config.connect(postgres::NoTls)?);
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)?
        .with_no_client_auth();
    Ok(config.connect(MakeRustlsConnect::new(tls))?)
}

#[cfg(not(feature = "tls"))]
fn connect(config: &Config) -> Result<Client, DatabaseError> {
    Ok(config.connect(postgres::NoTls)?)
}

/// What is notified on a channel, as it comes. Nothing that came before it was made is told.
pub(crate) struct Notifications(Option<Client>);

impl Notifications {
    /// The text of the next one that comes within this time.
    pub(crate) fn next(&mut self, patience: Duration) -> Result<Option<String>, DatabaseError> {
        let Some(client) = &mut self.0 else {
            return Err(DatabaseError::Busy);
        };
        let next = client.notifications().timeout_iter(patience).next()?;
        if next.is_none() && client.is_closed() {
            return Err(DatabaseError::Busy);
        }
        Ok(next.map(|notification| notification.payload().to_owned()))
    }
}

impl Drop for Notifications {
    fn drop(&mut self) {
        end(self.0.take());
    }
}

/// The connections to one database: as many as calls need at once, up to a bound.
pub(crate) struct Pool {
    config: Config,
    most: usize,
    state: Mutex<PoolState>,
    returned: Condvar,
}

#[derive(Default)]
struct PoolState {
    /// Since when, too; those that were used last are at the end.
    idle: Vec<(PostgresConnection, Instant)>,
    /// Those that somebody has, or is making.
    taken: usize,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The configuration holds a password.
        formatter
            .debug_struct("Pool")
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

impl Pool {
    pub(crate) fn new(url: &str, most: usize) -> Result<Self, DatabaseError> {
        let mut config: Config = url.parse().map_err(DatabaseError::Address)?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(TIMINGS.connect);
        }
        if config.get_application_name().is_none() {
            config.application_name("fileshed");
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(TIMINGS.silence);
        }
        // What an address can say of this is what it is by itself or less.
        config.keepalives_idle(config.get_keepalives_idle().min(TIMINGS.keepalive_idle));
        if config.get_keepalives_interval().is_none() {
            config.keepalives_interval(TIMINGS.keepalive_interval);
        }
        Ok(Self {
            config,
            most: most.max(1),
            state: Mutex::default(),
            returned: Condvar::new(),
        })
    }

    /// A connection for as long as it is needed. Waits where all are taken.
    pub(crate) fn take(&self) -> Result<Taken<'_>, DatabaseError> {
        let until = Clock::SYSTEM.instant() + TIMINGS.pool;
        let mut state = self.lock();
        loop {
            let idle = state.idle.pop();
            if idle.is_some() || state.taken < self.most {
                state.taken += 1;
                drop(state);
                return Taken::new(self, idle);
            }
            if Clock::SYSTEM.is_past(until) {
                return Err(DatabaseError::Busy);
            }
            state = Clock::SYSTEM.wait(&self.returned, state, until);
        }
    }

    pub(crate) fn listen(&self, channel: &str) -> Result<Notifications, DatabaseError> {
        let mut client = connect(&self.config)?;
        client.batch_execute(&format!("LISTEN {channel}"))?;
        Ok(Notifications(Some(client)))
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        end(std::mem::take(&mut self.lock().idle));
    }
}

/// Closes connections. A client waits for its own end, which a thread of an asynchronous runtime must
/// not.
fn end(connections: impl Send + 'static) {
    let _ended = std::thread::spawn(move || drop(connections)).join();
}

/// A connection that goes back to its pool.
pub(crate) struct Taken<'p> {
    pool: &'p Pool,
    connection: Option<PostgresConnection>,
}

impl<'p> Taken<'p> {
    /// Uses a connection again if it still answers, or opens another one. The place that was counted for
    /// it is free again if that fails.
    fn new(
        pool: &'p Pool,
        idle: Option<(PostgresConnection, Instant)>,
    ) -> Result<Self, DatabaseError> {
        let mut taken = Self {
            pool,
            connection: None,
        };
        let idle = idle.filter(|(connection, since)| {
            let is_fresh = Clock::SYSTEM.elapsed(*since) < TIMINGS.stale && !connection.is_closed();
            is_fresh || connection.answers()
        });
        taken.connection = Some(match idle {
            Some((connection, _)) => connection,
            None => PostgresConnection::open(&pool.config)?,
        });
        Ok(taken)
    }

    pub(crate) fn connection(&self) -> Result<&PostgresConnection, DatabaseError> {
        self.connection.as_ref().ok_or(DatabaseError::Busy)
    }

    /// Closes the connection instead of giving it back: nobody knows what state it is in.
    pub(crate) fn discard(mut self) {
        drop(self.connection.take());
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        let mut returned = self.connection.take();
        if let Some(broken) =
            returned.take_if(|connection| std::thread::panicking() || connection.is_closed())
        {
            end(broken);
        }
        let mut state = self.pool.lock();
        state.taken -= 1;
        state
            .idle
            .extend(returned.map(|connection| (connection, Clock::SYSTEM.instant())));
        drop(state);
        self.pool.returned.notify_one();
    }
}
