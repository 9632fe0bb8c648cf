//! Tables of tests: of each fault in docs/faults.md, and of each promise in SPEC.md.

use std::collections::BTreeSet;

use crate::page::{between, quoted, read};
use fileshed_test_support::repository;

/// The names of all tests, and of the scenarios in Python.
fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut pending = vec![repository().join("tests"), repository().join("src")];
    while let Some(directory) = pending.pop() {
        for entry in std::fs::read_dir(directory).expect("the tests").flatten() {
            let path = entry.path();
            if path.is_dir() {
                pending.push(path);
                continue;
            }
            let (begins, keyword) = match path.extension().and_then(|end| end.to_str()) {
                Some("rs") => ("test]\n", "fn "),
                Some("py") => ("\ndef ", ""),
                _ => continue,
            };
            let text = std::fs::read_to_string(path).expect("a test");
            let found = text.split(begins).skip(1).filter_map(|after| {
                let after = after.get(after.find(keyword)? + keyword.len()..)?;
                let (name, _) = after.split_once('(')?;
                Some(name.to_owned())
            });
            names.extend(found);
        }
    }
    names
}

/// Returns the cells before the last one of each row in a table of tests, which the last cell names.
fn tested(table: &str) -> Vec<String> {
    let (text, tests) = (read(table), tests());
    let rows = text.lines().filter(|line| line.starts_with('|')).skip(2);
    let tested = rows.map(|row| {
        let (cells, named) = row[2..].rsplit_once(" | ").expect("a row of several cells");
        let named = quoted(named);
        assert!(!named.is_empty(), "{row}");
        let missing: Vec<&String> = named.difference(&tests).collect();
        assert!(missing.is_empty(), "there is no test {missing:?}");
        cells.to_owned()
    });
    tested.collect()
}

fn first_cell(row: &str) -> &str {
    let (cell, _) = row.split_once(" | ").expect("a row of several cells");
    cell
}

#[test]
fn every_fault_has_a_test() {
    let text = read("docs/faults.md");
    let rows = between(&text, "<!-- faults -->\n", "<!-- end of faults -->");
    let told: Vec<&str> = rows
        .lines()
        .skip(2)
        .map(|row| first_cell(&row[2..]))
        .collect();
    let tested = tested("tests/crash/faults.md");
    assert_eq!(told, tested);
    assert!(told.len() >= 17, "{} rows", told.len());
}

#[test]
fn every_chapter_has_promises_and_each_of_them_a_test() {
    let text = read("SPEC.md");
    let headings = text.lines().filter(|line| line.starts_with("##"));
    let chapters: Vec<&str> = headings
        .map(|heading| heading.trim_start_matches(['#', ' ']))
        .collect();
    let rows = tested("tests/promises.md");
    let mut tested: Vec<&str> = rows.iter().map(|row| first_cell(row)).collect();
    tested.dedup();
    let without: Vec<_> = chapters
        .iter()
        .filter(|chapter| !tested.contains(chapter))
        .collect();
    assert!(
        without.is_empty(),
        "tests/promises.md has no row for {without:?}"
    );
    assert_eq!(
        chapters, tested,
        "the order of SPEC.md, and of tests/promises.md"
    );
}
