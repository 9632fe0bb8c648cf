//! Statements on PostgreSQL, and the connections that are kept to it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Condvar;
use std::time::{Duration, Instant};

use fileshed_types::timings::RegistryTimings;
use fileshed_types::{Clock, Mutex, Timings};
use postgres::fallible_iterator::FallibleIterator as _;
use postgres::types::ToSql;
use postgres::{Client, Config, Statement};

use super::value::{PostgresValue, Row, Value};
use super::{RegistryError, Result};

/// Schema of the tables, because a database may be shared with other programs.
pub(crate) const SCHEMA: &str = "fileshed";

/// Timeouts of connections, and the time for which an idle one is trusted.
const TIMINGS: RegistryTimings = Timings::STANDARD.registry;

/// Statements at the beginning of a connection. Their timeouts keep anybody from waiting longer for a stalled
/// transaction of another instance than for its lease.
const SETTINGS: &str = "SET client_min_messages TO warning; SET lock_timeout TO '20s';
     SET idle_in_transaction_session_timeout TO '5s'";

/// A connection, with the statements that it has prepared.
pub(crate) struct PostgresConnection(Box<RefCell<PreparedStatement>>);

/// A value of a statement.
type SqlParameter<'v> = &'v (dyn ToSql + Sync);

struct PreparedStatement {
    client: Client,
    statements: HashMap<String, Statement>,
}

impl PostgresConnection {
    fn open(config: &Config) -> Result<Self> {
        let mut client = connect(config)?;
        client.batch_execute(&format!("SET search_path TO {SCHEMA}; {SETTINGS}"))?;
        Ok(Self(Box::new(RefCell::new(PreparedStatement {
            client,
            statements: HashMap::new(),
        }))))
    }

    /// Runs statements without values.
    pub(crate) fn batch(&self, sql: &str) -> Result<()> {
        Ok(self.0.borrow_mut().client.batch_execute(sql)?)
    }

    pub(super) fn execute(&self, sql: &str, values: &[Value<'_>]) -> Result<u64> {
        self.with_statement(sql, values, |client, statement, values| {
            client.execute(statement, values)
        })
    }

    pub(super) fn query(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>> {
        let rows = self.with_statement(sql, values, |client, statement, values| {
            client.query(statement, values)
        })?;
        let row = |row: &postgres::Row| {
            let values = (0..row.len()).map(|column| row.try_get(column));
            let values = values.map(|value| value.map(|PostgresValue(value)| value));
            Ok(Row::new(values.collect::<Result<_, postgres::Error>>()?))
        };
        rows.iter().map(row).collect()
    }

    /// Prepares a statement, the first time, and runs it. None has a question mark in a string.
    fn with_statement<T>(
        &self,
        sql: &str,
        values: &[Value<'_>],
        run: impl FnOnce(&mut Client, &Statement, &[SqlParameter<'_>]) -> Result<T, postgres::Error>,
    ) -> Result<T> {
        let PreparedStatement { client, statements } = &mut *self.0.borrow_mut();
        let statement = if let Some(statement) = statements.get(sql) {
            statement
        } else {
            let prepared = client.prepare(&sql.replace('?', "$"))?;
            statements.entry(sql.to_owned()).or_insert(prepared)
        };
        let values: Vec<_> = values.iter().copied().map(PostgresValue).collect();
        let values: Vec<_> = values
            .iter()
            .map(|value| value as SqlParameter<'_>)
            .collect();
        Ok(run(client, statement, &values)?)
    }

    fn is_closed(&self) -> bool {
        self.0.borrow().client.is_closed()
    }

    fn answers(&self) -> bool {
        self.0.borrow_mut().client.is_valid(TIMINGS.alive).is_ok()
    }
}

/// Opens a connection, in TLS if its address asks for that: `sslmode=require` never goes on without TLS.
/// The authorities are those of the system, or those that `SSL_CERT_FILE` names, and the name in the
/// certificate must be that of the host.
#[cfg(feature = "tls")]
fn connect(config: &Config) -> Result<Client> {
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
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| RegistryError::NoTls(error.into()))?
        .with_no_client_auth();
    Ok(config.connect(MakeRustlsConnect::new(tls))?)
}

#[cfg(not(feature = "tls"))]
fn connect(config: &Config) -> Result<Client> {
    Ok(config.connect(postgres::NoTls)?)
}

/// Notifications on a channel, as they come. Earlier ones are not received.
pub(crate) struct Notifications(Option<Client>);

impl Notifications {
    /// The text of the next one that comes within this time.
    pub(crate) fn next(&mut self, patience: Duration) -> Result<Option<String>> {
        let Some(client) = &mut self.0 else {
            return Err(RegistryError::no_connection());
        };
        let next = client.notifications().timeout_iter(patience).next()?;
        if next.is_none() && client.is_closed() {
            return Err(RegistryError::no_connection());
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
pub(crate) struct ConnectionPool {
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

impl ConnectionPool {
    pub(crate) fn new(url: &str, most: usize) -> Result<Self> {
        let mut config: Config = url
            .parse()
            .map_err(|error: postgres::Error| RegistryError::Address(error.into()))?;
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(TIMINGS.connect);
        }
        if config.get_application_name().is_none() {
            config.application_name("fileshed");
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(TIMINGS.silence);
        }
        // An address may only lower this: the default of the client library is longer.
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
    pub(crate) fn take(&self) -> Result<PooledConnection<'_>> {
        let until = Clock::SYSTEM.instant() + TIMINGS.pool;
        let mut state = self.state.lock();
        loop {
            let idle = state.idle.pop();
            if idle.is_some() || state.taken < self.most {
                state.taken += 1;
                drop(state);
                return PooledConnection::new(self, idle);
            }
            if Clock::SYSTEM.is_past(until) {
                return Err(RegistryError::no_connection());
            }
            state = Clock::SYSTEM.wait(&self.returned, state, until);
        }
    }

    pub(crate) fn listen(&self, channel: &str) -> Result<Notifications> {
        let mut client = connect(&self.config)?;
        client.batch_execute(&format!("LISTEN {channel}"))?;
        Ok(Notifications(Some(client)))
    }
}

impl Drop for ConnectionPool {
    fn drop(&mut self) {
        end(std::mem::take(&mut self.state.lock().idle));
    }
}

/// Closes connections. A client waits for its own end, which a thread of an asynchronous runtime must
/// not.
fn end(connections: impl Send + 'static) {
    let _ended = std::thread::spawn(move || drop(connections)).join();
}

/// A connection that goes back to its pool.
pub(crate) struct PooledConnection<'p> {
    pool: &'p ConnectionPool,
    connection: Option<PostgresConnection>,
}

impl<'p> PooledConnection<'p> {
    /// Uses a connection again if it still answers, or opens another one. The place that was counted for
    /// it is free again if that fails.
    fn new(pool: &'p ConnectionPool, idle: Option<(PostgresConnection, Instant)>) -> Result<Self> {
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

    pub(crate) fn connection(&self) -> Result<&PostgresConnection> {
        self.connection
            .as_ref()
            .ok_or_else(RegistryError::no_connection)
    }

    /// Closes the connection instead of giving it back: nobody knows what state it is in.
    pub(crate) fn discard(mut self) {
        drop(self.connection.take());
    }
}

impl Drop for PooledConnection<'_> {
    fn drop(&mut self) {
        let mut returned = self.connection.take();
        if let Some(broken) =
            returned.take_if(|connection| std::thread::panicking() || connection.is_closed())
        {
            end(broken);
        }
        let mut state = self.pool.state.lock();
        state.taken -= 1;
        state
            .idle
            .extend(returned.map(|connection| (connection, Clock::SYSTEM.instant())));
        drop(state);
        self.pool.returned.notify_one();
    }
}
