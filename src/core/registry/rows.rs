//! Rows as structs: one definition gives the fields, the columns, how a row is read and how it is added.

use super::Result;
use super::database::{FromRow, Statements, ToRow};

/// A struct whose fields are the columns of a table.
pub(super) trait Entity: FromRow + ToRow {
    /// The table.
    const TABLE: &str;
    /// The columns, in the order of the fields.
    const COLUMNS: &[&str];

    /// Returns the statement for the rows that a condition finds, which begins with `WHERE` or `ORDER BY`.
    fn select(condition: &str) -> String {
        let (columns, table) = (Self::COLUMNS.join(", "), Self::TABLE);
        format!("SELECT {columns} FROM {table} {condition}")
    }

    /// Returns all rows that a condition finds.
    fn all(statements: &impl Statements, condition: &str, values: impl ToRow) -> Result<Vec<Self>> {
        statements.all(&Self::select(condition), values)
    }

    /// Returns the first row that a condition finds.
    fn first(
        statements: &impl Statements,
        condition: &str,
        values: impl ToRow,
    ) -> Result<Option<Self>> {
        statements.first(&Self::select(condition), values)
    }

    /// Adds a row, with the values of `more` columns; returns `true` if it was added.
    fn insert(
        &self,
        statements: &impl Statements,
        (names, more): (&[&'static str], impl ToRow),
        conflict: &str,
    ) -> Result<bool> {
        let columns = [Self::COLUMNS, names].concat().join(", ");
        let values = (self, more);
        let values = values.values();
        let insert = insertion(Self::TABLE, &columns, values.len(), conflict);
        statements.changes(&insert, values.as_slice())
    }
}

/// A row that has the columns of its struct alone.
pub(super) const NO_MORE: (&[&str], ()) = (&[], ());

/// Defines a struct whose fields are columns of a table, or expressions if rows are only read.
macro_rules! row {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $table:literal {
            $($(#[$doc:meta])* $field:ident: $type:ty = $column:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)+
        }

        impl $crate::rows::Entity for $name {
            const TABLE: &str = $table;
            const COLUMNS: &[&str] = &[$($column),+];
        }

        impl $crate::database::ToRow for $name {
            fn add_to<'v>(&'v self, row: &mut Vec<$crate::database::Value<'v>>) {
                $(self.$field.add_to(row);)+
            }
        }

        impl $crate::database::FromRow for $name {
            fn read(row: &mut $crate::database::Row) -> $crate::Result<Self> {
                Ok(Self { $($field: row.next()?,)+ })
            }
        }
    };
}

pub(super) use row;

/// Returns the places of so many values of a statement, from this one on.
pub(super) fn places(first: usize, count: usize) -> String {
    let places = (first..first + count).map(|place| format!("?{place}"));
    places.collect::<Vec<_>>().join(", ")
}

/// Returns the statement that adds a row with so many columns to a table.
pub(super) fn insertion(table: &str, columns: &str, count: usize, conflict: &str) -> String {
    let places = places(1, count);
    format!("INSERT INTO {table} ({columns}) VALUES ({places}) {conflict}")
}
