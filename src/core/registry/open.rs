//! Opening of the registry, and a look at it before.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::database::{ConnectionPool, Database, SCHEMA, Statements as _};
use super::wal_index;
use super::{FILE_NAME, Registry, RegistryError, Result, schema};
use fileshed_storage::Root;
use fileshed_types::settings::{Durability, RegistryUrl, Settings};
use fileshed_types::{Clock, Error, Mutex, timings};

/// The volume in which the registry is, as version 0.1.0 names it.
pub const FIRST_VOLUME: &str = "volume-1";

/// Ends of the names of the registry's file and of those that SQLite keeps beside it.
const ENDS: [&str; 4] = ["", "-wal", "-shm", "-journal"];

/// The cache of the connection that only reads, as SQLite takes it: negative, in KiB.
const READER_CACHE: i64 = -512;

/// Bytes that are set aside for the log, which SQLite begins anew behind 1000 pages.
const LOG_SPACE: u64 = 1100 * (4096 + 24);

/// Statements that a connection to SQLite keeps compiled: those of the calls that are frequent.
const KEPT_STATEMENTS: usize = 64;

/// A registry before it is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExistingRegistry {
    /// There is no file.
    Nothing,
    /// There is one without any table.
    Empty,
    /// It has tables, and none of them says that this program made it: the original's, perhaps.
    Foreign,
    /// It is this program's.
    Ours,
}

impl Registry {
    /// Looks at the registry, without making or changing anything in it.
    pub fn look(data: &Root, settings: &Settings) -> Result<ExistingRegistry, Error> {
        let registry = match &settings.registry {
            Some(url) => on_postgres(url, 1)?,
            None if !data.has(FILE_NAME)? => return Ok(ExistingRegistry::Nothing),
            None => on_file(data, Durability::Relaxed)?,
        };
        let tables: Vec<String> = registry.all(registry.database.tables(), ())?;
        Ok(if tables.is_empty() {
            ExistingRegistry::Empty
        } else if tables.iter().any(|table| table == "migrations") {
            ExistingRegistry::Ours
        } else {
            ExistingRegistry::Foreign
        })
    }

    /// Returns `true` if the log beside the file is without the last changes, for whatever reason. Only who
    /// asks before anybody opens the registry is told.
    #[must_use]
    pub fn is_log_cut(data: &Root, settings: &Settings) -> bool {
        settings.registry.is_none() && wal_index::is_log_cut(data, FILE_NAME)
    }

    /// Opens the registry of a data directory, makes it where it is missing, and brings it up to
    /// date. One that is damaged is refused as a whole: what it says cannot be relied on.
    pub fn open(data: &Root, settings: &Settings) -> Result<Self, Error> {
        if let Some(url) = &settings.registry {
            return Ok(Self::open_postgres(url, settings.registry_connections)?);
        }
        data.make_private_file(FILE_NAME)?;
        keep_private(data)?;
        let registry = Self::open_file(data, settings.durability)?;
        // SQLite gives its companions the mode of the database, but those of an older one stay.
        keep_private(data)?;
        Ok(registry)
    }

    fn open_postgres(url: &RegistryUrl, connections: u64) -> Result<Self> {
        let most = usize::try_from(connections).unwrap_or(usize::MAX);
        let registry = on_postgres(url, most)?;
        schema::migrate(&registry)?;
        Ok(registry)
    }

    fn open_file(data: &Root, durability: Durability) -> Result<Self> {
        let registry = on_file(data, durability)?;
        let synchronous = match durability {
            Durability::Relaxed => "NORMAL",
            Durability::Strict => "FULL",
        };
        registry.batch(&format!(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = {synchronous}"
        ))?;
        let verdict: String = registry.value("PRAGMA quick_check(1)", ())?;
        if verdict != "ok" {
            return Err(RegistryError::Inconsistent(verdict));
        }
        schema::migrate(&registry)?;
        // For the rows of deletions on a full disk. Where it cannot be had, all goes on without it.
        let _set_aside = data.set_space_aside(&format!("{FILE_NAME}-wal"), LOG_SPACE);
        Ok(registry)
    }

    /// Enters which pepper the registry belongs to, the first time; fails where it is another.
    pub fn expect_pepper(&self, fingerprint: &str) -> Result<()> {
        let known: Option<String> = self.first("SELECT fingerprint FROM pepper", ())?;
        match known {
            Some(known) if known == fingerprint => Ok(()),
            Some(_) => Err(RegistryError::OtherPepper),
            None => self.run(
                "INSERT INTO pepper (id, fingerprint) VALUES (1, ?1) ON CONFLICT DO NOTHING",
                [fingerprint],
            ),
        }
    }

    /// Forgets which pepper the registry belongs to: it takes the next one for its own.
    pub fn forget_pepper(&self) -> Result<()> {
        self.run("DELETE FROM pepper", ())
    }

    /// Returns the number of tenants that rows of version 0.1.0 have in other volumes than the first.
    pub fn tenants_in_other_volumes(&self) -> Result<u64> {
        let count = "SELECT count(*) FROM placements WHERE volume <> ?1";
        self.value(count, [FIRST_VOLUME])
    }

    /// Gives what a registry is another name, which ends in `suffix`: its files, or its schema.
    pub fn set_aside(data: &Root, settings: &Settings, suffix: &str) -> Result<(), Error> {
        match &settings.registry {
            Some(url) => {
                let name = suffix.replace('-', "_");
                let rename = format!("ALTER SCHEMA {SCHEMA} RENAME TO {SCHEMA}_{name}");
                Ok(on_postgres(url, 1)?.batch(&rename)?)
            }
            None => set_files_aside(data, suffix),
        }
    }
}

fn set_files_aside(data: &Root, suffix: &str) -> Result<(), Error> {
    for end in ENDS {
        let aside = format!("{FILE_NAME}.{suffix}{end}");
        data.set_aside(&format!("{FILE_NAME}{end}"), &aside)?;
    }
    Ok(())
}

/// Returns a registry of which nothing is known yet, with so many connections at most.
fn on_postgres(url: &RegistryUrl, most: usize) -> Result<Registry> {
    let pool = ConnectionPool::new(url.reveal(), most)?;
    Ok(Registry::of(Database::Postgres(pool)))
}

fn on_file(data: &Root, durability: Durability) -> Result<Registry> {
    let file = data.location().join(FILE_NAME);
    Ok(Registry::of(Database::Sqlite {
        connection: Mutex::new(connect(&file)?),
        reader: Mutex::new(reader(&file)?),
        is_strict: durability == Durability::Strict,
    }))
}

fn connect(file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags)?;
    connection.busy_handler(Some(wait_a_moment))?;
    connection.set_prepared_statement_cache_capacity(KEPT_STATEMENTS);
    // Else a statement with `LIMIT ?` is compiled anew for each value.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

/// Another connection, which changes nothing and fails where the database is busy. It holds what every
/// call asks for, and little besides.
fn reader(file: &Path) -> Result<Connection> {
    let connection = connect(file)?;
    connection.pragma_update(None, "query_only", true)?;
    connection.pragma_update(None, "cache_size", READER_CACHE)?;
    connection.busy_timeout(Duration::ZERO)?;
    Ok(connection)
}

/// Waits for a database that is busy for another process; false when that took too long.
#[must_use]
pub fn wait_a_moment(attempt: i32) -> bool {
    let waits = [100, 200, 400];
    usize::try_from(attempt)
        .ok()
        .and_then(|attempt| waits.get(attempt))
        .is_some_and(|milliseconds| {
            Clock::SYSTEM.sleep(timings::milliseconds(*milliseconds));
            true
        })
}

fn keep_private(data: &Root) -> Result<(), Error> {
    let mut ends = ENDS.into_iter();
    Ok(ends.try_for_each(|end| data.keep_private(&format!("{FILE_NAME}{end}")))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::on_each_database;

    #[test]
    fn who_lies_in_another_volume_is_counted() {
        on_each_database(|registry| {
            let place = |tenant: &str, volume: &str| {
                let row =
                    "INSERT INTO placements (home, volume, moves, placed_at) VALUES (?1, ?2, 0, 7)";
                let placed = registry.run(row, [tenant, volume]);
                placed.expect("placed");
                registry.tenants_in_other_volumes().expect("counted")
            };
            assert_eq!(place("users/ada", FIRST_VOLUME), 0);
            assert_eq!(place("users/bob", "volume-2"), 1);
            assert_eq!(place("groups/c", "volume-3"), 2);
        });
    }
}
