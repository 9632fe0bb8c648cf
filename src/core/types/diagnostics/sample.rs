//! Values for the examples of failures.

use std::io;

use jiff::Timestamp;

/// What stands for a value of this type in the catalogue of failures.
///
/// Of a type whose values lead to different hints there are several.
pub trait Sample: Sized {
    /// The values, for a field of that name.
    fn samples(field: &str) -> Vec<Self>;
}

impl Sample for String {
    fn samples(field: &str) -> Vec<Self> {
        vec![match field {
            "path" => "notes/todo.md".to_owned(),
            "command" => "grep".to_owned(),
            field => format!("<{field}>"),
        }]
    }
}

impl Sample for &'static str {
    fn samples(field: &str) -> Vec<Self> {
        vec![match field {
            "parameter" => "path",
            "action" => "read",
            _ => "…",
        }]
    }
}

macro_rules! samples {
    ($($type:ty: [$($value:expr),+];)+) => {$(
        impl Sample for $type {
            fn samples(_field: &str) -> Vec<Self> {
                vec![$($value),+]
            }
        }
    )+};
}

samples! {
    u64: [7];
    usize: [7];
    i64: [7];
    i32: [-9];
    char: ['\u{7}'];
    bool: [false, true];
    io::Error: [io::ErrorKind::Other.into()];
    Timestamp: [Self::UNIX_EPOCH];
}

impl<T: Sample> Sample for Option<T> {
    fn samples(field: &str) -> Vec<Self> {
        let some = T::samples(field).into_iter().map(Some);
        std::iter::once(None).chain(some).collect()
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn samples(field: &str) -> Vec<Self> {
        vec![T::samples(field)]
    }
}

impl<T: Sample> Sample for Box<T> {
    fn samples(field: &str) -> Vec<Self> {
        T::samples(field).into_iter().map(Self::new).collect()
    }
}
