//! Copies the rows of a registry into another one, as from a file into PostgreSQL.
//!
//! Each table is read back and compared before the transaction that wrote it ends.

use super::database::{Connection, Database, Executor, OwnedValue, Row, Statements, Value};
use super::rows::insertion;
use super::{Registry, RegistryError, Result, schema};
use fileshed_types::diagnostics;

/// Tables whose `rowid` says in which order their rows came.
const ORDERED: [&str; 2] = ["links", "published"];

/// Number of rows that were copied from a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedTable {
    /// The table.
    pub name: String,
    /// Its rows.
    pub rows: u64,
}

impl Registry {
    /// Copies every row into a registry that has none, and compares what is there then.
    /// Nobody may use either of them.
    pub fn copy_to(&self, target: &Self) -> Result<Vec<CopiedTable>, CopyError> {
        schema::expect_known(self)?;
        let source = self.connection()?;
        let tables: Vec<String> = source.all(self.database.tables(), ())?;
        let copied = tables.into_iter().filter(|name| schema::is_copied(name));
        target.transact(&["migrations"], |transaction| {
            copied
                .map(|name| {
                    let rows = self.copy_table(&name, &source, transaction)?;
                    if matches!(target.database, Database::Postgres(_)) {
                        number_on(&name, transaction)?;
                    }
                    Ok(CopiedTable { name, rows })
                })
                .collect()
        })
    }

    fn copy_table(
        &self,
        table: &str,
        source: &Connection<'_>,
        target: &Executor<'_>,
    ) -> Result<u64, CopyError> {
        let mut columns: Vec<String> = source.all(self.database.columns(), [table])?;
        if ORDERED.contains(&table) {
            columns.push("rowid".to_owned());
        }
        let names = columns.join(", ");
        let select = format!("SELECT {names} FROM {table}");
        if !rows(target, &select)?.is_empty() {
            return Err(CopyError::NotEmpty(table.to_owned()));
        }
        let read = rows(source, &select)?;
        let insert = insertion(table, &names, columns.len(), "");
        for row in &read {
            let values: Vec<Value<'_>> = row.iter().map(Value::from).collect();
            target.run(&insert, values.as_slice())?;
        }
        if rows(target, &select)? != read {
            return Err(CopyError::Different(table.to_owned()));
        }
        Ok(read.len() as u64)
    }
}

impl Database {
    /// The statement that lists all tables.
    pub(super) fn tables(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => {
                "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'
                 ORDER BY name"
            }
            Self::Postgres(_) => {
                "SELECT CAST(tablename AS TEXT) FROM pg_catalog.pg_tables
                 WHERE schemaname = 'fileshed' ORDER BY 1"
            }
        }
    }

    /// The statement that lists the columns of a table, but for `rowid`.
    fn columns(&self) -> &'static str {
        match self {
            Self::Sqlite { .. } => "SELECT name FROM pragma_table_info(?1)",
            Self::Postgres(_) => {
                "SELECT CAST(column_name AS TEXT) FROM information_schema.columns
                 WHERE table_schema = 'fileshed' AND table_name = ?1 AND column_name <> 'rowid'"
            }
        }
    }
}

/// Returns all rows, in an order that both databases have.
fn rows(from: &impl Statements, select: &str) -> Result<Vec<Vec<OwnedValue>>> {
    let rows = from.query(select, ())?.into_iter();
    let mut rows: Vec<_> = rows.map(Row::rest).collect();
    rows.sort_by_cached_key(|row| format!("{row:?}"));
    Ok(rows)
}

/// Lets PostgreSQL go on numbering after what was copied.
fn number_on(table: &str, target: &Executor<'_>) -> Result<()> {
    let numbered = "SELECT CAST(column_name AS TEXT) FROM information_schema.columns
         WHERE table_schema = 'fileshed' AND table_name = ?1 AND is_identity = 'YES'";
    let numbered: Vec<String> = target.all(numbered, [table])?;
    for column in numbered {
        target.batch(&format!(
            "SELECT setval(pg_get_serial_sequence('{table}', '{column}'),
             (SELECT coalesce(max({column}), 0) + 1 FROM {table}), false)"
        ))?;
    }
    Ok(())
}

diagnostics! {
    /// A registry was not copied.
    #[derive(Debug, thiserror::Error)]
    pub enum CopyError {
        /// There would be rows of two registries.
        #[error("the registry to copy to is not empty: `{0}` has rows")]
        NotEmpty(table: String = "tokens".to_owned()) => {
            code: DbError,
            hint: "nothing was copied; name a database without a registry, or remove the schema `fileshed` \
                from it",
        },
        /// The rows written differ from the rows read.
        #[error("`{0}` differs after it was copied")]
        Different(table: String = "tokens".to_owned()) => {
            code: DbError,
            hint: "nothing was copied; stop all servers that use one of the registries, and repeat \
                the call",
        },
        /// One of the databases failed.
        #[error(transparent)]
        Registry(#[from] error: RegistryError) => { same_as: error },
    }
}

#[cfg(test)]
mod tests {
    use fileshed_types::{Clock, Scope, UserId};

    use super::*;
    use crate::tests::{in_a_file, on_each_database};
    use crate::{LinkRow, Lock, Record, Tokens};
    use fileshed_types::settings::WriteMode;

    fn furnish(registry: &Registry) {
        let clock = Clock::default();
        let alice = UserId::parse("alice").expect("a name");
        let tokens = Tokens::new(registry, &clock);
        tokens
            .create(&alice, Scope::Write, None, "ci")
            .expect("made");
        registry.meet("alice", "Älice", 1).expect("met");
        let lock = Lock {
            tenant: "users/a".to_owned(),
            zone: "storage".to_owned(),
            path: "a.md".to_owned(),
            user: "alice".to_owned(),
            chat: String::new(),
            working_copy: "w".to_owned(),
            opened_at: 3,
            opened: Some([7; 32]),
        };
        assert!(registry.take_lock(&lock).expect("taken"));
        for (id, at) in [("z", 5), ("a", 5), ("m", 5)] {
            let link = LinkRow {
                id: id.to_owned(),
                tenant: "users/a".to_owned(),
                user: None,
                chat: "default".to_owned(),
                zone: "storage".to_owned(),
                group: None,
                path: String::new(),
                purpose: "download".to_owned(),
                created_at: at,
                expires_at: 100,
                password: Some("$argon2id$".to_owned()),
                downloads_max: Some(2),
                downloads: 1,
                signed_until: None,
            };
            assert!(registry.add_link(&link, 10).expect("added"));
        }
        for number in 0..2500 {
            let record = Record {
                path: format!("d/{number}"),
                owner: "alice".to_owned(),
                mode: WriteMode::Owner,
            };
            registry.enter_record("g", &record).expect("entered");
        }
    }

    fn looks_the_same(one: &Registry, other: &Registry) {
        let links = |registry: &Registry| registry.links("users/a", 0).expect("links");
        assert_eq!(links(one), links(other));
        assert_eq!(
            links(one).iter().map(|link| &*link.id).collect::<Vec<_>>(),
            ["z", "a", "m"]
        );
        let records = |registry: &Registry| registry.records("g").expect("records");
        assert_eq!(records(one), records(other));
        let locks = |registry: &Registry| registry.locks("users/a", "storage").expect("locks");
        assert_eq!(locks(one), locks(other));
        assert_eq!(
            one.standing("alice").expect("asked"),
            other.standing("alice").expect("asked")
        );
    }

    #[test]
    fn a_registry_moves_there_and_back_with_every_row() {
        on_each_database(|target| {
            let (_directory, source) = in_a_file();
            furnish(&source);
            let copied = source.copy_to(target).expect("copied");
            let rows = |name| {
                copied
                    .iter()
                    .find(|table| table.name == name)
                    .map(|table| table.rows)
            };
            assert_eq!(
                (rows("file_ownership"), rows("links")),
                (Some(2500), Some(3))
            );
            looks_the_same(&source, target);
            // Later rows get new numbers.
            let record = Record {
                path: "new".to_owned(),
                owner: "alice".to_owned(),
                mode: WriteMode::Group,
            };
            target.enter_record("h", &record).expect("entered");
            let (_directory, again) = in_a_file();
            target.copy_to(&again).expect("copied back");
            looks_the_same(&source, &again);
            let full = source.copy_to(target);
            assert!(matches!(full, Err(CopyError::NotEmpty { .. })), "{full:?}");
        });
    }
}
