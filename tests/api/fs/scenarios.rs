//! The list of the scenarios, rows and rules of the two documents, with the test that shows each.

use std::collections::BTreeSet;

use fileshed_test_support::repository;

/// The parts of both documents that promise something, with the number of rules, rows and scenarios of
/// each. A part or rule that is missing here fails.
const PARTS: [(&str, usize); 16] = [
    ("isolation 3.1 Invariants", 6),
    ("isolation 3.1 Namespace", 4),
    ("isolation 4 Behavior", 11),
    ("isolation 5 Decisions", 6),
    ("isolation 6.2 Tools", 6),
    ("isolation 6.3 Errors", 10),
    ("isolation 6.4 Configuration", 4),
    ("isolation 7 Observability", 5),
    ("isolation 8 Deployment", 6),
    ("isolation 10 Platforms", 13),
    ("file system 1 Data model", 15),
    ("file system 2 Providers", 5),
    ("file system 3 Prompt output", 2),
    ("file system 4 Tools", 6),
    ("file system 5 Errors", 9),
    ("file system 6 Configuration", 2),
];

/// Prefix in place of a test's name if a rule does not apply here; the reason follows.
const NOT_OURS: &str = "not ours: ";

/// One line of the list.
struct Line<'l> {
    part: &'l str,
    scenario: &'l str,
    test: &'l str,
}

fn lines(list: &str) -> Vec<Line<'_>> {
    let mut part = "";
    let mut lines = Vec::new();
    for line in list.lines().map(str::trim) {
        if let Some(heading) = line.strip_prefix("## ") {
            part = heading;
        } else if !line.is_empty() && !line.starts_with('#') {
            let (scenario, test) = line.split_once(" => ").unwrap_or_else(|| panic!("{line}"));
            lines.push(Line {
                part,
                scenario,
                test,
            });
        }
    }
    lines
}

#[test]
fn every_part_of_both_documents_is_listed_as_a_whole() {
    let list = std::fs::read_to_string(repository().join("tests/api/fs/scenarios.txt"));
    let list = list.expect("the list");
    let lines = lines(&list);
    let mut parts: Vec<(&str, usize)> = Vec::new();
    for line in &lines {
        match parts.last_mut() {
            Some((part, count)) if *part == line.part => *count += 1,
            _ => parts.push((line.part, 1)),
        }
    }
    let expected: Vec<String> = PARTS
        .iter()
        .map(|(part, count)| format!("{part}: {count}"))
        .collect();
    let headings: Vec<&str> = parts.iter().map(|(part, _)| *part).collect();
    assert_eq!(headings, expected);
    for ((part, count), (_, wanted)) in parts.iter().zip(PARTS) {
        assert_eq!(*count, wanted, "{part}");
    }
    // Invariants and decisions are numbered: none is left out.
    for (prefix, count) in [("I", 6), ("ADR-00", 6)] {
        for number in 1..=count {
            let id = format!("{prefix}{number},");
            let found = lines.iter().any(|line| line.scenario.starts_with(&id));
            assert!(found, "{id}");
        }
    }
    let left_out = lines.iter().filter(|line| line.test.starts_with(NOT_OURS));
    assert!(left_out.count() <= 8, "more is left out than was");
}

#[test]
fn every_scenario_has_the_test_that_the_list_names() {
    let directory = repository().join("tests/api/fs");
    let list = std::fs::read_to_string(directory.join("scenarios.txt")).expect("the list");
    let mut seen = BTreeSet::new();
    for Line {
        part,
        scenario,
        test,
    } in &lines(&list)
    {
        assert!(seen.insert((*part, *scenario)), "{scenario} twice");
        if test
            .strip_prefix(NOT_OURS)
            .is_some_and(|why| why.len() > 20)
        {
            continue;
        }
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
    for Line { scenario, test, .. } in lines(&list) {
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
