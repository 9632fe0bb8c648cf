//! The catalogue of the failures of a crate, in the order of the codes, for people to review.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use super::Examples;
use crate::Error;
use crate::hint::Tools;

/// One of these samples.
#[doc(hidden)]
#[must_use]
pub fn pick<T>(mut samples: Vec<T>, round: usize) -> T {
    let index = round % samples.len();
    samples.swap_remove(index)
}

/// A value of a field.
#[doc(hidden)]
#[must_use]
pub fn sample<T>(sample: T) -> T {
    sample
}

/// What the failed call had.
fn arguments() -> Map<String, Value> {
    let arguments = json!({"zone": "storage", "path": "notes/todo.md", "import_csv": "a.csv"});
    super::facts(arguments)
}

/// Every failure that the crate declares, as a caller of its tools reads it: each message and hint
/// once, and the names of the facts. Only the tests of a crate know its failures.
#[must_use]
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
            let catalogue = $crate::diagnostics::catalogue::of_crate();
            if std::env::var_os("FILESHED_WRITE_CATALOGUE").is_some() {
                std::fs::write(path, &catalogue).expect("a catalogue");
            }
            let committed = std::fs::read_to_string(path).unwrap_or_default();
            let mut lines = committed.lines().zip(catalogue.lines());
            let first = lines.find(|(old, new)| old != new);
            assert!(committed == catalogue, "other words in {path}: {first:?}");
        }
    };
}
