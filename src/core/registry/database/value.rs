//! Values on their way into statements and out of rows.
//!
//! Both databases hold whole numbers, texts and bytes here, and nothing else: what is true or false is
//! 1 or 0, moments are seconds.

use std::error::Error;

use jiff::Timestamp;
use postgres::types::private::BytesMut;
use postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};
pub(crate) use rusqlite::types::{Value as OwnedValue, ValueRef as Value};

use super::{RegistryError, Result};
use fileshed_storage::Totals;
use fileshed_types::settings::WriteMode;
use fileshed_types::{Role, Scope, UserId};

/// A type that a statement can be given.
pub(crate) trait ToValue {
    fn to_value(&self) -> Value<'_>;
}

/// A type that can be read from a column.
pub(crate) trait FromValue: Sized {
    /// Returns `None` if the column holds something else.
    fn from_value(value: OwnedValue) -> Option<Self>;
}

/// Implements both traits for types: the value that is written, and what is read from one.
macro_rules! column_types {
    ($($type:ty: |$own:ident| $written:expr, $value:pat => $read:expr;)+) => {$(
        impl ToValue for $type {
            fn to_value(&self) -> Value<'_> {
                let $own = self;
                $written
            }
        }

        impl FromValue for $type {
            fn from_value(value: OwnedValue) -> Option<Self> {
                match value {
                    $value => $read,
                    _ => None,
                }
            }
        }
    )+};
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

impl ToValue for Value<'_> {
    fn to_value(&self) -> Value<'_> {
        *self
    }
}

impl ToValue for str {
    fn to_value(&self) -> Value<'_> {
        self.into()
    }
}

impl<const BYTES: usize> ToValue for [u8; BYTES] {
    fn to_value(&self) -> Value<'_> {
        Value::Blob(self)
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

impl<const BYTES: usize> FromValue for [u8; BYTES] {
    fn from_value(value: OwnedValue) -> Option<Self> {
        Vec::from_value(value)?.try_into().ok()
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: OwnedValue) -> Option<Self> {
        match value {
            OwnedValue::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
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

/// A value that is read from the next columns of a row.
pub(crate) trait FromRow: Sized {
    fn read(row: &mut Row) -> Result<Self>;
}

impl<T: FromValue> FromRow for T {
    fn read(row: &mut Row) -> Result<Self> {
        let value = row.0.next().and_then(T::from_value);
        value.ok_or_else(|| RegistryError::failed("a column of a row cannot be read"))
    }
}

/// A row that may be one that no version of this program writes: then it holds `None`.
pub(crate) struct Lenient<T>(pub(crate) Option<T>);

impl<T: FromRow> FromRow for Lenient<T> {
    fn read(row: &mut Row) -> Result<Self> {
        Ok(Self(T::read(row).ok()))
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
    fn read(row: &mut Row) -> Result<Self> {
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
    fn values(&self) -> Vec<Value<'_>>;
}

impl Values for () {
    fn values(&self) -> Vec<Value<'_>> {
        Vec::new()
    }
}

impl<T: ToValue, const COUNT: usize> Values for [T; COUNT] {
    fn values(&self) -> Vec<Value<'_>> {
        self.iter().map(T::to_value).collect()
    }
}

impl Values for &[Value<'_>] {
    fn values(&self) -> Vec<Value<'_>> {
        self.to_vec()
    }
}

macro_rules! tuples {
    ($(($($name:ident),+);)+) => {$(
        impl<$($name: ToValue),+> Values for ($($name,)+) {
            fn values(&self) -> Vec<Value<'_>> {
                #[expect(non_snake_case, reason = "a value is named as its type")]
                let ($($name,)+) = self;
                vec![$($name.to_value()),+]
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
pub(crate) struct Row(std::vec::IntoIter<OwnedValue>);

impl Row {
    pub(crate) fn new(values: Vec<OwnedValue>) -> Self {
        Self(values.into_iter())
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
