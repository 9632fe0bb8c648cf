//! Rows as structs: one definition gives the fields, the columns, how a row is read and how it is added.

use super::database::{DatabaseError, Statements, Value};

/// Defines a struct whose fields are columns, with `COLUMNS`, their number, `read` and `insert`.
macro_rules! row {
    (
        $(#[$meta:meta])*
        pub struct $name:ident {
            $(#[$doc0:meta])* $field0:ident: $type0:ty = $column0:literal,
            $($(#[$doc:meta])* $field:ident: $type:ty = $column:literal,)+
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $(#[$doc0])* pub $field0: $type0,
            $($(#[$doc])* pub $field: $type,)+
        }

        /// The columns of its fields.
        pub(super) const COLUMNS: &str = concat!($column0 $(, ", ", $column)+);

        /// The number of [`COLUMNS`].
        pub(super) const COUNT: usize = [$column0 $(, $column)+].len();

        impl $name {
            /// Reads [`COLUMNS`] from the beginning of a row.
            pub(super) fn read(
                row: &$crate::database::Row<'_>,
            ) -> Result<Self, $crate::database::DatabaseError> {
                let mut columns = 0_usize..;
                let mut next = move || columns.next().unwrap_or_default();
                Ok(Self { $field0: row.get(next())?, $($field: row.get(next())?,)+ })
            }

            /// Adds it to a table, with the values of `more` columns.
            pub(super) fn insert(
                &self,
                statements: &impl $crate::database::Statements,
                table: &str,
                more: &[(&str, $crate::database::Value<'_>)],
                conflict: &str,
            ) -> Result<u64, $crate::database::DatabaseError> {
                use $crate::database::ToValue as _;
                let own: [_; COUNT] =
                    [($column0, self.$field0.to_value()) $(, ($column, self.$field.to_value()))+];
                $crate::rows::insert(statements, table, &[&own, more].concat(), conflict)
            }
        }
    };
}

pub(super) use row;

/// The statement that adds a row with these columns to a table.
pub(super) fn insertion(table: &str, names: &[&str], conflict: &str) -> String {
    let places: Vec<String> = (1..=names.len()).map(|place| format!("?{place}")).collect();
    let (names, places) = (names.join(", "), places.join(", "));
    format!("INSERT INTO {table} ({names}) VALUES ({places}) {conflict}")
}

/// Adds a row to a table; returns the number of rows that were added.
pub(super) fn insert(
    statements: &impl Statements,
    table: &str,
    row: &[(&str, Value<'_>)],
    conflict: &str,
) -> Result<u64, DatabaseError> {
    let (names, values): (Vec<&str>, Vec<Value<'_>>) = row.iter().copied().unzip();
    statements.execute(&insertion(table, &names, conflict), values.as_slice())
}
