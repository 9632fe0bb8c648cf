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

impl Sample for u64 {
    fn samples(_field: &str) -> Vec<Self> {
        vec![7]
    }
}

impl Sample for usize {
    fn samples(_field: &str) -> Vec<Self> {
        vec![7]
    }
}

impl Sample for i64 {
    fn samples(_field: &str) -> Vec<Self> {
        vec![7]
    }
}

impl Sample for i32 {
    fn samples(_field: &str) -> Vec<Self> {
        vec![-9]
    }
}

impl Sample for char {
    fn samples(_field: &str) -> Vec<Self> {
        vec!['\u{7}']
    }
}

impl Sample for bool {
    fn samples(_field: &str) -> Vec<Self> {
        vec![false, true]
    }
}

impl Sample for io::Error {
    fn samples(_field: &str) -> Vec<Self> {
        vec![io::ErrorKind::Other.into()]
    }
}

impl Sample for Timestamp {
    fn samples(_field: &str) -> Vec<Self> {
        vec![Self::UNIX_EPOCH]
    }
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
