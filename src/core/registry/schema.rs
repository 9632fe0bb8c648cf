//! Schema of the tables: migrations, a set for each database, of which each file is applied once.

use std::time::Duration;

use sha2::{Digest, Sha256};

use fileshed_types::{Clock, Timings};

use super::database::{Database, Executor, SCHEMA, Statements};
use super::{Registry, RegistryError, Result};

/// Lists the migrations of a database, by the names of their files.
macro_rules! migrations {
    ($database:literal: $($name:literal,)+) => {
        &[$(include_str!(concat!("../../../migrations/", $database, "/", $name, ".sql"))),+]
    };
}

/// The migrations of SQLite, from number 1.
const SQLITE: &[&str] = migrations! { "sqlite":
    "0001_registry", "0002_links", "0003_groups", "0004_published", "0005_statements",
    "0006_opened", "0007_pepper", "0008_attachments", "0009_users", "0010_working_directories",
    "0011_file_metadata", "0012_sign_in", "0013_webdav", "0014_resumable_uploads",
    "0015_administration", "0016_bin", "0017_intents", "0018_instances", "0019_terminal_hosts",
    "0020_volumes", "0021_undone", "0022_sign_in_rights", "0023_ended_users", "0024_upload_times",
    "0025_changes", "0026_link_terms", "0027_undone_changes",
};

/// The migrations of PostgreSQL. The first one makes what SQLite has after those before it.
const POSTGRES: &[&str] = migrations! { "postgres":
    "0017_registry", "0018_instances", "0019_terminal_hosts", "0020_volumes", "0021_undone",
    "0022_sign_in_rights", "0023_ended_users", "0024_upload_times", "0025_changes",
    "0026_link_terms", "0027_undone_changes",
};

/// Tables that record which instances live and which may write. If the registry is a file, files in the data
/// directory record this. They describe the present, so they are not copied with the rest.
const OF_POSTGRES_ALONE: [&str; 4] = [
    "instances",
    "terminal_hosts",
    "waiting_for_leases",
    "write_leases",
];

/// Returns `true` if the rows of a table belong to a copy of the registry.
pub(super) fn is_copied(table: &str) -> bool {
    !OF_POSTGRES_ALONE.contains(&table) && !["compatibility", "migrations"].contains(&table)
}

/// The number of the first migration of PostgreSQL.
const FIRST_OF_POSTGRES: i64 = 17;

/// Makes the place for the tables of PostgreSQL, unless it is there: not every role may make one.
fn make_schema(transaction: &Executor<'_>) -> Result<()> {
    let found = "SELECT count(*) FROM pg_catalog.pg_namespace WHERE nspname = ?1";
    if transaction.value::<i64>(found, [SCHEMA])? == 0 {
        transaction.batch(&format!("CREATE SCHEMA IF NOT EXISTS {SCHEMA}"))?;
    }
    Ok(())
}

/// Longest wait of a migration for a table that others use. Later statements queue behind it, so after this
/// time it gives up, lets them pass, and tries again.
const PATIENCE: &str = "SET LOCAL lock_timeout TO '2s'";
const PAUSE: Duration = Timings::STANDARD.registry.migration;
const ATTEMPTS: usize = 20;

/// With what a migration begins that takes something away. What follows is the number of the last
/// migration of the oldest servers that do not need it any more. All others only add, so that any server
/// may still work with what they make.
const CONTRACTS: &str = "-- Oldest server: ";

fn oldest_server(text: &str) -> Option<i64> {
    let number = text.strip_prefix(CONTRACTS)?.lines().next()?;
    number.trim().parse().ok()
}

/// The migrations of this program, and the number of the first one.
fn known(registry: &Registry) -> (i64, &'static [&'static str]) {
    match registry.database {
        Database::Sqlite { .. } => (1, SQLITE),
        Database::Postgres(_) => (FIRST_OF_POSTGRES, POSTGRES),
    }
}

/// Applies what is missing, and refuses a registry whose past differs from this program's, or that has
/// lost what this program needs. Others may use it meanwhile.
pub(super) fn migrate(registry: &Registry) -> Result<()> {
    let (first, texts) = known(registry);
    apply(registry, first, texts)
}

fn apply(registry: &Registry, first: i64, texts: &[&str]) -> Result<()> {
    for _ in 1..ATTEMPTS {
        match apply_at_once(registry, first, texts) {
            Err(error) if error.is_locked_out() => {
                Clock::SYSTEM.sleep(PAUSE);
            }
            applied => return applied,
        }
    }
    apply_at_once(registry, first, texts)
}

fn apply_at_once(registry: &Registry, first: i64, texts: &[&str]) -> Result<()> {
    let known = first + texts.len() as i64 - 1;
    registry.transact(&["migrations"], |transaction| {
        if matches!(registry.database, Database::Postgres(_)) {
            transaction.batch(PATIENCE)?;
            make_schema(transaction)?;
        }
        transaction.batch(
            "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, hash TEXT NOT NULL);
             CREATE TABLE IF NOT EXISTS compatibility
                 (migration INTEGER PRIMARY KEY, oldest_server INTEGER NOT NULL)",
        )?;
        let oldest = "SELECT coalesce(max(oldest_server), 0) FROM compatibility";
        let oldest: i64 = transaction.value(oldest, ())?;
        if oldest > known {
            let found = newest(transaction)?;
            return Err(RegistryError::Newer {
                found,
                oldest,
                known,
            });
        }
        for (number, text) in (first..).zip(texts) {
            let hash = hex::encode(Sha256::digest(text));
            let recorded = "SELECT hash FROM migrations WHERE number = ?1";
            let recorded: Option<String> = transaction.first(recorded, [number])?;
            match recorded {
                Some(recorded) if recorded == hash => {}
                Some(_) => return Err(RegistryError::Drift(number)),
                None => {
                    transaction.batch(text)?;
                    transaction.run(
                        "INSERT INTO migrations (number, hash) VALUES (?1, ?2)",
                        (number, hash),
                    )?;
                    if let Some(oldest) = oldest_server(text) {
                        transaction.run(
                            "INSERT INTO compatibility (migration, oldest_server) VALUES (?1, ?2)",
                            (number, oldest),
                        )?;
                    }
                }
            }
        }
        Ok(())
    })
}

/// Refuses a registry that has what this program does not know: for work that has to see all of it.
pub(super) fn expect_known(registry: &Registry) -> Result<()> {
    let (first, texts) = known(registry);
    let known = first + texts.len() as i64 - 1;
    let found = newest(registry)?;
    if found > known {
        return Err(RegistryError::Newer {
            found,
            oldest: found,
            known,
        });
    }
    Ok(())
}

fn newest(statements: &impl Statements) -> Result<i64> {
    statements.value("SELECT coalesce(max(number), 0) FROM migrations", ())
}

#[cfg(test)]
mod tests {
    mod compatible;
    mod expansion;

    use std::collections::BTreeMap;

    use fileshed_types::Mutex;
    use rusqlite::Connection;

    use super::*;
    use crate::Registry;
    use crate::tests::on_each_database;

    fn in_memory(connection: Connection) -> Registry {
        Registry::of(Database::Sqlite {
            reader: Mutex::new(Connection::open_in_memory().expect("memory")),
            connection: Mutex::new(connection),
            is_strict: false,
        })
    }

    #[test]
    fn a_second_start_changes_nothing() {
        on_each_database(|registry| migrate(registry).expect("second"));
    }

    #[test]
    fn a_changed_past_is_refused() {
        on_each_database(|registry| {
            let set = |sql| {
                let connection = registry.connection().expect("a connection");
                connection.execute(sql, ()).expect("changed");
            };
            set("UPDATE migrations SET hash = 'x' WHERE number = 17");
            let drift = migrate(registry);
            assert!(matches!(drift, Err(RegistryError::Drift(17))), "{drift:?}");
        });
    }

    #[test]
    fn rows_of_the_original_are_kept() {
        let connection = Connection::open_in_memory().expect("memory");
        connection
            .execute_batch(
                "CREATE TABLE file_ownership (id INTEGER PRIMARY KEY AUTOINCREMENT, group_id TEXT NOT NULL,
                 file_path TEXT NOT NULL, owner_id TEXT NOT NULL, write_access TEXT NOT NULL,
                 created_at TIMESTAMP, updated_at TIMESTAMP, UNIQUE(group_id, file_path));
                 INSERT INTO file_ownership (group_id, file_path, owner_id, write_access)
                 VALUES ('g', 'a.md', 'alice', 'owner');",
            )
            .expect("an original database");
        let registry = in_memory(connection);
        migrate(&registry).expect("adopt");
        let owner: String = registry
            .value("SELECT owner_id FROM file_ownership", ())
            .expect("row");
        assert_eq!(owner, "alice");
    }

    /// Columns of every table: name, whether it is always there, its place in the primary key.
    type Tables = BTreeMap<String, Vec<(String, bool, i64)>>;

    #[test]
    fn both_sets_of_migrations_make_the_same_tables() {
        let all: Mutex<Vec<Tables>> = Mutex::default();
        on_each_database(|registry| {
            let tables = match registry.database {
                Database::Sqlite { .. } => columns_of_sqlite(registry),
                Database::Postgres(_) => {
                    let mut tables = columns_of_postgres(registry);
                    for table in OF_POSTGRES_ALONE {
                        tables.remove(table).expect("a table of its own");
                    }
                    tables
                }
            };
            all.lock().push(tables);
        });
        let all = all.into_inner();
        assert!(all[0].len() > 20, "{all:?}");
        assert!(all.iter().all(|tables| tables == &all[0]), "{all:#?}");
    }

    fn columns_of_sqlite(registry: &Registry) -> Tables {
        columns(
            registry,
            "SELECT tables.name, columns.name, columns.\"notnull\" OR columns.pk > 0, columns.pk
             FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns
             WHERE tables.type = 'table' AND tables.name NOT LIKE 'sqlite%'
             ORDER BY tables.name, columns.name",
        )
    }

    fn columns_of_postgres(registry: &Registry) -> Tables {
        columns(
            registry,
            "SELECT CAST(c.table_name AS TEXT), CAST(c.column_name AS TEXT), c.is_nullable = 'NO',
             CAST(coalesce((SELECT k.ordinal_position FROM information_schema.key_column_usage k
                 JOIN information_schema.table_constraints t USING (constraint_schema, constraint_name)
                 WHERE t.constraint_type = 'PRIMARY KEY' AND k.table_schema = c.table_schema
                 AND k.table_name = c.table_name AND k.column_name = c.column_name), 0) AS BIGINT)
             FROM information_schema.columns c
             WHERE c.table_schema = 'fileshed' AND c.column_name <> 'rowid'
             ORDER BY CAST(c.table_name AS TEXT), CAST(c.column_name AS TEXT) COLLATE \"C\"",
        )
    }

    fn columns(registry: &Registry, select: &str) -> Tables {
        let rows: Vec<(String, (String, bool, i64))> = registry.all(select, ()).expect("columns");
        let mut tables = Tables::new();
        for (table, column) in rows {
            tables.entry(table).or_default().push(column);
        }
        tables
    }
}
