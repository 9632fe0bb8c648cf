//! SPEC.md says what every operation means, in names that it has.

use std::collections::BTreeSet;

use fileshed::config::SETTINGS;
use fileshed::ops::{ALLOW_ZONE_IN_PATH, OPERATIONS, OperationTool};
use serde_json::Value;

use crate::page::{between, quoted, read};

/// The part of the document about one operation.
fn section<'a>(text: &'a str, id: &str) -> &'a str {
    let (_, rest) = text
        .split_once(&format!("\n### {id}\n"))
        .unwrap_or_else(|| panic!("SPEC.md does not describe {id}"));
    rest.split("\n#").next().unwrap_or(rest)
}

/// The names of all properties, those of objects and of lists of objects too.
fn names(schema: &Value) -> BTreeSet<String> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    properties
        .flat_map(|(name, property)| {
            let inner = names(property);
            let items = names(&property["items"]);
            inner.into_iter().chain(items).chain([name.clone()])
        })
        .collect()
}

/// Returns the names before the colon of a line in a list.
fn subjects(line: &str) -> BTreeSet<String> {
    match line
        .strip_prefix("- ")
        .and_then(|line| line.split_once(": "))
    {
        Some((subjects, _)) if subjects.starts_with('`') => quoted(subjects),
        _ => BTreeSet::new(),
    }
}

fn check(entry: &OperationTool, section: &str) {
    let id = entry.id;
    let request = names(&(entry.request_schema)());
    let settings = SETTINGS.iter().map(|setting| setting.key.to_owned());
    let operations = OPERATIONS.iter().map(|entry| entry.id.to_owned());
    let known: BTreeSet<String> = names(&(entry.response_schema)())
        .into_iter()
        .chain(request.iter().cloned())
        .chain(settings)
        .chain(operations)
        .collect();
    for line in section.lines() {
        let missing: Vec<String> = subjects(line).difference(&request).cloned().collect();
        assert!(missing.is_empty(), "{id} has no parameter {missing:?}");
        let is_name = |word: &String| {
            word.trim_matches('_').contains('_')
                && word.bytes().all(|b| b.is_ascii_lowercase() || b == b'_')
        };
        let named: BTreeSet<String> = quoted(line).into_iter().filter(is_name).collect();
        let unknown: Vec<&String> = named.difference(&known).collect();
        assert!(unknown.is_empty(), "{id}: nothing is called {unknown:?}");
    }
}

#[test]
fn every_operation_is_described_in_its_own_names() {
    let text = read("SPEC.md");
    for entry in OPERATIONS {
        check(entry, section(&text, entry.id));
    }
    let described = text.matches("\n### shed_").count();
    assert_eq!(
        described,
        OPERATIONS.len(),
        "SPEC.md describes what is not there"
    );
}

#[test]
fn the_glossary_is_short_and_used() {
    let text = read("SPEC.md");
    let (glossary, rest) = (between(&text, "\n## Glossary\n", "\n## "), &text);
    let words: Vec<&str> = glossary
        .lines()
        .skip(2)
        .filter_map(|row| row.trim_start_matches("| ").split(" |").next())
        .collect();
    assert!((1..=15).contains(&words.len()), "{words:?}");
    for word in words.iter().flat_map(|words| words.split(", ")) {
        assert!(rest.matches(word).count() > 1, "{word} is not used");
    }
}

#[test]
fn the_pages_are_for_their_readers() {
    assert!(read("README.md").lines().count() <= 200);
    // The internal structure of the program is described in docs/architecture.md.
    for inside in ["src/", ".rs`", "::"] {
        assert!(!read("SPEC.md").contains(inside), "SPEC.md names {inside}");
    }
}

#[test]
fn the_common_parameter_is_described() {
    let text = read("SPEC.md");
    assert!(between(&text, "\n## Paths\n", "\n## ").contains(&format!("`{ALLOW_ZONE_IN_PATH}`")));
}

#[test]
fn the_common_errors_are_named() {
    let text = read("SPEC.md");
    let named = |begin, end| quoted(between(&text, begin, end));
    let codes = |codes: &[fileshed_core::Code]| {
        let texts = codes.iter().map(|code| code.as_str().to_owned());
        texts.collect::<BTreeSet<String>>()
    };
    assert_eq!(
        named("Every operation may also answer", "Operations with"),
        codes(fileshed::ops::COMMON_ERRORS)
    );
    assert_eq!(
        named("with the parameter `group` may also answer", "\n\n"),
        codes(fileshed::ops::GROUP_ERRORS)
    );
}
