//! Reading documents.

use std::collections::BTreeSet;
use std::path::Path;

use fileshed_test_support::repository;

/// The documents at the root of the repository.
const ROOT: [&str; 5] = [
    "README.md",
    "SPEC.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
];

/// The documents for readers: paths in the repository.
pub(crate) fn pages() -> Vec<String> {
    let mut pages: Vec<String> = ["docs", "docs/design"]
        .into_iter()
        .flat_map(|directory| {
            let found = std::fs::read_dir(repository().join(directory)).expect("the documents");
            let names = found.map(|entry| entry.expect("a document").file_name());
            names.map(move |name| format!("{directory}/{}", name.to_str().expect("a name")))
        })
        .filter(|page| Path::new(page).extension().is_some())
        .chain(ROOT.map(str::to_owned))
        .collect();
    pages.sort();
    pages
}

/// A file of the repository.
pub(crate) fn read(name: &str) -> String {
    std::fs::read_to_string(repository().join(name)).unwrap_or_else(|error| {
        panic!("{name} cannot be read: {error}");
    })
}

/// Returns the text between two marks.
pub(crate) fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text
        .split_once(begin)
        .unwrap_or_else(|| panic!("`{begin}` is missing"));
    let (inner, _) = rest
        .split_once(end)
        .unwrap_or_else(|| panic!("`{end}` is missing"));
    inner.trim()
}

/// The words of a text that begin with `prefix` and go on as `belongs` says.
pub(crate) fn words(text: &str, prefix: &str, belongs: fn(char) -> bool) -> BTreeSet<String> {
    text.match_indices(prefix)
        .filter(|(place, _)| !text[..*place].ends_with(belongs))
        .map(|(place, _)| {
            let rest = &text[place..];
            let end = rest.find(|character| !belongs(character));
            rest[..end.unwrap_or(rest.len())]
                .trim_end_matches('_')
                .to_owned()
        })
        .filter(|word| word.len() >= prefix.len())
        .collect()
}

/// Returns the words in backticks of a line.
pub(crate) fn quoted(line: &str) -> BTreeSet<String> {
    line.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}
