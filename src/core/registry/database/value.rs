//! Values on their way into statements and out of rows.
//!
//! Both databases hold whole numbers, texts and bytes here, and nothing else: what is true or false is
//! 1 or 0, moments are seconds.

use std::error::Error;
use std::iter::Peekable;

use jiff::Timestamp;
use postgres::types::private::BytesMut;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
pub(crate) use rusqlite::types::{Value as OwnedValue, ValueRef as Value};

use super::{RegistryError, Result};
use fileshed_storage::Totals;
use fileshed_types::settings::WriteMode;
use fileshed_types::{Role, Scope, UserId};

/// Values that fill some columns of a row or parameters of a statement, in their order.
pub(crate) trait ToRow {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>);

    /// Returns the values.
    fn values(&self) -> Vec<Value<'_>> {
        let mut values = Vec::new();
        self.add_to(&mut values);
        values
    }
}

/// A value that is read from the next columns of a row.
pub(crate) trait FromRow: Sized {
    fn read(row: &mut Row) -> Result<Self>;
}

/// Implements both traits for types of one column: the value that is written, and what is read from one.
macro_rules! column_types {
    ($($type:ty: |$own:ident| $written:expr, $value:pat => $read:expr;)+) => {$(
        impl ToRow for $type {
            fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
                let $own = self;
                row.push($written);
            }
        }

        impl FromRow for $type {
            fn read(row: &mut Row) -> Result<Self> {
                let read = match row.0.next() {
                    Some($value) => $read,
                    _ => None,
                };
                read.ok_or_else(unreadable)
            }
        }
    )+};
}

/// The failure of a column that holds something else than is read from it.
fn unreadable() -> RegistryError {
    RegistryError::failed("a column of a row cannot be read")
}

column_types! {
    i64: |number| Value::Integer(*number), OwnedValue::Integer(number) => Some(number);
    u64: |number| Value::Integer(*number as i64), OwnedValue::Integer(number) => Some(number as Self);
    u32: |number| Value::Integer((*number).into()), OwnedValue::Integer(number) => number.try_into().ok();
    bool: |is_true| Value::Integer((*is_true).into()), OwnedValue::Integer(number) => Some(number != 0);
    String: |text| text.as_str().into(), OwnedValue::Text(text) => Some(text);
    Vec<u8>: |bytes| bytes.as_slice().into(), OwnedValue::Blob(bytes) => Some(bytes);
    UserId: |user| user.as_str().into(), OwnedValue::Text(id) => Self::parse(&id).ok();
    Scope: |scope| scope.as_str().into(), OwnedValue::Text(name) => Self::parse(&name);
    Role: |role| role.as_str().into(), OwnedValue::Text(name) => Self::parse(&name);
    // A mode that this program does not know protects as the strictest one.
    WriteMode: |mode| mode.as_str().into(),
        OwnedValue::Text(name) => Some(Self::parse(&name).unwrap_or(Self::OwnerReadOnly));
    Timestamp: |moment| Value::Integer(moment.as_second()),
        OwnedValue::Integer(seconds) => Self::from_second(seconds).ok();
}

impl ToRow for Value<'_> {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        row.push(*self);
    }
}

impl ToRow for str {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        row.push(self.into());
    }
}

impl<const BYTES: usize> ToRow for [u8; BYTES] {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        row.push(Value::Blob(self));
    }
}

impl<const BYTES: usize> FromRow for [u8; BYTES] {
    fn read(row: &mut Row) -> Result<Self> {
        Vec::read(row)?.try_into().map_err(|_| unreadable())
    }
}

/// A type of one column that may be empty.
impl<T: ToRow> ToRow for Option<T> {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        match self {
            Some(value) => value.add_to(row),
            None => row.push(Value::Null),
        }
    }
}

impl<T: FromRow> FromRow for Option<T> {
    fn read(row: &mut Row) -> Result<Self> {
        if row.0.next_if(|value| *value == OwnedValue::Null).is_some() {
            return Ok(None);
        }
        T::read(row).map(Some)
    }
}

impl<T: ToRow + ?Sized> ToRow for &T {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        T::add_to(self, row);
    }
}

impl<T: ToRow> ToRow for [T] {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        for value in self {
            value.add_to(row);
        }
    }
}

impl<T: ToRow, const COUNT: usize> ToRow for [T; COUNT] {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        self.as_slice().add_to(row);
    }
}

impl ToRow for () {
    fn add_to<'v>(&'v self, _row: &mut Vec<Value<'v>>) {}
}

/// A value as PostgreSQL takes and gives it.
#[derive(Debug)]
pub(super) struct PostgresValue<V>(pub(super) V);

impl ToSql for PostgresValue<Value<'_>> {
    fn to_sql(
        &self,
        kind: &Type,
        out: &mut BytesMut,
    ) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        match self.0 {
            Value::Null => Ok(IsNull::Yes),
            Value::Integer(number) => match *kind {
                Type::INT4 => i32::try_from(number)?.to_sql(kind, out),
                Type::INT2 => i16::try_from(number)?.to_sql(kind, out),
                Type::BOOL => (number != 0).to_sql(kind, out),
                _ => number.to_sql(kind, out),
            },
            Value::Real(number) => number.to_sql(kind, out),
            Value::Text(bytes) | Value::Blob(bytes) => bytes.to_sql(kind, out),
        }
    }

    fn accepts(_kind: &Type) -> bool {
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for PostgresValue<OwnedValue> {
    fn from_sql(kind: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(match *kind {
            Type::BOOL => OwnedValue::Integer(bool::from_sql(kind, raw)?.into()),
            Type::INT2 => OwnedValue::Integer(i16::from_sql(kind, raw)?.into()),
            Type::INT4 => OwnedValue::Integer(i32::from_sql(kind, raw)?.into()),
            Type::INT8 => OwnedValue::Integer(i64::from_sql(kind, raw)?),
            Type::BYTEA => OwnedValue::Blob(raw.to_owned()),
            _ => OwnedValue::Text(String::from_sql(kind, raw)?),
        }))
    }

    fn from_sql_null(_kind: &Type) -> Result<Self, Box<dyn Error + Sync + Send>> {
        Ok(Self(OwnedValue::Null))
    }

    fn accepts(kind: &Type) -> bool {
        let numbers = [Type::BOOL, Type::INT2, Type::INT4, Type::INT8];
        let bytes = [Type::BYTEA, Type::TEXT, Type::VARCHAR, Type::NAME];
        numbers.contains(kind) || bytes.contains(kind)
    }
}

/// A row that may be one that no version of this program writes: then it holds `None`.
pub(crate) struct Lenient<T>(pub(crate) Option<T>);

impl<T: FromRow> FromRow for Lenient<T> {
    fn read(row: &mut Row) -> Result<Self> {
        Ok(Self(T::read(row).ok()))
    }
}

impl FromRow for Totals {
    fn read(row: &mut Row) -> Result<Self> {
        let (bytes, files) = row.next()?;
        Ok(Self { bytes, files })
    }
}

impl ToRow for Totals {
    fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
        self.bytes.add_to(row);
        self.files.add_to(row);
    }
}

macro_rules! tuples {
    ($(($($name:ident),+);)+) => {$(
        impl<$($name: ToRow),+> ToRow for ($($name,)+) {
            fn add_to<'v>(&'v self, row: &mut Vec<Value<'v>>) {
                #[expect(non_snake_case, reason = "a value is named as its type")]
                let ($($name,)+) = self;
                $($name.add_to(row);)+
            }
        }

        impl<$($name: FromRow),+> FromRow for ($($name,)+) {
            fn read(row: &mut Row) -> Result<Self> {
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

/// The values of a row that a statement found, but for those that are read.
pub(crate) struct Row(Peekable<std::vec::IntoIter<OwnedValue>>);

impl Row {
    pub(crate) fn new(values: Vec<OwnedValue>) -> Self {
        Self(values.into_iter().peekable())
    }

    /// Reads the next columns.
    pub(crate) fn next<T: FromRow>(&mut self) -> Result<T> {
        T::read(self)
    }

    /// Returns the values of the columns that are not read.
    pub(crate) fn rest(self) -> Vec<OwnedValue> {
        self.0.collect()
    }
}
