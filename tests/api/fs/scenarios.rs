//! The list of the scenarios, rows and rules of the two documents, with the test that shows each.

use std::collections::BTreeSet;

use fileshed_test_support::repository;

/// One line of the list.
struct Line<'l> {
    scenario: &'l str,
    test: &'l str,
}

fn lines(list: &str) -> Vec<Line<'_>> {
    let lines = list.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (scenario, test) = line.split_once(" => ").unwrap_or_else(|| panic!("{line}"));
            Line { scenario, test }
        })
        .collect()
}

#[test]
fn every_scenario_has_the_test_that_the_list_names() {
    let directory = repository().join("tests/api/fs");
    let list = std::fs::read_to_string(directory.join("scenarios.txt")).expect("the list");
    let lines = lines(&list);
    assert!(lines.len() > 40, "{} lines", lines.len());
    let mut seen = BTreeSet::new();
    for Line { scenario, test } in &lines {
        assert!(seen.insert(scenario), "{scenario} twice");
        let (file, name) = test.split_once("::").unwrap_or_else(|| panic!("{test}"));
        let place = if file.contains('/') {
            repository().join(format!("{file}.rs"))
        } else {
            directory.join(format!("{file}.rs"))
        };
        let source = std::fs::read_to_string(&place).unwrap_or_else(|_| panic!("{place:?}"));
        let declared = format!("fn {name}(");
        let at = source.find(&declared);
        let at = at.unwrap_or_else(|| panic!("{scenario}: there is no test {test}"));
        let before = source[..at].trim_end();
        assert!(before.ends_with("#[test]"), "{test} is no test");
    }
}

/// A scenario of the document about isolation is shown by a test of its own name.
#[test]
fn scenarios_are_named_as_their_tests() {
    let list = std::fs::read_to_string(repository().join("tests/api/fs/scenarios.txt"));
    let list = list.expect("the list");
    for Line { scenario, test } in lines(&list) {
        let Some(scenario) = scenario.strip_prefix("Scenario: ") else {
            continue;
        };
        let words = scenario.to_lowercase();
        let words = words.split(|c: char| !c.is_ascii_alphanumeric());
        let name = words
            .filter(|word| !word.is_empty())
            .collect::<Vec<_>>()
            .join("_");
        assert_eq!(test.rsplit("::").next(), Some(name.as_str()));
    }
}
