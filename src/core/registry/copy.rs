//! How the rows of a registry come into another one, as from a file into PostgreSQL.
//!
//! Rows are read in the order of their keys, a page at a time, on both sides: what was copied is then
//! compared row by row, before the transaction that wrote it ends.

use super::database::{
    Database, DatabaseError, FromValue, Statements, ToValue, Transaction, Value,
};
use super::{Registry, RegistryError, schema};
use fileshed_types::diagnostics;

/// Rows that are held at once.
const PAGE: i64 = 1000;

/// A table, with what finds and orders its rows.
struct Table {
    name: &'static str,
    key: &'static [&'static str],
    /// Whether `rowid` says in which order its rows came.
    is_ordered: bool,
    /// The column that the database numbers by itself.
    numbered: Option<&'static str>,
}

const fn table(name: &'static str, key: &'static [&'static str]) -> Table {
    Table {
        name,
        key,
        is_ordered: false,
        numbered: None,
    }
}

const fn numbered(name: &'static str, key: &'static [&'static str; 1]) -> Table {
    Table {
        name,
        key,
        is_ordered: false,
        numbered: Some(key[0]),
    }
}

const fn ordered(name: &'static str, key: &'static [&'static str]) -> Table {
    Table {
        name,
        key,
        is_ordered: true,
        numbered: Some("rowid"),
    }
}

const TABLES: [Table; 28] = [
    table("attachments", &["home", "chat", "id"]),
    numbered("bin", &["number"]),
    table("client_locks", &["token"]),
    table(
        "dead_properties",
        &["home", "zone", "path", "namespace", "name"],
    ),
    table("ended_users", &["user_id"]),
    table("file_metadata", &["home", "zone", "directory", "name"]),
    numbered("file_ownership", &["id"]),
    table("group_sightings", &["group_id", "user_id"]),
    numbered("intents", &["id"]),
    table("last_calls", &["home"]),
    ordered("links", &["id"]),
    table("local_group_members", &["group_id", "user_id"]),
    table("local_groups", &["id"]),
    table("locks", &["home", "zone", "path"]),
    numbered("occupants", &["id"]),
    table("page_sessions", &["digest"]),
    table("pepper", &["id"]),
    table("placements", &["home"]),
    ordered("published", &["home", "id"]),
    table("resumable_uploads", &["id"]),
    table("sign_in_links", &["digest"]),
    numbered("statements", &["id"]),
    table("tenant_quotas", &["home"]),
    table("tokens", &["id"]),
    table("usage", &["home", "zone"]),
    table("users", &["id"]),
    table("volumes", &["name"]),
    table("working_directories", &["home", "chat"]),
];

/// How many rows of a table were copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopiedTable {
    /// The table.
    pub name: &'static str,
    /// Its rows.
    pub rows: u64,
}

/// A value that outlives its row.
#[derive(Clone, Debug, PartialEq, Eq)]
enum OwnedValue {
    Null,
    Integer(i64),
    Text(String),
    Bytes(Vec<u8>),
}

impl FromValue for OwnedValue {
    fn from_value(value: Value<'_>) -> Option<Self> {
        Some(match value {
            Value::Null => Self::Null,
            Value::Integer(number) => Self::Integer(number),
            Value::Text(text) => Self::Text(text.to_owned()),
            Value::Bytes(bytes) => Self::Bytes(bytes.to_owned()),
        })
    }
}

impl ToValue for OwnedValue {
    fn to_value(&self) -> Value<'_> {
        match self {
            Self::Null => Value::Null,
            Self::Integer(number) => Value::Integer(*number),
            Self::Text(text) => Value::Text(text),
            Self::Bytes(bytes) => Value::Bytes(bytes),
        }
    }
}

type OwnedRow = Vec<OwnedValue>;

impl Registry {
    /// Copies every row into a registry that has none, and compares what is there then, row by row.
    /// Nobody may use either of them.
    pub fn copy_to(&self, target: &Self) -> Result<Vec<CopiedTable>, CopyError> {
        schema::expect_known(&self.database)?;
        let source = self.connection()?;
        target.transact(&["migrations"], |transaction| {
            for table in &TABLES {
                let there: bool = transaction
                    .value(&format!("SELECT EXISTS (SELECT 1 FROM {})", table.name), ())?;
                if there {
                    return Err(CopyError::NotEmpty { table: table.name });
                }
            }
            let copied = TABLES.iter().map(|table| {
                let columns = table.columns(&source, &self.database)?;
                let rows = table.copy(&columns, &source, transaction)?;
                table.compare(&columns, &source, transaction)?;
                if matches!(target.database, Database::Postgres(_)) {
                    table.number_on(transaction)?;
                }
                Ok(CopiedTable {
                    name: table.name,
                    rows,
                })
            });
            copied.collect()
        })
    }
}

impl Table {
    /// All columns, in an order that both databases have.
    fn columns(
        &self,
        source: &impl Statements,
        database: &Database,
    ) -> Result<Vec<String>, DatabaseError> {
        let select = match database {
            Database::Sqlite { .. } => "SELECT name FROM pragma_table_info(?1) ORDER BY name",
            Database::Postgres(_) => {
                "SELECT CAST(column_name AS TEXT) FROM information_schema.columns
                 WHERE table_schema = 'fileshed' AND table_name = ?1 AND column_name <> 'rowid'
                 ORDER BY 1"
            }
        };
        let mut columns: Vec<String> = source.all(select, [self.name], |row| row.get(0))?;
        if self.is_ordered {
            columns.push("rowid".to_owned());
        }
        Ok(columns)
    }

    fn copy(
        &self,
        columns: &[String],
        source: &impl Statements,
        target: &Transaction<'_>,
    ) -> Result<u64, DatabaseError> {
        let insert = format!(
            "INSERT INTO {} ({}) VALUES ({})",
            self.name,
            columns.join(", "),
            places(columns.len())
        );
        let (mut pages, mut rows) = (Pages::of(self, columns), 0);
        loop {
            let page = pages.next(source)?;
            for row in &page {
                let values: Vec<Value<'_>> = row.iter().map(OwnedValue::to_value).collect();
                rows += target.execute(&insert, values.as_slice())?;
            }
            if page.is_empty() {
                return Ok(rows);
            }
        }
    }

    fn compare(
        &self,
        columns: &[String],
        source: &impl Statements,
        target: &Transaction<'_>,
    ) -> Result<(), CopyError> {
        let (mut read, mut written) = (Pages::of(self, columns), Pages::of(self, columns));
        loop {
            let page = read.next(source)?;
            if page != written.next(target)? {
                return Err(CopyError::Different { table: self.name });
            }
            if page.is_empty() {
                return Ok(());
            }
        }
    }

    /// Lets PostgreSQL go on numbering after what was copied.
    fn number_on(&self, target: &Transaction<'_>) -> Result<(), DatabaseError> {
        let Some(column) = self.numbered else {
            return Ok(());
        };
        let name = self.name;
        target.batch(&format!(
            "SELECT setval(pg_get_serial_sequence('{name}', '{column}'),
             (SELECT coalesce(max({column}), 0) + 1 FROM {name}), false)"
        ))
    }
}

/// All rows of a table in the order of their keys, a page at a time.
struct Pages<'t> {
    table: &'t Table,
    columns: &'t [String],
    /// The key of the last row; none before the first.
    last: OwnedRow,
    is_over: bool,
}

impl<'t> Pages<'t> {
    fn of(table: &'t Table, columns: &'t [String]) -> Self {
        Self {
            table,
            columns,
            last: OwnedRow::new(),
            is_over: false,
        }
    }

    /// The next rows; none at the end.
    fn next(&mut self, from: &impl Statements) -> Result<Vec<OwnedRow>, DatabaseError> {
        if self.is_over {
            return Ok(Vec::new());
        }
        let key = self.table.key.join(", ");
        let after = match self.last.len() {
            0 => String::new(),
            count => format!("WHERE ({key}) > ({})", places(count)),
        };
        let select = format!(
            "SELECT {} FROM {} {after} ORDER BY {key} LIMIT {PAGE}",
            self.columns.join(", "),
            self.table.name
        );
        let values: Vec<Value<'_>> = self.last.iter().map(OwnedValue::to_value).collect();
        let page: Vec<OwnedRow> = from.all(&select, values.as_slice(), |row| {
            (0..self.columns.len())
                .map(|place| row.get(place))
                .collect()
        })?;
        match page.last() {
            Some(row) => self.last = self.key_of(row),
            None => self.is_over = true,
        }
        Ok(page)
    }

    fn key_of(&self, row: &OwnedRow) -> OwnedRow {
        let place = |key: &&str| self.columns.iter().position(|column| column == key);
        let places = self.table.key.iter().filter_map(place);
        places.map(|place| row[place].clone()).collect()
    }
}

/// The places of so many values in a statement.
fn places(count: usize) -> String {
    let places: Vec<String> = (1..=count).map(|place| format!("?{place}")).collect();
    places.join(", ")
}

diagnostics! {
    /// A registry was not copied.
    #[derive(Debug, thiserror::Error)]
    pub enum CopyError {
        /// There would be rows of two registries.
        #[error("the registry to copy to is not empty: `{table}` has rows")]
        NotEmpty {
            /// A table that has some.
            table: &'static str = "tokens",
        } => {
            code: DbError,
            hint: "nothing was copied; name a database without a registry, or remove the schema `fileshed` \
                from it",
        },
        /// What was written is not what was read.
        #[error("`{table}` differs after it was copied")]
        Different {
            /// Which table.
            table: &'static str = "tokens",
        } => {
            code: DbError,
            hint: "nothing was copied; stop whatever changes one of the registries, and repeat the call",
        },
        /// One of the databases failed.
        #[error(transparent)]
        Registry(#[from] error: RegistryError) => { same_as: error },
    }
}

impl From<DatabaseError> for CopyError {
    fn from(error: DatabaseError) -> Self {
        Self::Registry(error.into())
    }
}

#[cfg(test)]
mod tests {
    use fileshed_types::{Clock, Scope, UserId};

    use super::*;
    use crate::schema::OF_POSTGRES_ALONE;
    use crate::testing::{in_a_file, on_each_database};
    use crate::{LinkRow, Lock, Ownership as _, Record, Tokens};
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
            path: "a.md".to_owned(),
            user: "alice".to_owned(),
            chat: String::new(),
            working_copy: "w".to_owned(),
            opened_at: 3,
            opened: Some([7; 32]),
        };
        assert!(
            registry
                .take_lock("users/a", "storage", &lock)
                .expect("taken")
        );
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
            };
            assert!(registry.add_link(&link, 10).expect("added"));
        }
        for number in 0..2500 {
            let record = Record {
                path: format!("d/{number}"),
                owner: "alice".to_owned(),
                mode: WriteMode::Owner,
            };
            registry.enter("g", &record).expect("entered");
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
            // What comes afterwards has numbers of its own.
            let record = Record {
                path: "new".to_owned(),
                owner: "alice".to_owned(),
                mode: WriteMode::Group,
            };
            target.enter("h", &record).expect("entered");
            let (_directory, again) = in_a_file();
            target.copy_to(&again).expect("copied back");
            looks_the_same(&source, &again);
            let full = source.copy_to(target);
            assert!(matches!(full, Err(CopyError::NotEmpty { .. })), "{full:?}");
        });
    }

    #[test]
    fn every_table_is_copied_in_the_order_of_its_key() {
        on_each_database(|registry| {
            let connection = registry.connection().expect("a connection");
            let select = match registry.database {
                Database::Sqlite { .. } => {
                    "SELECT name FROM sqlite_master WHERE type = 'table'
                     AND name NOT LIKE 'sqlite%' AND name NOT IN ('migrations', 'compatibility') ORDER BY name"
                }
                Database::Postgres(_) => {
                    "SELECT CAST(tablename AS TEXT) FROM pg_catalog.pg_tables
                     WHERE schemaname = 'fileshed' AND tablename NOT IN ('migrations', 'compatibility') ORDER BY 1"
                }
            };
            let mut there: Vec<String> = connection
                .all(select, (), |row| row.get(0))
                .expect("tables");
            there.retain(|name| !OF_POSTGRES_ALONE.contains(&name.as_str()));
            assert_eq!(TABLES.map(|table| table.name.to_owned()).to_vec(), there);
        });
    }
}
