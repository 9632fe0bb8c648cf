//! The failures of each crate, which its own tests write: in the order of the codes, and their
//! hints name what operations have.

use fileshed::ops::{OPERATIONS, find};
use fileshed_core::Code;
use serde_json::Value;

use fileshed_test_support::repository;

/// Texts with hints that callers read: the failures of each crate, and situations.
fn texts() -> Vec<(String, String)> {
    let directory = repository().join("tests/texts/failures");
    let files = std::fs::read_dir(directory).unwrap();
    let mut texts: Vec<(String, String)> = files
        .map(|file| {
            let path = file.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    texts.sort();
    assert!(texts.len() > 2, "{}", texts.len());
    texts
}

/// The parameters of an operation.
fn parameters(operation: &str) -> Option<Vec<String>> {
    let schema = (find(operation)?.request_schema)();
    let properties = schema["properties"].as_object().into_iter().flatten();
    Some(properties.map(|(name, _)| name.clone()).collect())
}

/// A call in a text: the operation, and the names of its arguments.
type Named<'a> = (&'a str, Vec<&'a str>);

/// The calls in a hint, `shed_x(name=value, …)`, whatever their values are.
fn calls(hint: &str) -> Vec<Named<'_>> {
    let mut found = Vec::new();
    for (at, _) in hint.match_indices("shed_") {
        let rest = &hint[at..];
        let end = rest.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
        let (operation, rest) = rest.split_at(end.unwrap_or(rest.len()));
        if let Some(arguments) = rest.strip_prefix('(') {
            found.push((operation, names(arguments).0));
        }
    }
    found
}

/// The names in `name=value, name=value`, and what follows.
fn names(mut text: &str) -> (Vec<&str>, &str) {
    let mut found = Vec::new();
    loop {
        let Some((name, rest)) = text.split_once('=') else {
            return (found, text);
        };
        let is_name = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
        if name.is_empty() || !name.bytes().all(is_name) {
            return (found, text);
        }
        found.push(name);
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<Value>();
        let read = match values.next() {
            Some(Ok(_)) => values.byte_offset(),
            _ => rest.find([',', ')', ';']).unwrap_or(rest.len()),
        };
        text = &rest[read..];
        match text.strip_prefix(", ") {
            Some(more) => text = more,
            None => return (found, text),
        }
    }
}

/// The names of the parameters that a repeated call sets and leaves out.
fn repeated(hint: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for (at, told) in hint.match_indices("repeat the call") {
        let mut rest = &hint[at + told.len()..];
        if let Some(set) = rest.strip_prefix(" with ") {
            let (set, after) = names(set);
            found.extend(set);
            rest = after;
        }
        let Some(left_out) = rest.trim_start_matches([',', ' ']).strip_prefix("without ") else {
            continue;
        };
        for name in left_out.split(" and ") {
            let end = name.find(|c: char| !(c.is_ascii_lowercase() || c == '_'));
            found.push(&name[..end.unwrap_or(name.len())]);
            if end.is_some() {
                break;
            }
        }
    }
    found
}

#[test]
fn hints_name_parameters_that_their_operations_have() {
    let known: Vec<String> = OPERATIONS
        .iter()
        .flat_map(|entry| parameters(entry.id).unwrap())
        .collect();
    let (mut checked, mut faults) = (0, Vec::new());
    for (file, text) in texts() {
        for hint in text.lines().filter(|line| line.starts_with("- ")) {
            for (operation, arguments) in calls(hint) {
                let Some(parameters) = parameters(operation) else {
                    faults.push(format!("{file}: {operation} does not exist: {hint}"));
                    continue;
                };
                let unknown = arguments
                    .iter()
                    .filter(|name| !parameters.iter().any(|known| known == *name));
                faults.extend(
                    unknown.map(|name| format!("{file}: {operation} has no {name}: {hint}")),
                );
                checked += arguments.len();
            }
            for name in repeated(hint) {
                checked += 1;
                if !known.iter().any(|known| known == name) {
                    faults.push(format!("{file}: no operation has {name}: {hint}"));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(checked > 50, "{checked}");
}

#[test]
fn each_crate_lists_its_failures_in_the_order_of_the_codes() {
    let place = |name: &str| Code::ALL.iter().position(|code| code.as_str() == name);
    for (file, text) in texts() {
        let headings = text.lines().filter_map(|line| line.strip_prefix("## "));
        let places: Vec<usize> = headings.map(|name| place(name).expect(name)).collect();
        assert!(places.is_sorted(), "{file}");
    }
}

#[test]
fn names_are_found_in_hints() {
    let hint = r#"look with shed_exec(zone="storage", cmd="sed", args=["-n", "…"]); repeat the call with path="a, b=c", without line and end_line; or shed_tree(path=…) and repeat the call without all for"#;
    let expected = vec![
        ("shed_exec", vec!["zone", "cmd", "args"]),
        ("shed_tree", vec!["path"]),
    ];
    assert_eq!(calls(hint), expected);
    assert_eq!(repeated(hint), ["path", "line", "end_line", "all"]);
}
