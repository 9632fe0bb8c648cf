//! The table of faults in SPEC.md names tests that there are.

use std::collections::BTreeSet;

use crate::page::{between, quoted, read};
use fileshed_test_support::repository;

/// The names of all tests about faults.
fn tests() -> BTreeSet<String> {
    let directories = ["crash", "crash/faults", "crash/instances"];
    let files = directories.into_iter().flat_map(|of| {
        let directory = repository().join("tests").join(of);
        std::fs::read_dir(directory).expect("the tests").flatten()
    });
    let mut names = BTreeSet::new();
    for file in files.filter(|file| file.path().is_file()) {
        let text = std::fs::read_to_string(file.path()).expect("a test");
        for part in text.split("#[test]\n").skip(1) {
            let (_, rest) = part.split_once("fn ").expect("a function");
            let (name, _) = rest.split_once('(').expect("its name");
            names.insert(name.to_owned());
        }
    }
    names
}

#[test]
fn every_fault_has_a_test() {
    let text = read("SPEC.md");
    let rows = between(&text, "<!-- faults -->", "<!-- end of faults -->");
    let tests = tests();
    let mut count = 0;
    for row in rows.lines().skip(2) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
        assert_eq!(cells.len(), 4, "{row}");
        let named = quoted(cells[3]);
        assert!(!named.is_empty(), "{row}");
        let missing: Vec<&String> = named.difference(&tests).collect();
        assert!(missing.is_empty(), "there is no test {missing:?}");
        count += 1;
    }
    assert!(count >= 17, "{count} rows");
}
