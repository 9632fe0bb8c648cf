//! SPEC.md describes every operation as it is: parameters, types, what is required, the fields
//! of the answer and the codes of its own failures.

use std::collections::{BTreeMap, BTreeSet};

use fileshed::ops::{ALLOW_ZONE_IN_PATH, Entry, OPERATIONS};
use fileshed_core::Code;
use serde_json::Value;

use crate::page::{between, quoted, read};

/// The part of the document about one operation.
fn section<'a>(text: &'a str, id: &str) -> &'a str {
    let (_, rest) = text
        .split_once(&format!("\n### {id}\n"))
        .unwrap_or_else(|| panic!("SPEC.md does not describe {id}"));
    rest.split("\n#").next().unwrap_or(rest)
}

fn properties(schema: &Value) -> BTreeSet<String> {
    let properties = schema["properties"].as_object();
    properties
        .into_iter()
        .flatten()
        .map(|(name, _)| name.clone())
        .collect()
}

fn type_name(schema: &Value) -> &'static str {
    match schema["type"].as_str() {
        Some("integer") => "integer",
        Some("boolean") => "boolean",
        Some("array") => "list",
        _ => "string",
    }
}

/// Type and default by parameter.
fn parameters(section: &str) -> BTreeMap<String, (String, String)> {
    section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .filter_map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let [_, name, kind, default, ..] = cells.as_slice() else {
                return None;
            };
            let name = name.trim_matches('`').to_owned();
            Some((name, ((*kind).to_owned(), (*default).to_owned())))
        })
        .collect()
}

fn line<'a>(section: &'a str, id: &str, begin: &str) -> &'a str {
    section
        .lines()
        .find_map(|line| line.strip_prefix(begin))
        .unwrap_or_else(|| panic!("{id}: no line begins with `{begin}`"))
}

fn check(entry: &Entry, section: &str) {
    let id = entry.id;
    let schema = (entry.request_schema)();
    let described = parameters(section);
    let names: BTreeSet<String> = described.keys().cloned().collect();
    let mut taken = properties(&schema);
    // Described once for all that have it.
    let names_zones = entry.errors.contains(&Code::PathStartsWithZone);
    assert_eq!(taken.remove(ALLOW_ZONE_IN_PATH), names_zones, "{id}");
    assert_eq!(names, taken, "{id}: parameters");
    for (name, (kind, default)) in &described {
        let property = &schema["properties"][name];
        assert_eq!(kind, type_name(property), "{id}: type of {name}");
        let required = schema["required"]
            .as_array()
            .is_some_and(|required| required.iter().any(|other| other == name));
        assert_eq!(default == "required", required, "{id}: {name}");
    }

    let short = quoted(line(section, id, "Short: "));
    for keep in entry.brief {
        let name = keep.name();
        assert!(short.contains(name), "{id}: `{name}` of the short answer");
    }

    let answer = (entry.response_schema)();
    let fields = quoted(line(section, id, "Data: "));
    for field in properties(&answer) {
        assert!(fields.contains(&field), "{id}: `{field}` of the answer");
        for inner in properties(&answer["properties"][&field]) {
            assert!(fields.contains(&inner), "{id}: `{inner}` of `{field}`");
        }
    }

    let errors = line(section, id, "Errors: ");
    let codes: BTreeSet<String> = entry
        .errors
        .iter()
        .map(|code| code.as_str().to_owned())
        .collect();
    if codes.is_empty() {
        assert!(errors.starts_with("none of its own."), "{id}: {errors}");
    } else {
        assert_eq!(quoted(errors), codes, "{id}: errors");
    }
}

#[test]
fn every_operation_is_described_as_it_is() {
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
fn the_common_errors_are_named() {
    let text = read("SPEC.md");
    let named = quoted(between(
        &text,
        "Every operation may also answer",
        "`message` is",
    ));
    let common = fileshed::ops::COMMON_ERRORS
        .iter()
        .map(|code| code.as_str().to_owned());
    assert_eq!(named, common.collect());
}
