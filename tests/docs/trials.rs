//! Each fault in docs/faults.md has tests, which are named beside those of the crashes.

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

fn first_cell(row: &str) -> &str {
    let (cell, _) = row[2..].split_once(" | ").expect("a row of several cells");
    cell
}

#[test]
fn every_fault_has_a_test() {
    let text = read("docs/faults.md");
    let rows = between(&text, "<!-- faults -->\n", "<!-- end of faults -->");
    let told: Vec<&str> = rows.lines().skip(2).map(first_cell).collect();
    let text = read("tests/crash/faults.md");
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(2);
    let tests = tests();
    let mut tested = Vec::new();
    for row in rows {
        let fault = first_cell(row);
        let named = quoted(&row[fault.len() + 2..]);
        assert!(!named.is_empty(), "{row}");
        let missing: Vec<&String> = named.difference(&tests).collect();
        assert!(missing.is_empty(), "there is no test {missing:?}");
        tested.push(fault);
    }
    assert_eq!(told, tested);
    assert!(told.len() >= 17, "{} rows", told.len());
}
