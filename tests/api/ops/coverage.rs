//! Completeness of the tests: a file for each operation, a case for each code, examples that run.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use fileshed::ops::{OPERATIONS, OperationTool};
use serde_json::Value;

use crate::ops::hints::{self, Provocation};
use crate::ops::stage::{NEIGHBOUR, SECRET, Stage, file, small};
use crate::ops::{FILES, calls};
use fileshed_test_support::{TestApp, repository};

/// Files beside those of operations.
const OTHERS: &[&str] = &[
    "arbitrary",
    "archives",
    "bin",
    "binary",
    "cross_zone",
    "brief",
    "calls",
    "coercions",
    "coverage",
    "crossings",
    "encodings",
    "fault",
    "first_calls",
    "groups",
    "guides",
    "hints",
    "identity",
    "missing",
    "paths",
    "real",
    "stage",
    "tokens",
    "uploads_retention",
];

fn file_of(entry: &OperationTool) -> &'static str {
    entry
        .id
        .strip_prefix("shed_")
        .expect("operations begin with shed_")
}

#[test]
fn every_operation_has_its_file() {
    let named: BTreeSet<&str> = FILES.iter().map(|(name, _)| *name).collect();
    assert_eq!(named.len(), FILES.len(), "a file is listed twice");
    let operations: BTreeSet<&str> = OPERATIONS.iter().map(file_of).collect();
    let alone: Vec<_> = named.symmetric_difference(&operations).collect();
    assert!(
        alone.is_empty(),
        "only one of FILES in tests/api/ops.rs and OPERATIONS in src/ops.rs has {alone:?}"
    );

    let entries = std::fs::read_dir(repository().join("tests/api/ops")).expect("the files");
    let files: BTreeSet<String> = entries
        .map(|entry| entry.expect("a file").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
        .collect();
    let expected = named.iter().chain(OTHERS).map(|name| (*name).to_owned());
    let alone: Vec<_> = files
        .symmetric_difference(&expected.collect())
        .cloned()
        .collect();
    assert!(
        alone.is_empty(),
        "only one of tests/api/ops and FILES with OTHERS has {alone:?}"
    );
}

#[test]
fn every_declared_code_has_a_case_and_no_other() {
    for entry in OPERATIONS {
        let (_, provoked) = FILES
            .iter()
            .find(|(name, _)| *name == file_of(entry))
            .unwrap_or_else(|| panic!("FILES in tests/api/ops.rs has no {}", entry.id));
        let cases: BTreeSet<&str> = provoked.iter().map(|(code, _)| *code).collect();
        assert_eq!(
            cases.len(),
            provoked.len(),
            "{}: a code has two cases",
            entry.id
        );
        let errors = entry.errors.concat();
        let declared = errors.iter().map(|code| code.as_str()).collect();
        assert_eq!(cases, declared, "{}: PROVOKED and ERRORS", entry.id);
        assert_eq!(
            errors.len(),
            cases.len(),
            "{}: a code is declared twice",
            entry.id
        );
    }
}

/// Starts a server on which another user has files too.
fn inhabited() -> TestApp {
    let server = small().app();
    file(
        &server.as_user(NEIGHBOUR),
        "storage",
        "notes/todo.md",
        SECRET,
    );
    file(
        &server.as_user(NEIGHBOUR),
        "documents",
        "notes/todo.md",
        SECRET,
    );
    server
}

/// Files that are run at the same time.
const THREADS: usize = 2;

#[test]
fn every_case_is_refused_and_changes_nothing() {
    let server = inhabited();
    let next = AtomicUsize::new(0);
    let runs: Vec<Run> = std::thread::scope(|scope| {
        // Skipped cases are reported with the name of the thread.
        let name = std::thread::current().name().unwrap().to_owned();
        let work = || {
            let files = std::iter::from_fn(|| FILES.get(next.fetch_add(1, Ordering::Relaxed)));
            files.map(|file| run(&server, file)).collect::<Vec<_>>()
        };
        let threads = [(); THREADS].map(|()| {
            let thread = std::thread::Builder::new().name(name.clone());
            thread.spawn_scoped(scope, work).unwrap()
        });
        let runs = threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap());
        runs.collect()
    });
    let failed: Vec<String> = runs.iter().flat_map(|run| run.failed.clone()).collect();
    assert!(failed.is_empty(), "failed: {}", failed.join(", "));
    let mut provoked: Vec<Provocation> = runs.into_iter().flat_map(|run| run.provoked).collect();
    provoked.extend(hints::elsewhere());
    hints::assert_all_provoked(provoked);
}

/// Results of the cases of a file.
#[derive(Default)]
struct Run {
    failed: Vec<String>,
    provoked: Vec<Provocation>,
}

fn run(server: &TestApp, (name, provoked): &(&str, crate::ops::stage::Provoked)) -> Run {
    let entry = OPERATIONS
        .iter()
        .find(|entry| file_of(entry) == *name)
        .unwrap();
    let mut found = Run::default();
    for (code, case) in *provoked {
        let stage = Stage::new(server, entry, code);
        let attempt = std::panic::AssertUnwindSafe(|| case(&stage));
        let passed = std::panic::catch_unwind(attempt).is_ok();
        if !passed || !stage.is_settled() {
            found.failed.push(format!("{}: {code}", entry.id));
        }
        found.provoked.extend(stage.provoked());
    }
    found
}

#[test]
fn every_example_runs() {
    let server = small().app();
    for entry in OPERATIONS {
        assert!(!entry.examples.is_empty(), "{}", entry.id);
        let client = server.as_user(entry.id);
        for example in entry.examples {
            let arguments: Value = serde_json::from_str(example).expect("an example is JSON");
            calls::prepare(&client, entry.id, &arguments);
            let arguments = calls::with_link(&client, entry.id, arguments);
            client.call(entry.id, &arguments).data();
        }
    }
}

#[test]
fn every_answer_has_the_declared_fields() {
    let server = small().app();
    for entry in OPERATIONS {
        let client = server.as_user(entry.id);
        let arguments: Value = serde_json::from_str(entry.examples[0]).expect("an example is JSON");
        calls::prepare(&client, entry.id, &arguments);
        let arguments = calls::with_link(&client, entry.id, arguments);
        let data = client.call(entry.id, &arguments).data().clone();
        let schema = (entry.response_schema)();
        let properties = schema["properties"].as_object().expect("properties");
        for name in data.as_object().expect("an object").keys() {
            assert!(
                properties.contains_key(name),
                "{}: {name} is not declared",
                entry.id
            );
        }
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(
                data.get(name.as_str().unwrap()).is_some(),
                "{}: {name} is missing",
                entry.id
            );
        }
    }
}
