//! Migrations: applied in order at start, never edited afterwards.

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use sha2::{Digest, Sha256};

use super::RegistryError;

const MIGRATIONS: &[&str] = &[
    include_str!("../../../migrations/0001_registry.sql"),
    include_str!("../../../migrations/0002_links.sql"),
    include_str!("../../../migrations/0003_groups.sql"),
    include_str!("../../../migrations/0004_published.sql"),
    include_str!("../../../migrations/0005_statements.sql"),
    include_str!("../../../migrations/0006_opened.sql"),
    include_str!("../../../migrations/0007_pepper.sql"),
    include_str!("../../../migrations/0008_attachments.sql"),
    include_str!("../../../migrations/0009_users.sql"),
    include_str!("../../../migrations/0010_working_directories.sql"),
    include_str!("../../../migrations/0011_file_metadata.sql"),
    include_str!("../../../migrations/0012_sign_in.sql"),
    include_str!("../../../migrations/0013_webdav.sql"),
    include_str!("../../../migrations/0014_resumable_uploads.sql"),
    include_str!("../../../migrations/0015_administration.sql"),
    include_str!("../../../migrations/0016_bin.sql"),
    include_str!("../../../migrations/0017_intents.sql"),
];

/// Applies what is missing, and refuses a registry whose past differs from this program's.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), RegistryError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS migrations (number INTEGER PRIMARY KEY, hash TEXT NOT NULL)",
    )?;
    let applied: i64 =
        transaction.query_row("SELECT count(*) FROM migrations", [], |row| row.get(0))?;
    let known = MIGRATIONS.len() as i64;
    if applied > known {
        return Err(RegistryError::Newer {
            found: applied,
            known,
        });
    }
    for (number, text) in (1_i64..).zip(MIGRATIONS) {
        let hash = hex::encode(Sha256::digest(text));
        let recorded: Option<String> = transaction
            .query_row(
                "SELECT hash FROM migrations WHERE number = ?1",
                [number],
                |row| row.get(0),
            )
            .optional()?;
        match recorded {
            Some(recorded) if recorded == hash => {}
            Some(_) => return Err(RegistryError::Drift { number }),
            None => {
                transaction.execute_batch(text)?;
                transaction.execute(
                    "INSERT INTO migrations (number, hash) VALUES (?1, ?2)",
                    (number, hash),
                )?;
            }
        }
    }
    transaction.commit()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_start_changes_nothing() {
        let mut connection = Connection::open_in_memory().expect("memory");
        migrate(&mut connection).expect("first");
        migrate(&mut connection).expect("second");
    }

    #[test]
    fn a_changed_past_is_refused() {
        let mut connection = Connection::open_in_memory().expect("memory");
        migrate(&mut connection).expect("first");
        connection
            .execute("UPDATE migrations SET hash = 'x'", [])
            .expect("update");
        assert!(matches!(
            migrate(&mut connection),
            Err(RegistryError::Drift { number: 1 })
        ));
    }

    #[test]
    fn rows_of_the_original_are_kept() {
        let mut connection = Connection::open_in_memory().expect("memory");
        connection
            .execute_batch(
                "CREATE TABLE file_ownership (id INTEGER PRIMARY KEY AUTOINCREMENT, group_id TEXT NOT NULL,
                 file_path TEXT NOT NULL, owner_id TEXT NOT NULL, write_access TEXT NOT NULL,
                 created_at TIMESTAMP, updated_at TIMESTAMP, UNIQUE(group_id, file_path));
                 INSERT INTO file_ownership (group_id, file_path, owner_id, write_access)
                 VALUES ('g', 'a.md', 'alice', 'owner');",
            )
            .expect("an original database");
        migrate(&mut connection).expect("adopt");
        let owner: String = connection
            .query_row("SELECT owner_id FROM file_ownership", [], |row| row.get(0))
            .expect("row");
        assert_eq!(owner, "alice");
    }
}
