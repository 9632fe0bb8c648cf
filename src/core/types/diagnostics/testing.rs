//! The catalogue of the failures of a crate, in the order of the codes, for people to review: made in
//! its tests of examples of every failure, and in no program.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io;

#[doc(hidden)]
pub use inventory;
use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::hint::Tools;
use crate::{Error, ZoneName, ZonePath};

/// Makes the examples of a type: the name of each variant, and a failure of it.
#[doc(hidden)]
pub struct Examples(pub fn() -> Vec<(&'static str, Error)>);

inventory::collect!(Examples);

/// Lists examples of the failures that one declaration makes.
#[doc(hidden)]
#[macro_export]
macro_rules! diagnostic_examples {
    (@examples $examples:ident { same_as: $($rest:tt)+ } $($example:tt)+) => {
        let _ = &mut $examples;
    };
    (@examples $examples:ident $facts:tt $name:expr; ($($made:tt)+)
        $({ $( $field:ident $samples:tt ),+ })?
        $(( $( $part:tt ),+ ))?
    ) => {
        let rounds = [
            1
            $($( , $crate::diagnostic_examples!$samples.len() )+)?
            $($( , $crate::diagnostic_examples!$part.len() )+)?
        ];
        for round in 0..rounds.into_iter().max().unwrap_or(1) {
            let _ = round;
            let made = $($made)+
                $({ $( $field: $crate::diagnostics::testing::pick(
                    $crate::diagnostic_examples!$samples, round
                ) ),+ })?
                $(( $( $crate::diagnostics::testing::pick(
                    $crate::diagnostic_examples!$part, round
                ) ),+ ))?;
            $examples.push(($name, $crate::Error::from(made)));
        }
    };

    (@samples $field:ident $type:ty) => {
        <$type as $crate::diagnostics::testing::Sample>::samples(stringify!($field))
    };
    (@samples $field:ident $type:ty = $example:expr) => {
        vec![$crate::diagnostics::testing::sample::<$type>($example)]
    };
    (@samples $field:ident $type:ty => [$($example:expr),+]) => {
        vec![$( $crate::diagnostics::testing::sample::<$type>($example) ),+]
    };

    ($( { $facts:tt $($example:tt)+ } )+) => {
        const _: () = {
            fn examples() -> Vec<(&'static str, $crate::Error)> {
                let mut examples = Vec::new();
                $( $crate::diagnostic_examples! { @examples examples $facts $($example)+ } )+
                examples
            }
            $crate::diagnostics::testing::inventory::submit! { $crate::diagnostics::testing::Examples(examples) }
        };
    };
}

/// Returns one of these samples.
#[doc(hidden)]
pub fn pick<T>(mut samples: Vec<T>, round: usize) -> T {
    let index = round % samples.len();
    samples.swap_remove(index)
}

/// Returns a value of a field.
#[doc(hidden)]
pub fn sample<T>(sample: T) -> T {
    sample
}

/// Returns the arguments of the failed call.
fn arguments() -> Map<String, Value> {
    let arguments = json!({"zone": "storage", "path": "notes/todo.md", "import_csv": "a.csv"});
    super::facts(arguments)
}

/// Returns every failure that the crate declares, as a caller of its tools reads it: each message and
/// hint once, and the names of the facts. Only the tests of a crate know its failures.
pub fn of_crate() -> String {
    let examples = inventory::iter::<Examples>().flat_map(|examples| examples.0());
    // By their whole text: in which order modules come is the linker's choice.
    let failures: BTreeSet<_> = examples
        .map(|(name, error)| {
            let error = error.of_call(&arguments());
            (error.code(), entry(name, &error))
        })
        .collect();
    let mut catalogue = "# Failures by code\n".to_owned();
    let mut heading = None;
    for (code, text) in failures {
        if heading.replace(code) != Some(code) {
            let _ = write!(catalogue, "\n## {code}\n");
        }
        catalogue.push_str(&text);
    }
    catalogue
}

fn entry(name: &str, error: &Error) -> String {
    let message = error.message();
    let hint = error.hint().told(&Tools(|_| true));
    let mut entry = format!("\n`{name}`: {message}\n- {hint}\n");
    let facts: Vec<&str> = error.details().keys().map(String::as_str).collect();
    if !facts.is_empty() {
        let _ = writeln!(entry, "- details: {}", facts.join(", "));
    }
    if let Some(seconds) = error.retry_after() {
        let _ = writeln!(entry, "- again after {seconds} s");
    }
    entry
}

/// A test that compares the catalogue of the crate with the committed one at a path from the
/// crate's folder. With `FILESHED_WRITE_CATALOGUE` set it is written anew.
#[macro_export]
macro_rules! catalogue_test {
    ($path:literal) => {
        #[test]
        #[allow(clippy::disallowed_methods, reason = "the catalogue is a file")]
        fn the_catalogue_is_what_the_failures_say() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/", $path);
            let catalogue = $crate::diagnostics::testing::of_crate();
            if std::env::var_os("FILESHED_WRITE_CATALOGUE").is_some() {
                std::fs::write(path, &catalogue).expect("a catalogue");
            }
            let committed = std::fs::read_to_string(path).unwrap_or_default();
            let mut lines = committed.lines().zip(catalogue.lines());
            let first = lines.find(|(old, new)| old != new);
            assert!(
                committed == catalogue,
                "{path} is out of date, {first:?}: FILESHED_WRITE_CATALOGUE=1 cargo test --lib"
            );
        }
    };
}

/// A value of a type, for the catalogue of failures.
///
/// Of a type whose values lead to different hints there are several.
pub trait Sample: Sized {
    /// Returns the values, for a field of that name.
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

impl Sample for ZonePath {
    fn samples(_field: &str) -> Vec<Self> {
        vec![Self::found("notes/todo.md".to_owned())]
    }
}

impl Sample for ZoneName {
    fn samples(_field: &str) -> Vec<Self> {
        vec![Self::Storage]
    }
}

#[cfg(test)]
mod tests {
    #![expect(
        clippy::allow_attributes,
        reason = "the macro is for crates that may touch files and crates that may not"
    )]

    crate::catalogue_test!("../../../tests/texts/failures/types.md");
}
