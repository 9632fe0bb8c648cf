//! Values on their way into statements and out of rows.
//!
//! Both databases hold whole numbers, texts and bytes here, and nothing else: what is true or false is
//! 1 or 0, moments are seconds.

use rusqlite::types::ValueRef;

use super::{DatabaseError, RegistryError};
use fileshed_storage::Totals;

/// One value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'v> {
    Null,
    Integer(i64),
    Text(&'v str),
    Bytes(&'v [u8]),
}

/// What a statement can be given.
pub(crate) trait ToValue {
    fn to_value(&self) -> Value<'_>;
}

/// What can be read from a column.
pub(crate) trait FromValue: Sized {
    /// Nothing where the column holds something else.
    fn from_value(value: Value<'_>) -> Option<Self>;
}

impl ToValue for Value<'_> {
    fn to_value(&self) -> Value<'_> {
        *self
    }
}

impl ToValue for i64 {
    fn to_value(&self) -> Value<'_> {
        Value::Integer(*self)
    }
}

impl ToValue for u64 {
    fn to_value(&self) -> Value<'_> {
        Value::Integer(*self as i64)
    }
}

impl ToValue for u32 {
    fn to_value(&self) -> Value<'_> {
        Value::Integer(i64::from(*self))
    }
}

impl ToValue for bool {
    fn to_value(&self) -> Value<'_> {
        Value::Integer(i64::from(*self))
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value<'_> {
        Value::Text(self)
    }
}

impl ToValue for Vec<u8> {
    fn to_value(&self) -> Value<'_> {
        Value::Bytes(self)
    }
}

impl<const BYTES: usize> ToValue for [u8; BYTES] {
    fn to_value(&self) -> Value<'_> {
        Value::Bytes(self)
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value<'_> {
        self.as_ref().map_or(Value::Null, T::to_value)
    }
}

impl<T: ToValue + ?Sized> ToValue for &T {
    fn to_value(&self) -> Value<'_> {
        T::to_value(self)
    }
}

impl FromValue for i64 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Integer(number) => Some(number),
            _ => None,
        }
    }
}

impl FromValue for u64 {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).map(|number| number as Self)
    }
}

impl FromValue for bool {
    fn from_value(value: Value<'_>) -> Option<Self> {
        i64::from_value(value).map(|number| number != 0)
    }
}

impl FromValue for String {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Text(text) => Some(text.to_owned()),
            _ => None,
        }
    }
}

impl FromValue for Vec<u8> {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => Some(bytes.to_owned()),
            _ => None,
        }
    }
}

impl<const BYTES: usize> FromValue for [u8; BYTES] {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Bytes(bytes) => bytes.try_into().ok(),
            _ => None,
        }
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value<'_>) -> Option<Self> {
        match value {
            Value::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

/// A value that is read from the next columns of a row.
pub(crate) trait FromRow: Sized {
    fn read(row: &mut Row<'_>) -> Result<Self, RegistryError>;
}

impl<T: FromValue> FromRow for T {
    fn read(row: &mut Row<'_>) -> Result<Self, RegistryError> {
        row.column()
    }
}

/// A value that fills some columns of a row.
pub(crate) trait ToRow {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>);
}

impl<T: ToValue> ToRow for T {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        row.push(self.to_value());
    }
}

impl FromRow for Totals {
    fn read(row: &mut Row<'_>) -> Result<Self, RegistryError> {
        let (bytes, files) = row.next()?;
        Ok(Self { bytes, files })
    }
}

impl ToRow for Totals {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        row.extend([self.bytes.to_value(), self.files.to_value()]);
    }
}

/// The values of one statement, in the order of their numbers.
pub(crate) trait Values {
    fn with<R>(&self, run: impl FnOnce(&[Value<'_>]) -> R) -> R;
}

impl Values for () {
    fn with<R>(&self, run: impl FnOnce(&[Value<'_>]) -> R) -> R {
        run(&[])
    }
}

impl<T: ToValue, const COUNT: usize> Values for [T; COUNT] {
    fn with<R>(&self, run: impl FnOnce(&[Value<'_>]) -> R) -> R {
        run(&self.each_ref().map(T::to_value))
    }
}

impl Values for &[Value<'_>] {
    fn with<R>(&self, run: impl FnOnce(&[Value<'_>]) -> R) -> R {
        run(self)
    }
}

macro_rules! tuples {
    ($(($($name:ident),+);)+) => {$(
        impl<$($name: ToValue),+> Values for ($($name,)+) {
            fn with<R>(&self, run: impl FnOnce(&[Value<'_>]) -> R) -> R {
                #[expect(non_snake_case, reason = "a value is named as its type")]
                let ($($name,)+) = self;
                run(&[$($name.to_value()),+])
            }
        }

        impl<$($name: FromRow),+> FromRow for ($($name,)+) {
            fn read(row: &mut Row<'_>) -> Result<Self, RegistryError> {
                Ok(($($name::read(row)?,)+))
            }
        }
    )+};
}

tuples! {
    (A, B);
    (A, B, C);
    (A, B, C, D);
    (A, B, C, D, E);
    (A, B, C, D, E, F);
    (A, B, C, D, E, F, G);
    (A, B, C, D, E, F, G, H);
}

/// A row that a statement found, and how far it is read.
pub(crate) struct Row<'r> {
    source: RowSource<'r>,
    next: usize,
}

enum RowSource<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r postgres::Row),
}

impl<'r> Row<'r> {
    pub(super) fn of_sqlite(row: &'r rusqlite::Row<'r>) -> Self {
        let source = RowSource::Sqlite(row);
        Self { source, next: 0 }
    }

    pub(super) fn of_postgres(row: &'r postgres::Row) -> Self {
        let source = RowSource::Postgres(row);
        Self { source, next: 0 }
    }

    /// Reads the next columns.
    pub(crate) fn next<T: FromRow>(&mut self) -> Result<T, RegistryError> {
        T::read(self)
    }

    /// Reads the next column.
    fn column<T: FromValue>(&mut self) -> Result<T, RegistryError> {
        let column = self.next;
        self.next += 1;
        let found = match self.source {
            RowSource::Sqlite(row) => match row.get_ref(column)? {
                ValueRef::Null => T::from_value(Value::Null),
                ValueRef::Integer(number) => T::from_value(Value::Integer(number)),
                ValueRef::Text(text) => std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| T::from_value(Value::Text(text))),
                ValueRef::Blob(bytes) => T::from_value(Value::Bytes(bytes)),
                ValueRef::Real(_) => None,
            },
            RowSource::Postgres(row) => {
                let value = row.try_get::<_, Value<'_>>(column);
                T::from_value(value.map_err(DatabaseError::from)?)
            }
        };
        Ok(found.ok_or(DatabaseError::Column { column })?)
    }
}
