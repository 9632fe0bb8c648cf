//! Values on their way into statements and out of rows.
//!
//! Both databases hold whole numbers, texts and bytes here, and nothing else: what is true or false is
//! 1 or 0, moments are seconds.

use super::DatabaseError;

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
                #[expect(non_snake_case, reason = "a place is named as its type")]
                let ($($name,)+) = self;
                run(&[$($name.to_value()),+])
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
    (A, B, C, D, E, F, G, H, I);
    (A, B, C, D, E, F, G, H, I, J);
    (A, B, C, D, E, F, G, H, I, J, K);
    (A, B, C, D, E, F, G, H, I, J, K, L);
    (A, B, C, D, E, F, G, H, I, J, K, L, M);
    (A, B, C, D, E, F, G, H, I, J, K, L, M, N);
}

/// A row that a statement found.
pub(crate) enum Row<'r> {
    Sqlite(&'r rusqlite::Row<'r>),
    Postgres(&'r postgres::Row),
}

impl Row<'_> {
    /// The value of a column, counted from 0.
    pub(crate) fn get<T: FromValue>(&self, column: usize) -> Result<T, DatabaseError> {
        let found = match self {
            Self::Sqlite(row) => match row.get_ref(column)? {
                rusqlite::types::ValueRef::Null => T::from_value(Value::Null),
                rusqlite::types::ValueRef::Integer(number) => T::from_value(Value::Integer(number)),
                rusqlite::types::ValueRef::Text(text) => std::str::from_utf8(text)
                    .ok()
                    .and_then(|text| T::from_value(Value::Text(text))),
                rusqlite::types::ValueRef::Blob(bytes) => T::from_value(Value::Bytes(bytes)),
                rusqlite::types::ValueRef::Real(_) => None,
            },
            Self::Postgres(row) => T::from_value(row.try_get::<_, Value<'_>>(column)?),
        };
        found.ok_or(DatabaseError::Column { column })
    }
}
