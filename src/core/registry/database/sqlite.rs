//! Statements on SQLite.

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql, params_from_iter};

use super::DatabaseError;
use super::value::{Row, Value};

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

pub(super) fn execute(
    connection: &Connection,
    sql: &str,
    values: &[Value<'_>],
) -> Result<u64, DatabaseError> {
    let mut statement = connection.prepare_cached(sql)?;
    Ok(statement.execute(params_from_iter(values))? as u64)
}

/// Reads rows until `read` says that it has enough.
pub(super) fn query(
    connection: &Connection,
    sql: &str,
    values: &[Value<'_>],
    read: &mut dyn FnMut(&Row<'_>) -> Result<bool, DatabaseError>,
) -> Result<(), DatabaseError> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut rows = statement.query(params_from_iter(values))?;
    while let Some(row) = rows.next()? {
        if !read(&Row::Sqlite(row))? {
            // A statement that changes what it finds is done only when it is asked for no more.
            while rows.next()?.is_some() {}
            break;
        }
    }
    Ok(())
}
